package score

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem,
	"fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nl": dutch.Stem,
	"no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem,
	"tr": turkish.Stem,
}

func stem(word, lang string) string {
	word = strings.ToLower(word)
	if stopWord(word, lang) || len(word) < 2 {
		return ""
	}
	env := snowballstem.NewEnv(word)
	stemmers[lang](env)
	return fold(env.Current())
}

// fold strips the accents of letters.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	var out strings.Builder
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) || r == 0x3099 || r == 0x309a { // those of kana make other letters
			out.WriteRune(r)
		}
	}
	return norm.NFC.String(out.String())
}

// words calls yield with each word of a text as it stands. Scripts that are written without spaces
// give their character pairs.
func words(text string, yield func(string)) {
	start, previous := -1, -1
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf { // nearly always
			switch {
			case !wordByte[c]:
				if start >= 0 {
					yield(text[start:i])
				}
				start = -1
			case start < 0:
				start = i
			}
			previous = -1
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unspaced(r):
			if start >= 0 {
				yield(text[start:i])
			}
			if previous >= 0 {
				yield(text[previous : i+n])
			}
			start, previous = -1, i
		case isWord(r):
			if start < 0 {
				start = i
			}
			previous = -1
		default:
			if start >= 0 {
				yield(text[start:i])
			}
			start, previous = -1, -1
		}
		i += n
	}
	if start >= 0 {
		yield(text[start:])
	}
}

var wordByte = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = isWord(rune(c))
	}
	return t
}()

func isWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// stopWord tells whether a word is one of the commonest of its language: the German "war" is the English
// "was". A language without a list takes all lists, for its relatives share many words with it.
func stopWord(word, lang string) bool {
	list, known := stopWords[lang]
	if !known {
		list = stopWords[""]
	}
	return list[word]
}

// stopWords are the commonest words of the commonest languages of the web, and of all these together.
var stopWords = func() map[string]map[string]bool {
	m := map[string]map[string]bool{"": {}}
	for lang, list := range map[string]string{
		"en": `a about above after again all also am an and any are as at be because been before being below between both but
		by can could did do does doing down during each few for from further had has have having he her here hers him his
		how i if in into is it its itself just me more most my no nor not now of off on once only or other our out over
		own same she should so some such than that the their them then there these they this those through to too under
		until up us very was we were what when where which while who whom why will with would you your`,
		"de": `aber alle als also am an auch auf aus bei bin bis bist da das dass dein dem den der des die dies diese dieser doch
		du durch ein eine einem einen einer er es für haben hat hatte ich ihr im in ist ja jede kann kein mehr mein mit nach
		nicht noch nur ob oder ohne schon sein sich sie sind so über um und uns unter vom von vor war was weil wenn wer wie
		wir wird zu zum zur`,
		"fr": `au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui mais même ne nous on ou où par
		pas pour qu que qui sa se ses son sont sur ta te tu un une vous`,
		"es": `al como con de del desde donde el ella en entre era es esta este ha hay la las lo los más mi muy no nos o para pero
		por porque que se ser si sin sobre son su sus también un una y ya`,
		"it": `che con da dal degli dei del della di e gli ha il in la le lo ma nel non per più si sono una uno`,
		"nl": `aan als bij dat de den der die dit door een en er het hij ik in is je maar met naar niet of om onder ook op te tot uit
		van voor was wat wij zal ze zich zijn`,
	} {
		m[lang] = map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			m[lang][w], m[""][w] = true, true
		}
	}
	return m
}()

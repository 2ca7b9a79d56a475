package text

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Raven's nest, 1984!", "Raven s nest 1984"},
		{"a-b_c", "a b c"},
		{"naïve Ἰλιάς Ворон", "naïve Ἰλιάς Ворон"},
		{"e\u0301te\u0301", "e\u0301te\u0301"},
		{"x\xffy", "x y"},
		{"東京都", "東京 京都"},
		{"東京へ行く", "東京 京へ へ行 行く"},
		{"東 京", ""}, // single characters do not count
		{"iPhone発売日2026年", "iPhone 発売 売日 2026"},
		{"สวัสดี", "สว วั ัส สด ดี"},
		{"한국어 위키", "한국어 위키"}, // Korean is written with spaces
	} {
		var got []string
		words(c.text, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q has the words %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTerms(t *testing.T) {
	a := NewVocabulary()
	for _, c := range []struct{ lang, text, want string }{
		{"en", "The ravens were flying", "fli raven"},
		{"en", "Raven RAVEN ravens", "raven raven raven"},
		{"en", "I saw a C", "saw"},
		{"en", "war and peace, die by the sea", "die peac sea war"},
		{"de", "Der Krieg war lang, die Raben flogen", "flog krieg lang rab"},
		{"de", "Häuser Haus", "haus haus"},
		{"fr", "les corbeaux de l'été", "corbeau ete"},
		{"ru", "вороны ворона", "ворон ворон"},
		{"pt", "os corvos da cidade", "cidad corv"},
		{"xx", "The ravens", "raven"}, // an unknown language counts as English
		{"", "The ravens", "raven"},
		{"ja", "東京都", "京都 東京"},
		{"en", "Zürich", "zurich"},
	} {
		var got []string
		for term, n := range a.Vector(c.text, c.lang) {
			got = append(got, slices.Repeat([]string{term}, int(n))...)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %q has the terms %q, want %q", c.lang, c.text, got, c.want)
		}
	}
}

func TestStemCache(t *testing.T) {
	a := NewVocabulary()
	for i := range 3 {
		if got := a.Vector("ravens", "en"); !maps.Equal(got, Vector{"raven": 1}) {
			t.Fatalf("time %d: %v", i, got)
		}
	}
	if got := a.Vector("ravens", "fr"); maps.Equal(got, Vector{"raven": 2}) || len(got) != 1 {
		t.Errorf("French after English: %v", got)
	}
	before := a.now
	before.size = maxWords
	if got := a.Vector("ravens crows", "en"); !maps.Equal(got, Vector{"raven": 1, "crow": 1}) || a.now == before || a.now.words["en"].taken != 2 {
		t.Errorf("after a full memory: %v, %d words", got, a.now.words["en"].taken)
	}
}

// wordsByByte are the words of a text, read letter by letter.
func wordsByByte(text string) (list []string) {
	start, previous := -1, -1
	end := func(i int) {
		if start >= 0 && i-start <= maxWord {
			list = append(list, text[start:i])
		}
		start = -1
	}
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case Unspaced(r):
			end(i)
			if previous >= 0 {
				list = append(list, text[previous:i+n])
			}
			previous = i
			continue
		case !isWord(r) || r == utf8.RuneError && n == 1:
			end(i)
		case start < 0:
			start = i
		}
		previous = -1
	}
	end(len(text))
	return list
}

// TestWordsOfAllLengths: words are the same wherever they stand among the 64 bytes that are read at a time.
func TestWordsOfAllLengths(t *testing.T) {
	letters := []string{"a", "Z", "0", "9", "ravens", " ", "@", "[", "`", "{", "/", ":", "\x00", "\x7f", "é", "東", "京都", "\xff", strings.Repeat("x", 63)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		kinds := len(letters)
		if r.IntN(2) == 0 {
			kinds = 14 // ASCII alone
		}
		for range r.IntN(150) {
			b.WriteString(letters[r.IntN(kinds)])
		}
		var got []string
		words(b.String(), func(w string) { got = append(got, w) })
		if want := wordsByByte(b.String()); !slices.Equal(got, want) {
			t.Fatalf("%q has the words %q, want %q", b.String(), got, want)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 256)
	for i := range texts {
		var s strings.Builder
		for s.Len() < 200 {
			s.WriteString(strings.Repeat("x", 1+r.IntN(4)+r.IntN(5)) + []string{" ", " ", " ", ", ", ". "}[r.IntN(5)])
		}
		texts[i] = s.String()
	}
	n := 0
	b.SetBytes(200)
	for i := 0; b.Loop(); i++ {
		words(texts[i%len(texts)], func(w string) { n += len(w) })
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "raven", "東京都 raven", "e\u0301\xff\u0e31", "ΑΣ İ ﬁ", strings.Repeat("a", 300)} {
		for _, lang := range []string{"en", "de", "tr", "fi", "ru", "hu", "xx"} {
			f.Add(seed, lang)
		}
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		var got []string
		words(text, func(w string) { got = append(got, w) })
		if want := wordsByByte(text); !slices.Equal(got, want) {
			t.Fatalf("%q has the words %q, want %q", text, got, want)
		}
		words(text, func(w string) {
			if w == "" || !strings.Contains(text, w) || !utf8.ValidString(w) {
				t.Fatalf("%q has the word %q", text, w)
			}
		})
		for term, n := range NewVocabulary().Vector(text, lang) {
			if term == "" || n < 1 {
				t.Fatalf("%q has the term %q %g times", text, term, n)
			}
		}
	})
}

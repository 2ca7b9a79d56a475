package webworld

import (
	"bufio"
	"embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed text/*.txt
var textFiles embed.FS

// subject names a grammar: the file text/<subject>.txt.
type subject string

const (
	ravens  subject = "ravens"
	norse   subject = "norse"
	cooking subject = "cooking"
	world   subject = "world"
	people  subject = "people"
)

// relevant tells whether a text about s is on the demo's topic.
func (s subject) relevant() bool { return s == ravens || s == norse }

// grammar maps a slot to its alternatives, which may name further slots in braces.
type grammar map[string][]string

// library holds all grammars.
type library map[subject]grammar

func loadLibrary() (library, error) {
	lib := library{}
	for _, s := range []subject{ravens, norse, cooking, world, people} {
		g, err := loadGrammar(s)
		if err != nil {
			return nil, err
		}
		lib[s] = g
	}
	return lib, nil
}

func loadGrammar(s subject) (grammar, error) {
	f, err := textFiles.Open("text/" + string(s) + ".txt")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g := grammar{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, alternatives, ok := strings.Cut(lines.Text(), ": ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		g[name] = strings.Split(alternatives, " | ")
	}
	return g, lines.Err()
}

// expand replaces the slots of one alternative of slot, at random.
func (g grammar) expand(r *rand.Rand, slot string) string {
	choices := g[slot]
	if len(choices) == 0 {
		return fmt.Sprintf("{%s?}", slot)
	}
	var out strings.Builder
	rest := choices[r.IntN(len(choices))]
	for {
		before, after, ok := strings.Cut(rest, "{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, tail, _ := strings.Cut(after, "}")
		out.WriteString(g.expand(r, name))
		rest = tail
	}
}

// say expands a slot and tidies the result: articles agree and the first letter is upper case.
func (l library) say(r *rand.Rand, s subject, slot string) string {
	return capital(articles(l[s].expand(r, slot)))
}

// title is a short headline.
func (l library) title(r *rand.Rand, s subject) string { return l.say(r, s, "title") }

// paragraph is n sentences.
func (l library) paragraph(r *rand.Rand, s subject, n int) string {
	sentences := make([]string, n)
	for i := range sentences {
		sentences[i] = l.say(r, s, "sentence")
	}
	return strings.Join(sentences, " ")
}

// paragraphs is n paragraphs of three to six sentences.
func (l library) paragraphs(r *rand.Rand, s subject, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = l.paragraph(r, s, 3+r.IntN(4))
	}
	return list
}

// name is a person's full name.
func (l library) name(r *rand.Rand) string { return l[people].expand(r, "name") }

// articles turns "a" into "an" before a vowel.
func articles(s string) string {
	words := strings.Split(s, " ")
	for i := range len(words) - 1 {
		if (words[i] == "a" || words[i] == "A") && strings.ContainsRune("aeiouAEIO", rune(words[i+1][0])) {
			words[i] += "n"
		}
	}
	return strings.Join(words, " ")
}

func capital(s string) string {
	for i, c := range s {
		if unicode.IsLetter(c) {
			return s[:i] + string(unicode.ToUpper(c)) + s[i+utf8.RuneLen(c):]
		}
	}
	return s
}

// slug makes a title fit for a path.
func slug(title string) string {
	fields := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return strings.Join(fields, "-")
}

// random is a generator that depends on the seed and a label alone, so that a change to one page leaves
// the others as they were.
func random(seed uint64, label string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(label))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

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

// Subject names a grammar: the file text/<subject>.txt.
type Subject string

const (
	Ravens   Subject = "ravens"
	Norse    Subject = "norse"
	Cooking  Subject = "cooking"
	TheWorld Subject = "world"
	People   Subject = "people"
)

// Relevant reports whether a text about s is on the demo's topic.
func (s Subject) Relevant() bool { return s == Ravens || s == Norse }

// grammar maps a slot to its alternatives, which may name further slots in braces.
type grammar map[string][]string

// Library holds all grammars.
type Library map[Subject]grammar

func loadLibrary() (Library, error) {
	lib := Library{}
	for _, s := range []Subject{Ravens, Norse, Cooking, TheWorld, People} {
		g, err := loadGrammar(s)
		if err != nil {
			return nil, err
		}
		lib[s] = g
	}
	return lib, nil
}

func loadGrammar(s Subject) (grammar, error) {
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

// Say expands a slot and tidies the result: articles agree and the first letter is upper case.
func (l Library) Say(r *rand.Rand, s Subject, slot string) string {
	return Capital(articles(l[s].expand(r, slot)))
}

// Title is a short headline.
func (l Library) Title(r *rand.Rand, s Subject) string { return l.Say(r, s, "title") }

// Paragraph is n sentences.
func (l Library) Paragraph(r *rand.Rand, s Subject, n int) string {
	sentences := make([]string, n)
	for i := range sentences {
		sentences[i] = l.Say(r, s, "sentence")
	}
	return strings.Join(sentences, " ")
}

// Paragraphs is n paragraphs of three to six sentences.
func (l Library) Paragraphs(r *rand.Rand, s Subject, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = l.Paragraph(r, s, 3+r.IntN(4))
	}
	return list
}

// Name is a person's full name.
func (l Library) Name(r *rand.Rand) string { return l[People].expand(r, "name") }

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

// Capital makes the first letter upper case.
func Capital(s string) string {
	for i, c := range s {
		if unicode.IsLetter(c) {
			return s[:i] + string(unicode.ToUpper(c)) + s[i+utf8.RuneLen(c):]
		}
	}
	return s
}

// Slug turns a title into a segment of a path.
func Slug(title string) string {
	fields := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return strings.Join(fields, "-")
}

// Random is a generator that depends only on the seed and a label, so that a change to one page does not
// change the others.
func Random(seed uint64, label string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(label))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Pick chooses an element at random.
func Pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

package topic

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Sample is what a page of the reference crawl says: its heaviest terms and its score.
type Sample struct {
	URL          string      `json:"url"`
	Score        float64     `json:"score"`
	Example      bool        `json:"example,omitempty"` // the definition named it
	Terms        []text.Term `json:"terms"`
	PageFeatures []byte      `json:"seen,omitempty"` // what an order that learns has seen of it
	Language     string      `json:"language,omitempty"`
	Names        []string    `json:"names,omitempty"` // that the page says
	Words        []string    `json:"words,omitempty"` // the terms as words
}

// sampleTerms is how many terms are kept of a page.
const sampleTerms = 80

// NewSample keeps what a page with this verdict and these terms can teach of a topic. The lexicon knows its words.
func NewSample(t crawl.Topic, p *crawl.Page, v *crawl.Verdict, terms text.Vector, x *text.Lexicon) Sample {
	out := Sample{
		URL: p.URL, Score: max(v.Score, 0), Example: IsExample(t, p.URL), Terms: terms.Heaviest(sampleTerms), PageFeatures: v.PageFeatures,
		Language: p.Language, Names: namesIn(p.Blocks),
	}
	for _, term := range out.Terms {
		out.Words = append(out.Words, x.Word(term.Text))
	}
	return out
}

// BestFirst brings samples into order: the examples first, then by score.
func BestFirst(samples []Sample) {
	slices.SortFunc(samples, func(a, b Sample) int {
		switch {
		case a.Example && !b.Example:
			return -1
		case b.Example && !a.Example:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
}

// canonical is the canonical form of a URL, "" if it is none.
func canonical(raw string) string {
	u, err := urls.Parse(raw)
	if err != nil {
		return ""
	}
	return u.String()
}

// IsExample reports whether the definition names the canonical URL, in whatever form, as an example page.
func IsExample(t crawl.Topic, url string) bool {
	return slices.ContainsFunc(t.ExampleURLs(), func(raw string) bool { return canonical(raw) == url })
}

// maxNames bounds the names that are kept of a page.
const maxNames = 30

// namesIn are the names that a text seems to say: two to four words in a row that begin with a capital, the first of
// them not at the start of a sentence.
func namesIn(blocks []string) (names []string) {
	seen := map[string]bool{}
	for _, block := range blocks {
		var run []string
		begins := true // of a sentence
		flush := func() {
			if len(run) >= 2 && len(run) <= 4 && len(names) < maxNames {
				if name := strings.Join(run, " "); !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
			run = run[:0]
		}
		for word := range strings.FieldsSeq(block) {
			bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first, n := utf8.DecodeRuneInString(bare)
			capital := unicode.IsUpper(first) && len(bare) > n && strings.ToUpper(bare) != bare
			switch {
			case capital && !begins && strings.HasPrefix(word, bare):
				run = append(run, bare)
			default:
				flush()
			}
			if strings.HasSuffix(word, ",") || strings.HasSuffix(word, ";") || strings.HasSuffix(word, ":") {
				flush()
			}
			begins = strings.ContainsAny(word[len(word)-1:], ".!?:")
			if begins {
				flush()
			}
		}
		flush()
	}
	return names
}

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

// Sample is a page of the reference crawl, as Learn takes it.
type Sample struct {
	URL          string      `json:"url"`
	Score        float64     `json:"score"`
	Example      bool        `json:"example,omitempty"` // the definition names it
	Terms        []text.Term `json:"terms"`             // the heaviest
	PageFeatures []byte      `json:"seen,omitempty"`    // the page as an order that learns encodes it
	Language     string      `json:"language,omitempty"`
	Names        []string    `json:"names,omitempty"` // names of people, places and the like in its text
	Words        []string    `json:"words,omitempty"` // a word of the page for each of Terms
}

// sampleTerms is how many terms a sample has.
const sampleTerms = 80

// NewSample makes the sample of a page with this verdict and these terms. The lexicon gives the words for its terms.
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

// BestFirst sorts samples: examples first, then by falling score, then by URL.
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

// maxNames bounds the names of a sample.
const maxNames = 30

// namesIn are what seems to be names in a text: two to four words in a row that begin with a capital, the first of them not at the
// start of a sentence.
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

package score

import (
	"math"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// FuzzSimilarity: the cosine of any text with a topic of any texts is a number in [0,1].
func FuzzSimilarity(f *testing.F) {
	for _, seed := range []string{"", "raven", "東京都 raven", "e\u0301\xff\u0e31", "ΑΣ İ ﬁ", strings.Repeat("a", 300)} {
		for _, lang := range []string{"en", "de", "tr", "fi", "ru", "hu", "xx"} {
			f.Add(seed, seed, lang)
		}
	}
	f.Fuzz(func(t *testing.T, example, keyword, lang string) {
		s, err := New(crawl.Definition{Topic: crawl.Topic{Keywords: []string{keyword}, Examples: []crawl.Example{{Text: example}}}}, nil, NewDictionary(), topic.Memory{})
		if err != nil {
			t.Fatal(err)
		}
		for _, about := range []string{example, keyword, example + " " + keyword} {
			c := s.similarity(s.dictionary.Vector(about, lang), lang)
			if c == silent && s.vector(lang).norm == 0 {
				continue // there is no topic
			}
			if math.IsNaN(c) || c < 0 || c > 1 {
				t.Fatalf("the cosine of %q and %q is %g", keyword, about, c)
			}
		}
	})
}

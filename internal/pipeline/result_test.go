package pipeline

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// TestResultParts: a result is that of its parts, in their order, and no part is large.
func TestResultParts(t *testing.T) {
	for _, n := range []int{0, 1, resultPart, resultPart + 1, 3*resultPart - 1} {
		r := Result{Outcomes: []crawl.PageOutcome{}, Discoveries: []crawl.Discovery{}, Originals: map[string]crawl.Visit{}}
		for i := range n {
			url := fmt.Sprint("http://a.example/", i)
			r.Discoveries = append(r.Discoveries, crawl.Discovery{URL: url})
			if i%2 == 0 {
				r.Outcomes = append(r.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: url}})
			}
			r.Originals[url] = crawl.Visit{URL: url}
			r.Samples = append(r.Samples, topic.Sample{URL: url})
		}
		parts := r.Parts()
		for i := range parts {
			if len(parts[i].Outcomes) > resultPart || len(parts[i].Discoveries) > resultPart {
				t.Errorf("of %d, part %d has %d outcomes and %d outlinks", n, i, len(parts[i].Outcomes), len(parts[i].Discoveries))
			}
		}
		if got := JoinParts(parts); !reflect.DeepEqual(got, r) {
			t.Errorf("of %d, %d outcomes, %d outlinks, %d originals and %d samples are left", n, len(got.Outcomes), len(got.Discoveries), len(got.Originals), len(got.Samples))
		}
		if got := JoinParts([]Result{r}); !reflect.DeepEqual(got, r) {
			t.Errorf("of %d in one part, as an earlier version wrote them, %d outlinks are left", n, len(got.Discoveries))
		}
	}
}

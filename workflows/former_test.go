package workflows

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// TestFormerMembers: however many folders have taken part, what the crawl carries of them is bounded, and nothing of what they have done is lost: totals,
// what is used of the budgets, and what each of some names has done.
func TestFormerMembers(t *testing.T) {
	here := &CrawlMember{Member: activities.Member{Worker: "here"}, Account: "here"}
	here.Progress.Totals.Pages = 5
	s := CrawlState{Members: []*CrawlMember{here}, Budgets: map[crawl.Reason]*share.Budget{crawl.ReasonPages: {Total: 100_000}}}
	size := func() int {
		raw, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		return len(raw)
	}
	const folders = 3000
	middle := 0
	for i := range folders {
		worker := "again" // each second one
		if i%2 == 0 {
			worker = fmt.Sprint("w", i)
		}
		m := &CrawlMember{Member: activities.Member{Worker: worker, Instance: fmt.Sprint("i", i)}, Account: fmt.Sprint("i", i), Gone: true, Counted: true}
		m.Progress.Totals.Pages = 2
		m.Progress.Ends = []frontier.DroppedURL{{URL: "http://a.example/" + strings.Repeat("x", 3000)}}
		m.Controller.Progress = m.Progress
		s.Budgets[crawl.ReasonPages].Absent(m.Account, 2)
		s.Members = append(s.Members, m)
		s.fold(m)
		if i == folders/2 {
			middle = size()
		}
	}
	if n := size(); n > 256<<10 || n > middle+middle/20 {
		t.Errorf("the state takes %d bytes with %d folders, %d with half of them", n, folders, middle)
	}
	if len(s.Members) != 1+keptGone || s.Former.Members != folders-keptGone || len(s.Former.Names) != keptNames || s.Former.Names["again"].Pages != 2*(folders-keptGone)/2 {
		t.Errorf("%d members are kept, %d are in the sum, of %d names: %+v", len(s.Members), s.Former.Members, len(s.Former.Names), s.Former.Names["again"])
	}
	if sum := s.sum(); sum.Totals.Pages != 5+2*folders || s.Budgets[crawl.ReasonPages].Free() != 100_000-2*folders {
		t.Errorf("%d pages, %d are free", sum.Totals.Pages, s.Budgets[crawl.ReasonPages].Free())
	}
}

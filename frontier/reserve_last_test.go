package frontier

import (
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestLastPages: the last pages of a budget are divided between the hosts that can give them: no claim takes more than an equal part of what is left, and there is no lane that fetches a claim by itself while
// others could have a part of it.
func TestLastPages(t *testing.T) {
	const budget = 481 // the rounds of ten pages a host leave twenty
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = budget })
	s, last := k.crawls[testCrawl], 0
	rounds(k, func(n int) {
		most, taken := 0, 0
		for _, c := range s.claims.Where(func(*Claim) bool { return true }) {
			most, taken = max(most, len(c.URLs)), taken+len(c.URLs)
		}
		if left := budget - int(s.Totals.Pages); left > 0 && left < goodHosts*10 { // claims of ten without a division
			last++
			if equal := max((left+goodHosts-1)/goodHosts, queue.Probes); most > equal {
				t.Errorf("round %d: of %d pages that are left %d are claimed, %d of them of one host", n, left, taken, most)
			}
		}
	})
	if last == 0 {
		t.Error("no round of the last pages was seen")
	}
}

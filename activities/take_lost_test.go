package activities

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestTakeLost: what a worker had archived and not delivered when it was lost is queued by the others, each URL once, also where a part of it was
// delivered before, and where it is taken twice. Batches that had archived nothing, and partitions that are taken already, bring nothing.
func TestTakeLost(t *testing.T) {
	const open = "a batch of the test"
	var all []int
	for p := range ring.Partitions {
		all = append(all, p)
	}
	for _, c := range []struct {
		name    string
		before  int      // owners that had their delivery
		batches []string // that the worker has left open
		taken   []int    // partitions that are taken already
		queued  bool     // the links of the batch are queued in the end
	}{
		{"nobody had its delivery", 0, []string{open, "gone.example-7@w.1"}, nil, true},
		{"one owner had it", 1, []string{open, "gone.example-7@w.1"}, nil, true},
		{"both owners had it", 2, []string{open, "gone.example-7@w.1"}, nil, true},
		{"nothing of the batch is archived", 0, []string{"gone.example-7@w.1"}, nil, false},
		{"no batch is open", 0, nil, nil, false},
		{"all is taken", 0, []string{open}, all, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w", "z")
			from := s.ownerOf("a.example")
			in := from.batch()
			in.Spread = true
			from.open(in, linkingToMany)
			from.must(from.do(from.Process, in))
			first := s.undelivered(from, in)
			s.deliver(in, first.To[:c.before])
			lost := LostInput{Crawl: in.Crawl, Worker: from.Settings.Worker}
			for _, batch := range c.batches {
				if batch == open {
					batch = in.Batch
				}
				lost.Batches = append(lost.Batches, batch)
			}
			for range 2 {
				lost.Taken = c.taken
				for name, r := range s.workers {
					if name == lost.Worker {
						continue
					}
					out, err := call[LostResult](r, r.TakeLost, lost)
					r.must(err)
					lost.Taken = append(lost.Taken, out.Taken...)
				}
			}
			if n := len(lost.Taken); c.taken == nil && (n < 2*(ring.Partitions/3) || n > 2*(ring.Partitions/3+1)) || c.taken != nil && n != len(c.taken) {
				t.Errorf("%d partitions are taken", n)
			}
			known, want := int64(0), 0
			for i := range 40 {
				if host := fmt.Sprintf("h%d.example", i); c.queued && s.ownerOf(host) != from {
					want += 2
				}
			}
			got := 0
			for name, r := range s.workers {
				if name == lost.Worker {
					continue
				}
				got += len(r.states())
				status, err := r.Frontier.Crawl(rigCrawl).Status()
				r.must(err)
				known += status.Totals.Known
			}
			if got != want || known != int64(want) {
				t.Errorf("%d URLs, %d counted, want %d", got, known, want)
			}
		})
	}
}

package activities

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// openBatch stands for the batch of the test.
const openBatch = "the batch of the test"

// leftBatches is what a lost worker has left.
type leftBatches struct {
	name    string
	before  int      // owners that had their delivery
	batches []string // that are open
	taken   []int    // partitions that are taken already
	queued  bool     // the links of the batch are queued in the end
}

// TestTakeOver: what a worker had archived and not delivered when it was lost is queued by the others, each URL and each link once, also where a part of it was
// delivered before, and where it is taken twice. Batches that had archived nothing, and partitions that are taken already, bring nothing. It is the same
// whether the worker looks for the open batches itself, or an execution of an earlier version names them.
func TestTakeOver(t *testing.T) {
	const gone = "gone.example-7@w.1"
	for _, c := range []leftBatches{
		{"nobody had its delivery", 0, []string{openBatch, gone}, nil, true},
		{"one owner had it", 1, []string{openBatch, gone}, nil, true},
		{"both owners had it", 2, []string{openBatch, gone}, nil, true},
		{"nothing of the batch is archived", 0, []string{gone}, nil, false},
		{"no batch is open", 0, nil, nil, false},
		{"all is taken", 0, []string{openBatch}, allPartitions(), false},
	} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, named %t", c.name, named), func(t *testing.T) { c.test(t, named) })
		}
	}
}

func (c leftBatches) test(t *testing.T, named bool) {
	s := newSpreadRing(t, "v", "w", "z")
	from := s.ownerOf("a.example")
	in := from.linking()
	first := s.undelivered(from, in)
	s.deliver(in, first.To[:c.before])
	lost := LostInput{Crawl: in.Crawl, Holder: Holder{Worker: from.Settings.Worker}}
	var open, ids []string
	for _, batch := range c.batches {
		if batch == openBatch {
			batch = in.Batch
		}
		open, ids = append(open, batch), append(ids, names.BatchID(in.Crawl, batch))
	}
	for range 2 {
		lost.Taken = c.taken
		for name, r := range s.workers {
			if name == lost.Worker {
				continue
			}
			r.Client = &pagedList{pages: [][]string{ids}}
			step := r.TakeOver
			if named {
				step, lost.Batches = r.TakeLost, open
			}
			out, err := call[LostResult](r, step, lost)
			r.must(err)
			lost.Taken = slices.Concat(lost.Taken, out.Taken)
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
		for url := range r.states() {
			u, err := urls.Parse(url)
			r.must(err)
			e, err := r.Frontier.Crawl(rigCrawl).URLs().Explain(u)
			if got++; err != nil || e.Links != 1 {
				t.Errorf("%d links to %s are counted, want 1, %v", e.Links, url, err)
			}
		}
		status, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		known += status.Totals.Known
	}
	if got != want || known != int64(want) {
		t.Errorf("%d URLs, %d counted, want %d", got, known, want)
	}
}

// TestAccepting: while the ring changes, the partitions that a worker takes in for become fewer, and the others continue.
func TestAccepting(t *testing.T) {
	stale := map[int]bool{}
	p := &accepting{list: []int{3, 5, 8}, may: func(p frontier.Partition) error {
		if stale[int(p)] {
			return ring.ErrStale
		}
		return nil
	}}
	for _, c := range []struct {
		stale     []int
		continues bool
		left      []int
	}{{nil, false, []int{3, 5, 8}}, {[]int{5}, true, []int{3, 8}}, {nil, false, []int{3, 8}}, {[]int{3, 8}, false, nil}} {
		for _, p := range c.stale {
			stale[p] = true
		}
		if got := p.narrow(); got != c.continues || !slices.Equal(p.now(), c.left) {
			t.Errorf("without %v: %t, %v", c.stale, got, p.now())
		}
	}
}

// TestTakeOverBeforeBegin: a worker that knows a crawl by the partitions alone that it was handed, because the run has not begun there yet, does not
// know where the segments are: it takes nothing over, and counts nothing, until the run has begun.
func TestTakeOverBeforeBegin(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	began := time.Now()
	from := s.ownerOf("a.example")
	in := from.linking()
	from.must(from.do(from.Commit, func() BatchInput {
		in.Delivered = allPartitions()
		return in
	}()))
	s.join("x")
	joined := s.workers["x"]
	joined.Client = &pagedList{pages: [][]string{{names.BatchID(in.Crawl, in.Batch)}}}
	if !joined.Frontier.Knows(rigCrawl) {
		t.Fatal("no partition has made the crawl known")
	}
	lost := LostInput{Crawl: in.Crawl, Holder: Holder{Worker: from.Settings.Worker}, Batches: []string{in.Batch}}
	if out, err := call[LostResult](joined, joined.TakeLost, lost); err != nil || len(out.Taken) > 0 {
		t.Errorf("%d partitions are taken, %v", len(out.Taken), err)
	}
	total := LostTotalsInput{Crawl: rigCrawl, Holder: Holder{Worker: from.Settings.Worker}, Started: began, Run: 1}
	if sum, err := call[frontier.Totals](joined, joined.LostTotals, total); err == nil {
		t.Errorf("it counts %+v", sum)
	}
	s.begin("x")
	out, err := call[LostResult](joined, joined.TakeOver, lost)
	joined.must(err)
	sum, err := call[frontier.Totals](joined, joined.LostTotals, total)
	joined.must(err)
	if len(out.Taken) < ring.Partitions/4 || sum.Pages != 1 || len(joined.states()) == 0 {
		t.Errorf("once it has begun, %d partitions are taken, %d pages counted, %d URLs known", len(out.Taken), sum.Pages, len(joined.states()))
	}
}

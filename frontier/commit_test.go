package frontier

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// bundle claims n URLs of as many queues as one batch.
func bundle(t *testing.T, n int) (r *rig, batch string, lanes []OpenClaim) {
	t.Helper()
	r = newRig(t, nil)
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("http://h%d.example/", i))
	}
	r.submit("s", found(1, list...)...)
	w := r.want()
	w.Claims = n
	got, err := r.Claim(t.Context(), w)
	r.must(err)
	if len(got.Claims) != n {
		t.Fatalf("%d claims", len(got.Claims))
	}
	batch = r.start(got.Claims...)
	lanes, err = r.Batch(batch).Reopen(got.Claims, nil)
	r.must(err)
	return r, batch, lanes
}

func concluding(lanes []OpenClaim, edit func(*crawl.PageOutcome)) (outcomes []crawl.PageOutcome) {
	for _, u := range targets(lanes...) {
		o := done(u)
		edit(&o)
		outcomes = append(outcomes, o)
	}
	return outcomes
}

func (r *rig) prints(url string) (raw []byte) {
	r.t.Helper()
	u, err := urls.Parse(url)
	r.must(err)
	r.must(r.store.View(func(txn store.Reader) error {
		_, err := txn.Get(r.crawls[testCrawl].keys.Print(record.KeyOf(u)), func(b []byte) error {
			raw = bytes.Clone(b)
			return nil
		})
		return err
	}))
	return raw
}

// A batch is committed even if the prints of its pages are very large.
func TestCommitOfLargePrints(t *testing.T) {
	const n = 480
	r, batch, lanes := bundle(t, n)
	r.roomy()
	prints := bytes.Repeat([]byte{7}, 25_000)
	outcomes := concluding(lanes, func(o *crawl.PageOutcome) { o.Prints = prints })
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes}))
	s := r.status()
	if s.Totals.Pages != n || s.Totals.Batches != 1 || s.Waiting != 0 || s.Claimed != 0 || s.Lanes != 0 {
		t.Errorf("%+v", s)
	}
	for _, o := range outcomes {
		if !bytes.Equal(r.prints(o.URL), prints) {
			t.Fatalf("the prints of %s are gone", o.URL)
		}
	}
}

// Data that a crawl can do without is dropped if it does not fit into the store.
func TestCommitDropsWhatDoesNotFit(t *testing.T) {
	r, batch, lanes := bundle(t, 2)
	huge := bytes.Repeat([]byte{7}, 12<<20)
	outcomes := concluding(lanes, func(o *crawl.PageOutcome) { o.Prints = huge })
	outcomes[0].PageFeatures, outcomes[0].Prints = huge, nil
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes, Sample: huge}))
	if s := r.status(); s.Totals.Pages != 2 || s.Waiting != 0 || s.Claimed != 0 {
		t.Errorf("%+v", s)
	}
}

// A commit that was cut off between two of its transactions continues where it was, and counts nothing twice.
func TestCommitContinues(t *testing.T) {
	const n = 30
	for after := range 3 {
		r, batch, lanes := bundle(t, n)
		outcomes := concluding(lanes, func(o *crawl.PageOutcome) { o.Reason = string(bytes.Repeat([]byte("x"), 500_000)) })
		commit := Commit{Batch: batch, Outcomes: outcomes, Discoveries: found(0.5, "http://new.example/")}
		links, _ := gather(r.crawls[testCrawl].scope, commit.Discoveries, false)
		parts := portions(links, nil, outcomes)
		if len(parts) < 4 {
			t.Fatalf("%d portions", len(parts))
		}
		for i := range after {
			err := r.commitPortion(r.crawls[testCrawl], committing{c: &commit, marker: fmt.Sprint(i)}, parts[i])
			r.must(err)
		}
		r.reopen()
		for range 2 {
			r.must(r.Commit(commit))
		}
		r.reopen()
		s := r.status()
		if s.Totals.Pages != n || s.Totals.Known != n+1 || s.Waiting != 1 || s.Claimed != 0 || s.Totals.Batches != 1 || s.Totals.Links != n+1 {
			t.Errorf("cut off after %d portions: %+v", after, s)
		}
		if got := r.next().Claims; len(got) != 1 {
			t.Errorf("cut off after %d portions: %d claims", after, len(got))
		}
	}
}

// A commit that was cut off between two of its transactions loses none of its links, even if its lists were lost and are made again
// in another order.
func TestCommitContinuesRecovered(t *testing.T) {
	r, batch, lanes := bundle(t, 1)
	const n = commitPart + commitPart/2
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("http://new.example/%d", i)
	}
	commit := Commit{Batch: batch, Outcomes: concluding(lanes, func(*crawl.PageOutcome) {}), Discoveries: found(0.5, list...)}
	s := r.crawls[testCrawl]
	links, of := gather(s.scope, commit.Discoveries, false)
	parts := portions(links, nil, commit.Outcomes)
	if len(parts) != 2 {
		t.Fatalf("%d portions", len(parts))
	}
	err := r.commitPortion(s, committing{c: &commit, all: links, of: of, marker: commit.marker(0)}, parts[0])
	r.must(err)
	r.reopen()
	slices.Reverse(list)
	commit.Discoveries, commit.Recovered = found(0.5, list...), true
	for range 2 {
		r.must(r.Commit(commit))
	}
	if got := r.status(); got.Totals.Known != n+1 || got.Waiting != n || got.Totals.Pages != 1 || got.Claimed != 0 || got.Totals.Batches != 1 {
		t.Errorf("%+v", got)
	}
}

// Together, the portions have everything once and in order, and none is too large.
func TestPortions(t *testing.T) {
	link := func(n int) *offered { return &offered{url: string(make([]byte, n))} }
	links := func(count, size int) (list []*offered) {
		for range count {
			list = append(list, link(size))
		}
		return list
	}
	ends := func(count, size int) (list []crawl.PageOutcome) {
		for range count {
			list = append(list, crawl.PageOutcome{PageFeatures: make([]byte, size)})
		}
		return list
	}
	kept := func(count, size int) (list []sideRecord) {
		for range count {
			list = append(list, sideRecord{nil, make([]byte, size)})
		}
		return list
	}
	for name, c := range map[string]struct {
		links []*offered
		keeps []sideRecord
		ends  []crawl.PageOutcome
		parts int
	}{
		"nothing":                   {parts: 1},
		"an ordinary batch":         {links(5000, 100), kept(400, 2000), ends(500, 300), 1},
		"as many as fit":            {links(commitPart, 10), nil, nil, 1},
		"one more":                  {links(commitPart, 10), nil, ends(1, 0), 2},
		"one that fits nowhere":     {nil, kept(1, 20<<20), ends(1, 0), 2},
		"many outcomes":             {nil, nil, ends(3*commitPart, 0), 6}, // by their bytes
		"prints of 25 KB, 480 ones": {links(1, 1), kept(480, 25_000), ends(480, 0), 6},
	} {
		parts := portions(c.links, c.keeps, c.ends)
		if len(parts) != c.parts {
			t.Errorf("%s: %d portions", name, len(parts))
		}
		l, k, e := 0, 0, 0
		for _, p := range parts {
			l, k, e = l+len(p.links), k+len(p.keeps), e+len(p.outcomes)
			if n := len(p.links) + len(p.keeps) + len(p.outcomes); n > commitPart || n == 0 && len(parts) > 1 {
				t.Errorf("%s: a portion of %d", name, n)
			}
		}
		if l != len(c.links) || k != len(c.keeps) || e != len(c.ends) {
			t.Errorf("%s: %d links, %d things to keep, %d outcomes", name, l, k, e)
		}
	}
}

// TestTwoTextsOfOneURL: links of a portion whose texts differ and whose URL is one are one URL: the second meets what the first has written.
func TestTwoTextsOfOneURL(t *testing.T) {
	r := newRig(t, nil)
	r.submit("links", crawl.Discovery{URL: "http://b.example", Path: "SL", Score: 0.2}, crawl.Discovery{URL: "http://b.example/", Path: "SL", Score: 0.9})
	status, err := r.Crawl.Status()
	r.must(err)
	if status.Totals.Known != 1 || status.Waiting != 1 {
		t.Errorf("%d are known, %d wait", status.Totals.Known, status.Waiting)
	}
}

package activities

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
)

// TestLostTotals: what a worker has done in a run is counted by its segments as its frontier did, by any other worker; what others have done, and what
// an earlier run has, is left out.
func TestLostTotals(t *testing.T) {
	s := newSpreadRing(t, "w", "v")
	began := time.Now()
	lost := s.ownerOf("a.example")
	in := lost.batch()
	lost.open(in, func(string) string { return "<title>A page</title><p>of some words, without a link" })
	lost.must(lost.do(lost.Process, in))
	lost.must(lost.do(lost.Commit, in))
	status, err := lost.Frontier.Crawl(rigCrawl).Status()
	lost.must(err)
	want := status.Totals
	want.Known, want.Links = 0, 0 // which the archive does not say
	if want.New != 1 || want.Pages != 1 || want.Requests != 1 || want.Bytes == 0 {
		t.Fatalf("it has done %+v", want)
	}
	for _, r := range s.workers {
		for _, other := range s.workers {
			expected := want
			if other != lost {
				expected = frontier.Totals{}
			}
			got, err := call[frontier.Totals](r, r.LostTotals, LostTotalsInput{Crawl: rigCrawl, Holder: Holder{Worker: other.Settings.Worker}, Started: began, Run: 1})
			if err != nil || got != expected {
				t.Errorf("%s counts of %s %+v, %v; want %+v", r.Settings.Worker, other.Settings.Worker, got, err, expected)
			}
		}
	}
	for name, in := range map[string]LostTotalsInput{"by time": {Started: time.Now().Add(time.Hour)}, "a moment later, by number": {Started: began, Run: 2}} {
		in.Crawl, in.Worker = rigCrawl, lost.Settings.Worker
		got, err := call[frontier.Totals](lost, lost.LostTotals, in)
		if err != nil || got != (frontier.Totals{}) {
			t.Errorf("of a later run, %s: %+v, %v", name, got, err)
		}
	}
}

package focus

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/replay"
)

// TestHosts: with politeness on the clock a lane asks a host for a URL in each delay, several lanes are quicker than one, and harvest is counted by pages and by time.
func TestHosts(t *testing.T) {
	c, err := Open("traps:1:1")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Orders: []string{crawl.StrategyBreadth}, Draws: 1, Examples: 1, Share: 0.5, Seed: 1}
	hours := func(lanes int) float64 {
		o.Live = &Live{PerQueue: []int{5}, Batch: []bool{false}, Pace: replay.Pace{Lanes: lanes, Delay: time.Minute}}
		r, err := Measure(c, o)
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		h := row.Hosts
		if least := row.Fetched / 60 / float64(lanes); h.Hours < least {
			t.Errorf("%d lanes take %v hours for %v pages, at least %v", lanes, h.Hours, row.Fetched, least)
		}
		if last := h.ByPages[tenths-1]; last < row.Harvest-1e-9 || last > row.Harvest+1e-9 {
			t.Errorf("harvest %v, of the whole crawl %v", last, row.Harvest)
		}
		if h.ByTime[0] >= h.ByTime[5] || h.ByTime[tenths-1] < 1-1e-9 {
			t.Errorf("found by time: %v", h.ByTime)
		}
		if h.Poor < 0.1 || h.Poor > 0.9 { // breadth-first goes into the calendars
			t.Errorf("%v of the pages went to poor hosts", h.Poor)
		}
		var out strings.Builder
		if err := r.HostsTable(&out); err != nil || !strings.Contains(out.String(), "found by time") {
			t.Errorf("%v: %s", err, out.String())
		}
		return h.Hours
	}
	if one, four := hours(1), hours(4); four > one/2 {
		t.Errorf("one lane takes %v hours, four %v", one, four)
	}
}

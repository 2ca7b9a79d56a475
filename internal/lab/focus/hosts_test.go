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

// TestPoorHosts: of a budget of pages that the relevant hosts can nearly fill, at most a tenth goes to hosts that are known to be poor, and the crawl takes at most a quarter longer than without a
// price. Without one up to a third went there.
func TestPoorHosts(t *testing.T) {
	for web, most := range map[string]struct{ harvest, seconds float64 }{"traps:6:2": {0.6, 83}, "traps:8:9": {0.72, 102}} { // the seconds that it took without a price
		row := poorHosts(t, web)
		if row.Hosts.Poor > 0.1 {
			t.Errorf("%s: %.3f of the pages went to hosts that were known to be poor", web, row.Hosts.Poor)
		}
		if row.Harvest < most.harvest {
			t.Errorf("%s: harvest %.3f", web, row.Harvest)
		}
		if took := row.Hosts.Hours * 3600; took > 1.25*most.seconds {
			t.Errorf("%s: it took %.0f s", web, took)
		}
	}
}

func poorHosts(t *testing.T, web string) Row {
	c, err := Open(web)
	if err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Topic.Keywords = "traps", []string{"raven", "roost"}
	if err := c.LabelBy(d); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Orders: []string{crawl.StrategyFused}, Draws: 1, Examples: 1, Share: 0.06, Seed: 1,
		Live: &Live{PerQueue: []int{20}, Batch: []bool{false}, Pace: replay.Pace{Lanes: 8, Delay: time.Second}, Definition: &d},
	}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Rows[0]
}

package traps_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/webworld/endless"
)

// open are traps of an author who had not read the rules that are not closed within 1,000 useless pages.
var open = map[string]string{
	"source.example":   "a file's views at each revision are put together of lines that other pages have",
	"messages.example": "each message has a form of its own, and it quotes what the topic has",
	"chairs.example":   "each choice of values lists the same chairs in another selection",
}

// lost are pages of a closed trap that an archivist would miss.
var lost = map[string]int{
	"whatson.example": 18, // days of a place on which something is on: they are in the folder of the empty days
}

// A trap whose author had not read the rules gives at most 50 useless pages, but for those that are known to be open; one that is closed by now leaves the list.
func TestThirdTraps(t *testing.T) {
	w := world(t)
	for _, s := range endless.ThirdTraps() {
		for _, batch := range []int{1, 20} {
			out := crawlSite(t, w, w.Host(s.Host).Base+"/", &traps.Memory{}, batch, useless+1+s.Worth+batch)
			wasted := 0
			for _, page := range out.pages {
				if !s.Wanted(page) {
					wasted++
				}
			}
			missed := s.Worth - (len(out.pages) - wasted)
			if known := open[s.Host] != ""; wasted > useless != known || !known && missed != lost[s.Host] {
				t.Errorf("%s, %d at a time: %d useless pages, %d wanted ones missed; closed %v", s.Host, batch, wasted, missed, out.closed)
			}
		}
	}
}

// An honest site whose author had not read the rules is crawled whole.
func TestThirdHonestSites(t *testing.T) {
	w := world(t)
	for _, s := range endless.ThirdHonest() {
		whole := crawlSite(t, w, w.Host(s.Host).Base+"/", nil, 20, 6000)
		for _, batch := range []int{1, 20} {
			out := crawlSite(t, w, w.Host(s.Host).Base+"/", &traps.Memory{}, batch, 6000)
			// The months of the newspaper are closed when all of them have been read, one at a time: nothing is lost, but a month that came later would be.
			closes := s.Host == "gazette.example" && batch == 1
			if len(out.pages) != len(whole.pages) || len(out.closed) > 0 != closes {
				t.Errorf("%s, %d at a time: %d of %d pages; closed %v", s.Host, batch, len(out.pages), len(whole.pages), out.closed)
			}
		}
	}
}

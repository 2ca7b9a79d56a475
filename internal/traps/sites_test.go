package traps_test

import (
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/endless"
)

// crawled is a site as a crawl without a network sees it.
type crawled struct {
	pages   []string
	skipped []string
	closed  []traps.Closed
}

// crawlSite crawls a site breadth-first, in batches, as the frontier does: suspicious URLs come last, those of closed patterns never. With no memory
// it crawls all of it.
func crawlSite(t *testing.T, world *webworld.World, seed string, m *traps.Memory, batch, most int) (out crawled) {
	t.Helper()
	type entry struct {
		url   urls.URL
		shape traps.Shape
		via   string
	}
	known := map[string]bool{}
	var queue []entry
	add := func(text, via string) (fresh bool) {
		u, err := urls.Parse(text)
		if err != nil || known[u.String()] {
			return false
		}
		known[u.String()] = true
		queue = append(queue, entry{u, traps.ShapeOf(u), via})
		return true
	}
	add(seed, "")
	for len(queue) > 0 && len(out.pages) < most {
		var take, later, last []entry
		for _, e := range queue {
			switch {
			case m != nil && e.url.String() != seed && m.Closes(e.shape):
				out.skipped = append(out.skipped, e.url.String())
			case m != nil && m.Suspicious(e.shape):
				last = append(last, e)
			default:
				later = append(later, e)
			}
		}
		later = append(later, last...)
		take, queue = later[:min(batch, len(later))], slices.Clone(later[min(batch, len(later)):])
		var learned []traps.Page
		for _, e := range take {
			status, _, body, _ := world.Answer(e.url.String())
			if status != 200 {
				continue
			}
			out.pages = append(out.pages, e.url.String())
			d := page.Parse(page.Input{URL: e.url.String(), MIME: "text/html; charset=utf-8", Body: body}, page.DefaultLimits())
			p := traps.Page{URL: e.url.String(), Shape: e.shape, Print: traps.PrintOf(&d.Page), Via: func() string { return e.via }}
			if m != nil && m.Missing(p.URL, p.Print) { // its links are not followed
				d.Links = nil
			}
			for _, l := range d.Links {
				if l.Hop == crawl.HopEmbed || l.Hop == crawl.HopSpeculative {
					continue
				}
				if p.Links++; !add(l.URL, e.url.String()) {
					p.Lists(e.url.String(), l.URL, xxhash.Sum64String(l.URL))
					continue
				}
				p.New = append(p.New, queue[len(queue)-1].url.String())
			}
			learned = append(learned, p)
		}
		if m != nil {
			out.closed = append(out.closed, m.Learn(learned)...)
			for _, probe := range m.Probes() {
				status, _, body, _ := world.Answer(probe.URL)
				var print *crawl.Print
				if status == 200 {
					d := page.Parse(page.Input{URL: probe.URL, MIME: "text/html; charset=utf-8", Body: body}, page.DefaultLimits())
					print = traps.PrintOf(&d.Page)
				}
				m.Answered(probe.URL, print)
			}
		}
	}
	return out
}

func world(t *testing.T) *webworld.World {
	t.Helper()
	w := endless.Of(webworld.Options{Seed: 1}, slices.Concat(endless.Sites(), endless.HeldBackTraps(), endless.HeldBackHonest(), endless.ThirdTraps(), endless.ThirdHonest()))
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	return w
}

// useless is how many pages of a trap may be fetched, beside those that are worth it.
const useless = 50

// exceptions are traps that give more than that.
var exceptions = map[string]int{
	"tagged.example":    80,  // lists that differ in what they list may be those of an honest site: they need more evidence
	"weather.example":   77,  // forecasts are put together of the same words, and differ until most choices were seen
	"translate.example": 204, // every page reads differently: it is known by its path alone, once that has the same name three times
	"clicks.example":    73,  // a fourth of each page is another advertisement
	"feed.example":      60,  // posts in ever other choices
	"tarpit.example":    346, // prose by chance: it is known by that nothing leads back
}

// A site without end gives at most 50 useless pages.
func TestTraps(t *testing.T) {
	w := world(t)
	for _, s := range append(endless.Traps(), endless.HeldBackTraps()...) {
		for _, batch := range []int{1, 20} {
			out := crawlSite(t, w, w.Host(s.Host).Base+"/", &traps.Memory{}, batch, 700)
			if len(out.pages) > max(useless, exceptions[s.Host])+s.Worth {
				t.Errorf("%s, %d at a time: %d pages; closed %v", s.Host, batch, len(out.pages), out.closed)
			}
		}
	}
}

// Of a site that says "not found" with status 200, fewer pages are fetched once it was asked for a URL that cannot exist; an honest one that does so is crawled whole.
func TestProbedSites(t *testing.T) {
	w := world(t)
	for host, most := range map[string]int{"soft404.example": 30, "repeat.example": 8, "pagerend.example": 16} {
		for _, batch := range []int{1, 20} {
			m := &traps.Memory{Probing: true}
			if out := crawlSite(t, w, w.Host(host).Base+"/", m, batch, 700); len(out.pages) > most+1 || len(m.Hosts) != 1 {
				t.Errorf("%s, %d at a time: %d pages; hosts %+v", host, batch, len(out.pages), m.Hosts)
			}
		}
	}
	for host, pages := range map[string]int{"comments.example": 181, "spa.example": 61} {
		if out := crawlSite(t, w, w.Host(host).Base+"/", &traps.Memory{Probing: true}, 20, 6000); len(out.pages) != pages {
			t.Errorf("%s: %d of %d pages", host, len(out.pages), pages)
		}
	}
}

// Nor does the calendar of the demo, whose pages all read differently.
func TestTrapOfTheDemo(t *testing.T) {
	w := webworld.NewDemo(webworld.Options{Seed: 1})
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, 20} {
		out := crawlSite(t, w, w.Host("calendar.example").Base+"/", &traps.Memory{}, batch, 600)
		if len(out.pages) > useless {
			t.Errorf("%d at a time: %d pages; closed %v", batch, len(out.pages), out.closed)
		}
	}
}

// In a later run, pages read like those of the former one: nothing is suspicious for that, and what was closed stays closed.
func TestLaterRun(t *testing.T) {
	w, m := world(t), &traps.Memory{}
	m.Enter(1)
	seed := w.Host("docs.example").Base + "/"
	whole := crawlSite(t, w, seed, m, 20, 6000)
	m.Enter(2)
	for _, url := range whole.pages {
		u, err := urls.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if m.Suspicious(traps.ShapeOf(u)) {
			t.Fatalf("%s is suspicious", url)
		}
	}
	if again := crawlSite(t, w, seed, m, 20, 6000); len(again.pages) != len(whole.pages) {
		t.Errorf("%d of %d pages", len(again.pages), len(whole.pages))
	}
	m = &traps.Memory{}
	m.Enter(1)
	seed = w.Host("neardup.example").Base + "/"
	crawlSite(t, w, seed, m, 20, 6000)
	m.Enter(2)
	if again := crawlSite(t, w, seed, m, 20, 6000); len(again.pages) != 1 {
		t.Errorf("%d pages of what is closed", len(again.pages))
	}
}

// An honest site is crawled whole.
func TestHonestSites(t *testing.T) {
	w := world(t)
	for _, s := range append(endless.HonestSites(), endless.HeldBackHonest()...) {
		whole := crawlSite(t, w, w.Host(s.Host).Base+"/", nil, 20, 6000)
		out := crawlSite(t, w, w.Host(s.Host).Base+"/", &traps.Memory{}, 20, 6000)
		if len(out.pages) != len(whole.pages) || len(out.closed) > 0 {
			t.Errorf("%s: %d of %d pages; closed %v", s.Host, len(out.pages), len(whole.pages), out.closed)
		}
	}
}

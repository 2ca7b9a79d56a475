package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// embedded are what a page embeds.
func embedded(page string, list ...string) (discoveries []crawl.Discovery) {
	for _, u := range list {
		discoveries = append(discoveries, crawl.Discovery{URL: u, Path: "SLE", Via: page, Score: 0.1})
	}
	return discoveries
}

// TestRequisitesFirst: what a page embeds is claimed before the pages of its queue, and its queue before those of better pages, whatever
// it is itself: after a restart, too. A page that is found to be embedded becomes a requisite.
func TestRequisitesFirst(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 2 })
	r.submit("links", found(0.9, "http://a.example/1", "http://a.example/2", "http://a.example/f")...)
	r.submit("others", found(1, "http://b.example/")...)
	r.submit("embeds", embedded("http://a.example/0", "http://a.example/x.css", "http://a.example/f")...)
	r.reopen()
	w := r.want()
	w.Claims = 1
	round, err := r.Claim(t.Context(), w)
	r.must(err)
	lanes, err := r.Batch(r.start(round.Claims...)).Reopen(round.Claims, nil)
	r.must(err)
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/x.css", "http://a.example/f"}) {
		t.Errorf("first come %q", got)
	}
	if x := lanes[0].Targets[0]; x.Priority > 0.11 || x.Via != "http://a.example/0" {
		t.Errorf("%+v", x)
	}
}

// TestRequisitesOfTheLastPages: requisites count neither for the budget of pages nor for that of a PLD, and are claimed when these are spent.
func TestRequisitesOfTheLastPages(t *testing.T) {
	for _, edit := range []func(*crawl.Definition){
		func(d *crawl.Definition) { d.Budget.Pages, d.Budget.Requests = 3, 3 },
		func(d *crawl.Definition) { d.Budget.PerPLD = 3 },
	} {
		r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 2; edit(d) })
		r.submit("links", found(0.9, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4")...)
		var asked []string
		for i := range 20 {
			round := r.next()
			r.confirm(round)
			if round.Spent != "" || round.Drained {
				break
			}
			if len(round.Claims) == 0 {
				continue
			}
			batch := r.start(round.Claims...)
			lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
			r.must(err)
			asked = append(asked, targets(lanes...)...)
			var links []crawl.Discovery
			if i < 2 {
				page := fmt.Sprintf("http://a.example/%d", i)
				links = embedded(page, page+".png", "http://a.example/all.css", "http://cdn.example/all.js")
			}
			r.finish(batch, lanes, links...)
		}
		s := r.status().Totals
		if slices.Sort(asked); len(asked) != 7 || s.Pages != 3 || s.Requisites != 4 || s.RequisitesArchived != 4 || s.RequisiteBytes != 4000 || s.Bytes != 7000 {
			t.Errorf("%q, %+v", asked, s)
		}
	}
}

// TestRequisitesThatRest: a run whose pages are fetched does not wait for a host that rests for long, though it has requisites of them.
func TestRequisitesThatRest(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.Pages = 1 })
	r.submit("links", found(0.9, "http://a.example/1")...)
	batch, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, r.clock.Now().Add(time.Hour), false))
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/1")}, Discoveries: embedded("http://a.example/1", "http://a.example/x.css")}))
	r.confirm(r.next())
	if got := r.next(); got.Spent != crawl.ReasonPages {
		t.Errorf("%+v", got)
	}
}

// TestBudgetOfRequisites: there are no more of them than the budget has for the pages; a page that is embedded, too, stays a page.
func TestBudgetOfRequisites(t *testing.T) {
	for _, c := range []struct {
		most  int64
		bytes crawl.Bytes
		want  int64
	}{{0, 0, 0}, {2, 0, 4}, {100, 1000, 4}, {100, 0, 7}} {
		r := newRig(t, func(d *crawl.Definition) { d.Budget.Requisites, d.Budget.RequisiteBytes = &c.most, c.bytes })
		r.submit("links", found(0.9, "http://a.example/1")...)
		batch, lanes := r.take()
		var list []string
		for i := range 4 {
			list = append(list, fmt.Sprintf("http://a.example/%d.png", i))
		}
		r.finish(batch, lanes, embedded("http://a.example/1", list...)...)
		if batch, lanes = r.take(); batch != "" {
			r.finish(batch, lanes)
		}
		links := append(embedded("http://a.example/1", "http://a.example/x", "http://a.example/y", "http://a.example/z"), found(0.9, "http://a.example/x")...)
		r.submit("more", links...)
		s := r.status().Totals
		if r.states()["http://a.example/x"] != "waiting" || s.Requisites != c.want || s.RequisitesCut != 7-c.want {
			t.Errorf("%d, %d: %+v", c.most, c.bytes, s)
		}
	}
}

// TestEmbeddedLink: what a page both embeds and links to belongs to the crawl wherever it lies, also if the link comes first.
func TestEmbeddedLink(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Scope.Within = crawl.WithinHost })
	r.submit("found", append(found(1, "http://cdn.example/x.png"), embedded("http://a.example/", "http://cdn.example/x.png")...)...)
	if _, lanes := r.take(); len(targets(lanes...)) != 1 || lanes[0].Targets[0].Path != "SLE" {
		t.Errorf("%+v", lanes)
	}
}

// TestLongURLs: what a page embeds may have a longer URL than a page, which is claimed as it is, also after a restart.
func TestLongURLs(t *testing.T) {
	r := newRig(t, nil)
	long := "http://a.example/" + strings.Repeat("a", urls.MaxLength-len("http://a.example/"))
	page := long[:urls.MaxPage+1]
	r.submit("links", found(0.9, "http://a.example/1", page)...)
	r.submit("embeds", embedded("http://a.example/1", long)...)
	r.reopen()
	batch, lanes := r.take()
	got := targets(lanes...)
	if slices.Sort(got); !slices.Equal(got, []string{"http://a.example/1", long}) {
		t.Errorf("%d URLs are claimed: %.100q", len(got), got)
	}
	r.finish(batch, lanes)
	if n := r.status().Totals; n.Pages != 1 || n.RequisitesArchived != 1 {
		t.Errorf("%+v", n)
	}
	if fate, err := r.URLs().Fate(long); fate != FateArchived || err != nil {
		t.Errorf("%d, %v", fate, err)
	}
}

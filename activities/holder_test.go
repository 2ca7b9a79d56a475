package activities

import (
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestHolder: what another data folder holds is refused: it is not taken for committed, nor opened, claimed or begun. Where the crawl
// is not known the worker may be on a wrong folder, and the step is tried again; so it is if the crawl is spread, which terminates its batches itself.
func TestHolder(t *testing.T) {
	const other = "fedcba9876543210"
	grant := []politeness.Grant{{Lease: "a.example-1", IP: rigIP}}
	for name, c := range map[string]struct {
		known  bool // the crawl, by this frontier
		spread bool // the same, and it is spread
		by     Holder
		fails  bool
		final  bool
	}{
		"its own":               {known: true, by: Holder{"w", rigInstance}},
		"of an earlier version": {known: true},
		"another folder":        {known: true, by: Holder{"w", other}, fails: true, final: true},
		"another worker":        {known: true, by: Holder{"v", rigInstance}, fails: true, final: true},
		"another folder, where nothing was begun":   {by: Holder{"w", other}, fails: true},
		"another folder, of a crawl that is spread": {spread: true, by: Holder{"w", other}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			switch {
			case c.spread:
				r = newSpreadRing(t, "w").workers["w"]
			case c.known:
				r.begin("one", nil)
			}
			batch := BatchInput{Holder: c.by, Crawl: rigCrawl, Batch: "a.example-1", Claims: []ClaimRef{{"a.example-1", "a.example", rigIP}}}
			for step, in := range map[string]struct{ do, in any }{
				"Open": {r.Open, batch}, "FetchTargets": {r.FetchTargets, batch}, "Process": {r.Process, batch}, "Commit": {r.Commit, batch},
				"QueueRest": {r.QueueRest, RestInput{Crawl: rigCrawl, Owner: "one", Run: 1, Holder: c.by}}, "GiveBack": {r.GiveBack, batch}, "Lease": {r.Lease, LeaseInput{batch, grant}},
				"Route": {r.Route, RouteInput{batch, DeliverInput{Crawl: rigCrawl, Batch: batch.Batch}}},
				"Claim": {r.Claim, ClaimInput{Holder: c.by, Crawl: rigCrawl}}, "Start": {r.Start, StartInput{Holder: c.by, Crawl: rigCrawl, Grants: grant}},
			} {
				if !c.fails && step != "Commit" {
					continue // it may have nothing to do
				}
				err := r.do(in.do, in.in)
				var app *temporal.ApplicationError
				refused := errors.As(err, &app) && app.Type() == ErrorInstance
				if refused != c.fails || refused && app.NonRetryable() != c.final {
					t.Errorf("%s: %v", step, err)
				}
				if refused && (!strings.Contains(err.Error(), c.by.Instance) || !strings.Contains(err.Error(), rigInstance)) {
					t.Errorf("%s does not say which folders: %v", step, err)
				}
			}
		})
	}
	for _, spread := range []bool{false, true} {
		r := newRig(t)
		var app *temporal.ApplicationError
		d := r.definition(func(d *crawl.Definition) { d.Spread = spread })
		_, err := call[BeginResult](r, r.Begin, BeginInput{Definition: d, Owner: "one", Holder: Holder{"w", other}})
		if !errors.As(err, &app) || app.Type() != ErrorInstance || app.NonRetryable() == spread || r.Frontier.Knows(rigCrawl) {
			t.Errorf("begin, spread %t: %v", spread, err)
		}
	}
}

// TestRouteOfAnotherFolder: a batch is committed and has links to deliver when its worker comes back with a new data folder. That one expects the run,
// which the archive names, and has not begun it: it does not say that nothing is left to deliver.
func TestRouteOfAnotherFolder(t *testing.T) {
	r := newRig(t)
	d := r.definition(func(d *crawl.Definition) { d.Spread = true })
	r.must(r.Frontier.Expect(frontier.Elsewhere{Definition: d, Run: 1, Bounds: []string{"a.example"}}))
	batch := BatchInput{Holder: Holder{"w", "fedcba9876543210"}, Crawl: rigCrawl, Batch: "a.example-1@w.1", Spread: true}
	left := DeliverInput{Crawl: rigCrawl, Batch: batch.Batch, Worker: "w", Run: 1, Partitions: []int{3}}
	out, err := call[UndeliveredResult](r, r.Route, RouteInput{batch, left})
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != ErrorInstance || app.NonRetryable() {
		t.Errorf("%+v, %v", out, err)
	}
}

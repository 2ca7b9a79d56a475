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

// configure changes overrides of the running crawl.
func (r *rig) configure(overrides string) {
	r.t.Helper()
	plan, err := r.Plan()
	r.must(err)
	d, err := plan.Definition.Changed([]byte("overrides: " + overrides))
	r.must(err)
	r.must(r.Configure(d, 0))
}

// claimed are the PLDs of a round's claims, in the order of the round.
func claimed(round Round) (list []string) {
	for _, c := range round.Claims {
		list = append(list, fmt.Sprintf("%s×%d", c.PLD, len(c.URLs)))
	}
	return list
}

// Budget, per_queue and weight of a PLD count in place of the crawl's, those of a running crawl at once, and after a restart.
func TestOverridesOfQueues(t *testing.T) {
	r := manyQueues(t, 4, 20, func(d *crawl.Definition) { d.Order.PerQueue = 5 })
	r.configure(`{plds: {h0.example: {per_queue: 2}, h1.example: {budget: 3}, h2.example: {weight: 0.5}, h3.example: {weight: 2}}}`)
	r.reopen()
	want := r.want()
	want.Claims = 1
	var order []string
	for range 4 {
		round, err := r.Claim(t.Context(), want)
		r.must(err)
		order = append(order, claimed(round)...)
		want.Round++
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "h3.example×5 ") || !strings.HasSuffix(got, " h2.example×5") || !strings.Contains(got, "h0.example×2") || !strings.Contains(got, "h1.example×3") {
		t.Errorf("claims of %s", got)
	}
}

// What a PLD has given counts for a budget that it gets later; after a budget is removed, the PLD is crawled again.
func TestOverriddenBudget(t *testing.T) {
	r := manyQueues(t, 2, 20, func(d *crawl.Definition) { d.Order.PerQueue = 4 })
	r.configure(`{plds: {h0.example: {budget: 6}}}`)
	if round := r.crawlOut(done); !round.Drained || r.status().Totals.Pages != 26 {
		t.Errorf("%d pages, %+v", r.status().Totals.Pages, round)
	}
	r.configure(`{plds: {h0.example: {budget: 9}}}`)
	if round := r.crawlOut(done); !round.Drained || r.status().Totals.Pages != 29 {
		t.Errorf("%d pages, %+v", r.status().Totals.Pages, round)
	}
	r.configure(`{plds: {h0.example: null}}`)
	if round := r.crawlOut(done); !round.Drained || r.status().Totals.Pages != 40 {
		t.Errorf("%d pages, %+v", r.status().Totals.Pages, round)
	}
}

// Nothing is claimed of a paused PLD, also not after a restart, and the crawl does not end meanwhile.
func TestPausedPLD(t *testing.T) {
	r := manyQueues(t, 2, 3, nil)
	r.configure(`{plds: {h0.example: {state: paused}}}`)
	r.submit("more", found(0.9, "http://h0.example/new", "http://h1.example/new")...)
	r.reopen()
	round := r.next()
	if got := claimed(round); !slices.Equal(got, []string{"h1.example×4"}) {
		t.Fatal(got)
	}
	batch := r.start(round.Claims[0])
	lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
	r.must(err)
	var outcomes []crawl.PageOutcome
	for _, u := range targets(lanes...) {
		outcomes = append(outcomes, done(u))
	}
	r.must(r.endLane(round.Claims[0].ID, r.clock.Now(), false))
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes}))
	r.confirm(r.next())
	if round := r.next(); round.Drained || len(round.Claims) > 0 {
		t.Fatalf("%+v", round)
	}
	u, err := urls.Parse("http://h0.example/new")
	r.must(err)
	if e, err := r.URLs().Explain(u); err != nil || e.Ordered != crawl.StatePaused || e.Waiting != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	r.configure(`{plds: {h0.example: {state: null}}}`)
	if round := r.crawlOut(done); !round.Drained || r.status().Totals.Pages != 8 {
		t.Errorf("%d pages, %+v", r.status().Totals.Pages, round)
	}
}

// The waiting URLs of a stopped PLD end with an outcome, which the archive gets, and so do those that are found later; what is in progress
// with a batch is fetched.
func TestStoppedPLD(t *testing.T) {
	r := manyQueues(t, 1, 2*endedAtOnce+50, func(d *crawl.Definition) { d.Order.PerQueue = 4 })
	c := r.one()
	batch := r.start(c)
	lanes, err := r.Batch(batch).Reopen([]Claim{c}, nil)
	r.must(err)
	r.configure(`{plds: {h0.example: {state: stopped}}}`)
	r.submit("late", found(0.9, "http://h0.example/late")...)
	var outcomes []crawl.PageOutcome
	for _, u := range targets(lanes...) {
		outcomes = append(outcomes, done(u))
	}
	r.must(r.endLane(c.ID, r.clock.Now().Add(time.Hour), false)) // its rest does not hold up the end
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes}))
	if round := r.crawlOut(done); !round.Drained {
		t.Errorf("%+v", round)
	}
	status := r.status()
	if status.Totals.Pages != 4 || status.Totals.Refused != 2*endedAtOnce+50-4+1 || status.Waiting != 0 {
		t.Errorf("%+v", status)
	}
	list, _, err := r.URLs().Unfetched(10 * endedAtOnce)
	r.must(err)
	if len(list) != int(status.Totals.Refused) || list[0].Reason != "an operator has stopped h0.example" || list[0].Kind != crawl.OutcomeRefused {
		t.Errorf("%d URLs, %+v", len(list), list[0])
	}
}

// Batches in progress learn of a change, and hosts whose delay grows rest for it: their last request may have been made just now.
func TestSteering(t *testing.T) {
	r := manyQueues(t, 2, 3, nil)
	before, err := r.Steering()
	r.must(err)
	r.configure(`{hosts: {h0.example: {min_delay: 10s}}, plds: {h1.example: {min_delay: 0s}}}`)
	select {
	case <-before.Changed:
	default:
		t.Error("a change is not announced")
	}
	after, err := r.Steering()
	r.must(err)
	if got := after.Definition.PolitenessFor("h0.example", "h0.example").MinDelay.D(); got != 10*time.Second || after.Aborted {
		t.Errorf("%+v", after)
	}
	if got := claimed(r.next()); !slices.Equal(got, []string{"h1.example×3"}) {
		t.Error(got)
	}
	r.clock.pass(10 * time.Second)
	if got := claimed(r.next()); !slices.Equal(got, []string{"h0.example×3"}) {
		t.Error(got)
	}
}

// An aborted run claims nothing more, also after a restart, and ends once nothing is in progress; the next run is another.
func TestAbort(t *testing.T) {
	r := manyQueues(t, 2, 3, nil)
	c := r.next().Claims
	batch := r.start(c...)
	steering, err := r.Steering()
	r.must(err)
	r.must(r.Abort())
	<-steering.Changed
	r.reopen()
	if steering, err = r.Steering(); err != nil || !steering.Aborted {
		t.Fatal(steering, err)
	}
	if round := r.next(); round.Spent != "" || len(round.Claims) > 0 {
		t.Fatalf("%+v", round)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	r.confirm(r.next())
	if round := r.next(); round.Spent != crawl.ReasonAborted {
		t.Fatalf("%+v", round)
	}
	r.must(r.End("owner"))
	r.must(r.begin("next", nil))
	if steering, err = r.Steering(); err != nil || steering.Aborted {
		t.Fatal(steering, err)
	}
	if got := r.next(); len(got.Claims) != 2 {
		t.Errorf("%+v", got)
	}
}

// A URL that is submitted as blacklisted is known as such at once, though a batch has it.
func TestBannedWhileClaimed(t *testing.T) {
	r := manyQueues(t, 1, 1, nil)
	r.start(r.one())
	u, err := urls.Parse("http://h0.example/0")
	r.must(err)
	for _, want := range []bool{false, true} {
		if got, err := r.URLs().Banned(u); err != nil || got != want {
			t.Errorf("banned: %v, want %v, %v", got, want, err)
		}
		_, err := r.URLs().Submit("ban", []Submission{{Discovery: crawl.Discovery{URL: u.String()}, Blacklisted: true}})
		r.must(err)
	}
}

// TestBannedWhileAskedFor: a page that is submitted as blacklisted after its request is in the archive when its batch ends. The totals count it once, whichever batches bring it, and it stays blacklisted.
func TestBannedWhileAskedFor(t *testing.T) {
	r := manyQueues(t, 1, 2, nil)
	batch, lanes := r.take()
	ban := func(url string) {
		_, err := r.URLs().Submit("ban "+url, []Submission{{Discovery: crawl.Discovery{URL: url}, Blacklisted: true}})
		r.must(err)
	}
	ban("http://h0.example/0")
	r.finish(batch, lanes)
	if s := r.status(); s.Totals.Pages != 2 || s.Totals.Requests != 2 {
		t.Errorf("%d pages, %d requests", s.Totals.Pages, s.Totals.Requests)
	}
	r.must(r.Commit(Commit{Batch: "stale", Outcomes: []crawl.PageOutcome{done("http://h0.example/0")}}))
	ban("http://h0.example/1")
	r.must(r.Commit(Commit{Batch: "another", Outcomes: []crawl.PageOutcome{done("http://h0.example/1")}}))
	r.reopen()
	if s, got := r.status(), r.states(); s.Totals.Pages != 2 || got["http://h0.example/0"] != "blacklisted" {
		t.Errorf("%d pages, %v", s.Totals.Pages, got)
	}
}

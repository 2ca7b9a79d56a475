package frontier

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/urls"
)

// why explains a URL, which must be one.
func (r *rig) why(url string) Explanation {
	r.t.Helper()
	u, err := urls.Parse(url)
	r.must(err)
	e, err := r.URLs().Explain(u)
	r.must(err)
	return e
}

// about reports whether two priorities are equal in the precision of sixteen bits.
func about(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

// states is a crawl with a URL in each state. Those of a.example wait, but two that are claimed.
func states(t *testing.T) (r *rig, again time.Time) {
	r = newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 2 })
	r.submit("seed", crawl.Discovery{URL: "http://seed.example/", Path: "S", Score: 1})
	batch, lanes := r.take()
	r.finish(batch, lanes)
	link := func(url string, score float64) crawl.Discovery {
		return crawl.Discovery{URL: url, Path: "SL", Via: "http://seed.example/", Score: score}
	}
	kinds := map[string]crawl.PageOutcome{
		"http://done.example/":       {Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 200}, Score: 0.5},
		"http://gone.example/":       {Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 404}, Score: -1},
		"http://unmodified.example/": {Outcome: crawl.Outcome{Kind: crawl.OutcomeUnmodified, Status: 304}, Score: -1},
		"http://delayed.example/":    {Outcome: crawl.Outcome{Kind: crawl.OutcomeRetry, Reason: "busy"}, Score: -1},
		"http://failed.example/":     {Outcome: crawl.Outcome{Kind: crawl.OutcomeFailed, Reason: "no answer"}, Score: -1},
		"http://robots.example/":     {Outcome: crawl.Outcome{Kind: crawl.OutcomeRobots}, Score: -1},
		"http://private.example/":    {Outcome: crawl.Outcome{Kind: crawl.OutcomeRefused}, Score: -1},
		"http://returned.example/":   {Outcome: crawl.Outcome{Kind: crawl.OutcomeReturned}, Score: -1},
	}
	var links []crawl.Discovery
	for url := range kinds {
		links = append(links, link(url, 0.25))
	}
	r.submit("links", links...)
	batch, lanes = r.take()
	again = r.clock.Now().Add(time.Minute)
	c := Commit{Batch: batch}
	for _, l := range lanes {
		r.must(r.endLane(l.ID, r.clock.Now(), l.PLD == "failed.example"))
	}
	for _, url := range targets(lanes...) {
		o := kinds[url]
		o.URL, o.After = url, again
		c.Outcomes = append(c.Outcomes, o)
	}
	r.must(r.Commit(c))
	r.submit("waiting",
		link("http://a.example/5", 0.5), link("http://a.example/9", 0.9), link("http://a.example/7", 0.7), link("http://a.example/7/later", 0.7), link("http://a.example/8", 0.8), link("http://a.example/0", 0))
	r.next()
	return r, again
}

// Each state is explained with the URL's position and the reason; a restart does not change the explanation.
func TestExplainStates(t *testing.T) {
	r, again := states(t)
	link := Explanation{Via: "http://seed.example/", Path: "SL", Run: 1, Links: 1, Strategy: crawl.StrategyFused, Update: crawl.UpdateMax}
	of := func(state URLState, pld string, score float64, edit func(e *Explanation)) Explanation {
		e := link
		e.State, e.PLD = state, pld
		e.First, e.Last, e.Mean, e.Max, e.Now = score, score, score, score, score
		if state == "waiting" || state == "claimed" {
			e.Priority = score
		}
		if edit != nil {
			edit(&e)
		}
		return e
	}
	queue := func(before int) func(e *Explanation) {
		return func(e *Explanation) { e.Before, e.Waiting, e.Busy = before, 6, true }
	}
	want := map[string]Explanation{
		"http://seed.example/":       of("done", "seed.example", 1, func(e *Explanation) { e.Via, e.Path = "", "S" }),
		"http://done.example/":       of("done", "done.example", 0.25, nil),
		"http://gone.example/":       of("done", "gone.example", 0.25, nil),
		"http://unmodified.example/": of("done", "unmodified.example", 0.25, nil),
		"http://delayed.example/": of("delayed", "delayed.example", 0.25, func(e *Explanation) {
			e.Attempts, e.Due = 1, again.Truncate(time.Second).Add(time.Second)
		}),
		"http://failed.example/":   of("failed", "failed.example", 0.25, func(e *Explanation) { e.Fails = 1 }),
		"http://robots.example/":   of("refused", "robots.example", 0.25, nil),
		"http://private.example/":  of("refused", "private.example", 0.25, nil),
		"http://returned.example/": of("claimed", "returned.example", 0.25, func(e *Explanation) { e.Waiting, e.Busy = 1, true }),

		"http://a.example/9":       of("claimed", "a.example", 0.9, queue(0)),
		"http://a.example/8":       of("claimed", "a.example", 0.8, queue(1)),
		"http://a.example/7":       of("waiting", "a.example", 0.7, queue(2)),
		"http://a.example/7/later": of("waiting", "a.example", 0.7, queue(3)), // as good, but found later
		"http://a.example/5":       of("waiting", "a.example", 0.5, queue(4)),
		"http://a.example/0":       of("waiting", "a.example", 0, queue(5)),

		"http://a.example/never":  {State: "unknown", PLD: "a.example", Strategy: link.Strategy, Update: link.Update, Waiting: 6, Busy: true},
		"http://nobody.example/x": {State: "unknown", PLD: "nobody.example", Strategy: link.Strategy, Update: link.Update},
	}
	for _, restart := range []bool{false, true} {
		if restart {
			r.reopen()
		}
		for url, want := range want {
			want.URL = url
			got := r.why(url)
			if got.Next.After(r.clock.Now()) {
				t.Errorf("restart %v: the queue of %s rests until %v", restart, url, got.Next)
			}
			if waits := got.Asking != nil; waits != want.Busy || waits && got.Asking.PLD != want.PLD { // no lease was granted
				t.Errorf("restart %v: %s: the claim that waits for its lease: %v", restart, url, got.Asking)
			}
			got.Next, got.Asking = time.Time{}, nil
			for _, f := range []struct{ got, want *float64 }{
				{&got.First, &want.First}, {&got.Last, &want.Last}, {&got.Mean, &want.Mean}, {&got.Max, &want.Max}, {&got.Now, &want.Now}, {&got.Priority, &want.Priority},
			} {
				if about(*f.got, *f.want) {
					*f.got = *f.want
				}
			}
			a, errA := json.Marshal(got)
			b, errB := json.Marshal(want)
			if err := errors.Join(errA, errB); err != nil || string(a) != string(b) {
				t.Errorf("restart %v: %s, want\n%s (%v)", restart, a, b, err)
			}
		}
	}
}

// A URL goes from state to state, and those behind it move up.
func TestExplainGoesAlong(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
	r.submit("s", slices.Concat(found(0.9, "http://a.example/first"), found(0.5, "http://a.example/second"))...)
	expect := func(first, second URLState, before, waiting int) {
		t.Helper()
		a, b := r.why("http://a.example/first"), r.why("http://a.example/second")
		if a.State != first || b.State != second || b.Before != before || b.Waiting != waiting {
			t.Errorf("%s and %s with %d of %d before it, want %s and %s with %d of %d", a.State, b.State, b.Before, b.Waiting, first, second, before, waiting)
		}
	}
	expect("waiting", "waiting", 1, 2)
	batch, _ := r.take()
	expect("claimed", "waiting", 1, 2)
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	expect("waiting", "waiting", 1, 2)
	batch, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, r.clock.Now(), false))
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: "http://a.example/first", Kind: crawl.OutcomeRetry, After: r.clock.Now().Add(time.Minute)}}}}))
	expect("delayed", "waiting", 0, 1)
	batch, lanes = r.take()
	expect("delayed", "claimed", 0, 1)
	r.finish(batch, lanes)
	expect("delayed", "done", 0, 0)
	r.clock.pass(2 * time.Minute)
	batch, lanes = r.take()
	expect("claimed", "done", 0, 1)
	if e := r.why("http://a.example/first"); e.Attempts != 1 || !e.Due.IsZero() {
		t.Errorf("after a retry: %+v", e)
	}
	r.finish(batch, lanes)
	expect("done", "done", 0, 0)
	if e := r.why("http://a.example/first"); e.Attempts != 0 {
		t.Errorf("done after %d attempts", e.Attempts)
	}
}

// The queue is explained with the URL: when it may be claimed from, and whether its PLD has pages left.
func TestExplainQueue(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.PerPLD, d.Order.PerQueue = 2, 1 })
	r.submit("s", found(0.5, "http://a.example/1", "http://a.example/2", "http://a.example/3")...)
	batch, lanes := r.take()
	next := r.clock.Now().Add(time.Minute).Truncate(time.Millisecond)
	r.must(r.endLane(lanes[0].ID, next, true))
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/1")}}))
	e := r.why("http://a.example/3")
	if !e.Next.Equal(next) || e.Fails != 1 || e.Busy || e.Spent || e.Before != 1 || e.Waiting != 2 {
		t.Errorf("of a queue that rests until %v: %+v", next, e)
	}
	r.clock.pass(2 * time.Minute)
	batch, _ = r.take()
	rest := r.clock.Now().Add(time.Hour).Truncate(time.Millisecond)
	r.must(r.Batch(batch).GiveBack(rest))
	if e = r.why("http://a.example/3"); !e.Next.Equal(rest) || e.Busy {
		t.Errorf("after a batch that failed the queue rests until %v, want %v; busy %v", e.Next, rest, e.Busy)
	}
	r.clock.pass(2 * time.Hour)
	batch, lanes = r.take()
	r.finish(batch, lanes)
	for range 2 {
		if e = r.why("http://a.example/3"); !e.Spent || e.State != "waiting" || e.Before != 0 {
			t.Errorf("of a PLD whose pages are spent: %+v", e)
		}
		r.reopen()
	}
}

// The scores of all links that were offered together are shown, and the priority that they make by each update function.
func TestExplainScores(t *testing.T) {
	for update, want := range map[string]float64{
		crawl.UpdateFirst: 0.5, crawl.UpdateLast: 0.4, crawl.UpdateAvg: 0.4, crawl.UpdateMax: 0.5, crawl.UpdateSum: 1.2 / 2.2,
	} {
		for _, apart := range []bool{false, true} {
			r := newRig(t, func(d *crawl.Definition) { d.Order.Update = update })
			const url = "http://a.example/"
			links := slices.Concat(found(0.5, url), found(0.3, url), found(0.4, url))
			if apart {
				for i, l := range links {
					r.submit(fmt.Sprint("s", i), l)
				}
			} else {
				r.submit("s", links...)
			}
			e := r.why(url)
			if e.Update != update || !about(e.Priority, want) || !about(e.Now, want) || !about(e.First, 0.5) || !about(e.Max, 0.5) {
				t.Errorf("%s, apart %v: %+v, want the priority %v", update, apart, e, want)
			}
			if apart && lazy(update) {
				continue // a score that does not change the position is not always written
			}
			if e.Links != 3 || !about(e.Last, 0.4) || !about(e.Mean, 0.4) {
				t.Errorf("%s, apart %v: %d links, the last %v, mean %v", update, apart, e.Links, e.Last, e.Mean)
			}
		}
	}
}

// The parts are those of the link that counts.
func TestExplainParts(t *testing.T) {
	low, high := crawl.Parts{{Name: "document", Score: 1}, {Name: "anchor", Score: 0}}, crawl.Parts{{Name: "anchor", Score: 0.8}, {Name: "helper", Score: 0.2}, {Name: "nobody knows", Score: 1}}
	for update, want := range map[string]string{
		crawl.UpdateMax: `{"anchor":0.8,"helper":0.2}`, crawl.UpdateFirst: `{"document":1,"anchor":0}`, crawl.UpdateLast: `{"anchor":0.8,"helper":0.2}`,
	} {
		r := newRig(t, func(d *crawl.Definition) { d.Order.Update = update })
		r.submit("1", crawl.Discovery{URL: "http://a.example/", Path: "SL", Score: 0.2, Parts: low.Encode()})
		r.submit("2", crawl.Discovery{URL: "http://a.example/", Path: "SL", Score: 0.6, Parts: high.Encode()})
		r.reopen()
		for range 2 {
			if got, err := r.why("http://a.example/").Parts.MarshalJSON(); err != nil || string(got) != want {
				t.Errorf("%s: %s, %v, want %s", update, got, err, want)
			}
			batch, lanes := r.take() // what is done can still be explained
			if batch != "" {
				r.finish(batch, lanes)
			}
		}
		if e := r.why("http://a.example/"); e.State != "done" || len(e.Weights) > 0 {
			t.Errorf("%s: %+v", update, e)
		}
	}
}

// For an order that learns, the weights are shown, and the present priority of a URL as well as the one when it was queued.
func TestExplainLearned(t *testing.T) {
	k := &kinds{rig: newRig(t, ofRavens)}
	k.must(k.Learning().Teach(nil, examples(5)))
	links := k.links("a.example", 3, "birds", "soups")
	k.submit("links", links...)
	keep := map[string][]byte{}
	for _, l := range links {
		keep[l.URL] = l.LinkFeatures
	}
	sums := func(list []order.Weight) (relevance, promise float64) { // as chances
		for _, w := range list {
			relevance += w.Value
			promise += w.Promise
		}
		return 1 / (1 + math.Exp(-relevance)), 1 / (1 + math.Exp(-promise))
	}
	check := func(url string) Explanation {
		t.Helper()
		e := k.why(url)
		if now := k.Learning().Order().Priority(keep[url]); !about(e.Now, now) {
			t.Errorf("%s is worth %v now, the learner says %v", url, e.Now, now)
		}
		relevance, promise := sums(e.Weights)
		if expect := k.Learning().Order().Expect(keep[url]); math.Abs(relevance-expect) > 1e-6 {
			t.Errorf("by its weights %s is of the topic with %v, the learner expects %v", url, relevance, expect)
		}
		const part = 0.5 // of promise, with five examples
		if !about(e.Now, (relevance+part*promise)/(1+part)) {
			t.Errorf("%s is worth %v, by its weights %v and %v", url, e.Now, relevance, promise)
		}
		for _, name := range []string{"bias", "parent", "place"} {
			if !slices.ContainsFunc(e.Weights, func(w order.Weight) bool { return strings.HasPrefix(w.Name, name) }) {
				t.Errorf("%s has no weight of %q: %+v", url, name, e.Weights)
			}
		}
		if len(e.Estimators) < 2 || e.Estimators[0].Name != order.ByScore {
			t.Errorf("%s: pages are taken for relevant by %v", url, e.Estimators)
		}
		return e
	}
	const bird, soup = "http://a.example/birds/0001.html", "http://a.example/soups/0001.html"
	for _, url := range []string{bird, soup} {
		if e := check(url); !about(e.Priority, e.Now) || e.Strategy != crawl.StrategyFused {
			t.Errorf("before anything was learned: %+v", e)
		}
	}
	before := check(bird)
	k.teach(40, "birds", 1)
	k.teach(40, "soups", 0)
	liked, disliked := check(bird), check(soup)
	if liked.Priority != before.Priority || liked.Now <= liked.Priority+0.02 || disliked.Now >= disliked.Priority-0.02 {
		t.Errorf("a bird was worth %v and is %v, a soup %v and %v", liked.Priority, liked.Now, disliked.Priority, disliked.Now)
	}
	k.reopen()
	if e := check(bird); !about(e.Now, liked.Now) {
		t.Errorf("%v after a restart, %v before", e.Now, liked.Now)
	}
	d := definition(ofRavens)
	d.Order.Strategy = crawl.StrategyWeighted
	k.must(k.Configure(d, 0))
	if e := k.why(bird); len(e.Weights) > 0 || e.Strategy != crawl.StrategyWeighted || e.Priority != liked.Priority {
		t.Errorf("by an order that does not learn: %+v", e)
	}
}

// What was learned of a link's place counts at present, not as it was when the link was queued.
func TestExplainPlace(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Topic.Keywords, d.Order.Strategy, d.Order.PerQueue = []string{"raven"}, crawl.StrategyPlaces, 5
	})
	var links []crawl.Discovery
	for i := range 10 {
		links = append(links, crawl.Discovery{URL: fmt.Sprintf("http://a.example/%d", i), Via: "http://a.example/", Path: "SL", Score: 0.3, TagPath: "html/body/h2/a"})
	}
	r.submit("links", links...)
	before := r.why("http://a.example/9")
	if !about(before.Priority, before.Now) {
		t.Errorf("%+v", before)
	}
	batch, lanes := r.take()
	c := Commit{Batch: batch}
	for _, url := range targets(lanes...) {
		c.Outcomes = append(c.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200}, Score: 1})
	}
	r.must(r.Commit(c))
	if after := r.why("http://a.example/9"); after.Priority != before.Priority || after.Now <= before.Now+0.01 {
		t.Errorf("it was worth %v and is %v, after good pages of its place", before.Now, after.Now)
	}
}

// A URL of an earlier run is explained with that run until it is met again.
func TestExplainNextRun(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(0.5, "http://a.example/1", "http://a.example/2")...)
	batch, lanes := r.take()
	r.finish(batch, lanes)
	r.nextRun("next", nil)
	r.submit("t", found(0.25, "http://a.example/2")...)
	if a, b := r.why("http://a.example/1"), r.why("http://a.example/2"); a.Run != 1 || a.State != "done" || b.Run != 2 || b.State != "waiting" || !about(b.Max, 0.25) || b.Links != 1 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestExplainNothing(t *testing.T) {
	r := newRig(t, nil)
	u, err := urls.Parse("http://a.example/")
	r.must(err)
	if _, err := r.Frontier.Crawl("no such crawl").URLs().Explain(u); !errors.Is(err, ErrNoCrawl) {
		t.Errorf("%v", err)
	}
	r.must(r.Close())
	if _, err := r.URLs().Explain(u); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	r.open()
}

// Explanations are given while the crawl runs, whatever changes meanwhile.
func TestExplainBesideCommits(t *testing.T) {
	c := listCommits(10, 10)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	over := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := i; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				u, err := urls.Parse(c.commits[n%10].Outcomes[n%7].URL)
				if err == nil {
					_, err = r.URLs().Explain(u)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	other := definition(ofRavens)
	other.Order.Strategy = crawl.StrategyWeighted
	for i, commit := range c.commits {
		r.must(r.Commit(commit))
		r.must(r.Configure([]crawl.Definition{other, definition(ofRavens)}[i%2], 0))
	}
	close(over)
	wg.Wait()
}

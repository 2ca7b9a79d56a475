package frontier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// TestTopicOfPlan: a topic model is decoded once for all plans, until another is learned. A model that cannot be read is an error
// only for its crawl.
func TestTopicOfPlan(t *testing.T) {
	r := newRig(t, nil)
	model := func() (*topic.Model, error) {
		plan, err := r.Plan()
		r.must(err)
		return plan.Topic()
	}
	if m, err := model(); m != nil || err != nil {
		t.Fatalf("before anything was learned: %+v, %v", m, err)
	}
	r.must(r.Learning().Teach(&topic.Model{Pages: 7}, nil))
	first, err := model()
	if err != nil || first == nil || first.Pages != 7 {
		t.Fatalf("%+v, %v", first, err)
	}
	r.must(r.Configure(definition(func(d *crawl.Definition) { d.Order.PerQueue = 3 }), 0))
	if m, err := model(); m != first || err != nil {
		t.Errorf("it was decoded again: %+v, %v", m, err)
	}
	r.must(r.Learning().Teach(&topic.Model{Pages: 8}, nil))
	if m, err := model(); err != nil || m.Pages != 8 {
		t.Errorf("the former model is in force: %+v, %v", m, err)
	}
	r.must(r.Crawl.change(func(rec *crawlRecord) { rec.TopicModel, rec.planned = []byte("no model"), true }))
	r.reopen()
	if m, err := model(); m != nil || err == nil {
		t.Errorf("what cannot be read: %+v, %v", m, err)
	}
}

func TestBegin(t *testing.T) {
	r := newRig(t, nil)
	d := definition(nil)
	if run, err := r.Begin(testCrawl, "owner", 0, d, seedsOf(d), false); err != nil || run != 1 {
		t.Fatalf("the owner continues: run %d, %v", run, err)
	}
	if _, err := r.Begin(testCrawl, "other", 0, d, seedsOf(d), false); !errors.Is(err, ErrBusy) {
		t.Fatalf("%v", err)
	}
	r.submit("s", found(1, "http://a.example/1", "http://a.example/2")...)
	batch, lanes := r.take()
	if run, err := r.Begin(testCrawl, "other", 0, d, seedsOf(d), true); err != nil || run != 1 {
		t.Fatalf("taken over: run %d, %v", run, err)
	}
	r.reopen()
	r.finish(batch, lanes) // running batches continue under the new owner
	if s := r.status(); s.Totals.Pages != 2 || !s.Active {
		t.Fatalf("%+v", s)
	}
	r.must(r.End("owner")) // not its own any more
	if !r.status().Active {
		t.Fatal("ended by one that does not own it")
	}
	r.must(r.End("other"))
	r.must(r.Frontier.Crawl("no such crawl").End("other"))
	if r.status().Active {
		t.Fatal("not ended")
	}
	if _, err := r.Frontier.Crawl("no such crawl").Status(); !errors.Is(err, ErrNoCrawl) {
		t.Fatalf("%v", err)
	}
}

// TestNumberedRuns: a run has the number that its crawl gives it. The one in progress is continued under its own number alone, and no number is
// given twice.
func TestNumberedRuns(t *testing.T) {
	r := newRig(t, nil) // run 1 of "owner"
	d := definition(nil)
	for _, c := range []struct {
		what     string
		owner    string
		number   uint32
		takeOver bool
		end      bool // before
		want     uint32
		err      error
	}{
		{what: "its own", owner: "owner", number: 1, want: 1},
		{what: "another's", owner: "other", number: 1, err: ErrBusy},
		{what: "another's, a later one", owner: "other", number: 2, err: ErrBusy},
		{what: "one that was cut off", owner: "other", number: 1, takeOver: true, want: 1},
		{what: "a later one, for this frontier was left behind", owner: "third", number: 4, takeOver: true, want: 4},
		{what: "again", owner: "third", number: 4, want: 4},
		{what: "a later one of the same owner, which was reset when it had ended", owner: "third", number: 5, want: 5},
		{what: "the one that it was reset from", owner: "third", number: 4, err: ErrOldRun},
		{what: "an earlier one of the same owner", owner: "third", number: 3, takeOver: true, err: ErrOldRun},
		{what: "an earlier one", owner: "other", number: 2, takeOver: true, err: ErrOldRun},
		{what: "one that has ended", owner: "fourth", number: 5, end: true, err: ErrOldRun},
		{what: "the next one", owner: "fourth", number: 6, want: 6},
		{what: "the frontier counts", owner: "fifth", end: true, want: 7},
	} {
		if c.end {
			s, err := r.Status()
			r.must(err)
			plan, err := r.Plan()
			r.must(err)
			if !s.Active || !plan.Active {
				t.Errorf("%s: the run before is not in progress", c.what)
			}
			r.must(r.End(plan.Owner))
		}
		run, err := r.Begin(testCrawl, c.owner, c.number, d, seedsOf(d), c.takeOver)
		if run != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: run %d, %v; want %d, %v", c.what, run, err, c.want, c.err)
		}
	}
}

// TestSpreadIsForAllRuns: the first run of a crawl decides whether one worker has it, also if this frontier knows that run by an import alone.
func TestSpreadIsForAllRuns(t *testing.T) {
	for _, c := range []struct {
		what            string
		imported        bool
		former, is, may bool
	}{
		{what: "bound", may: true},
		{what: "spread", former: true, is: true, may: true},
		{what: "bound, then spread", is: true},
		{what: "spread, then bound", former: true},
		{what: "imported as spread", imported: true, former: true, is: true, may: true},
		{what: "imported as spread, then bound", imported: true, former: true},
		{what: "imported as bound, then spread", imported: true, is: true},
	} {
		r := newRig(t, nil)
		d := definition(nil)
		d.Name, d.Spread = "spread", c.former
		_, err := r.Begin(d.Name, "owner", 0, d, nil, false)
		r.must(err)
		r.must(r.Frontier.Crawl(d.Name).End("owner"))
		to := r
		if c.imported {
			to = newRig(t, nil)
			_, err := to.Import(0, AllCrawls, func(yield func(PartitionEntry, error) bool) {
				yield(PartitionEntry{Crawl: &PartitionCrawl{Name: d.Name, Run: 1, Spread: c.former}, Kind: byte(store.Queues), Key: make([]byte, 8), Value: []byte{0xa0}}, nil)
			})
			r.must(err)
		}
		to.reopen()
		if d.Spread = c.is; to.Spread(d.Name) != c.former {
			t.Errorf("%s: spread is %t before the next run", c.what, !c.former)
		}
		_, err = to.Begin(d.Name, "other", 2, d, nil, false)
		var input *crawl.InputError
		if (err == nil) != c.may || err != nil && !errors.As(err, &input) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// Crawls that begin at the same time for the first time get different IDs.
func TestBeginTogether(t *testing.T) {
	r := newRig(t, nil)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			name := fmt.Sprintf("crawl-%d", i%6)
			d := definition(func(d *crawl.Definition) { d.Name = name })
			if _, err := r.Begin(name, fmt.Sprintf("owner of %d", i%6), 0, d, seedsOf(d), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 6 {
		r.must(r.Frontier.Crawl(fmt.Sprintf("crawl-%d", i)).URLs().Offer("s", found(1, fmt.Sprintf("http://only-in-%d.example/", i))))
	}
	r.reopen()
	for i := range 6 {
		var all []string
		r.must(r.Frontier.Crawl(fmt.Sprintf("crawl-%d", i)).URLs().Known(func(url, _ string) error {
			all = append(all, url)
			return nil
		}))
		if !slices.Equal(all, []string{fmt.Sprintf("http://only-in-%d.example/", i)}) {
			t.Errorf("crawl %d knows %q", i, all)
		}
	}
}

func TestRecrawl(t *testing.T) {
	r := newRig(t, nil)
	const page, other, late = "http://a.example/", "http://a.example/other", "http://b.example/"
	r.submit("run-1", found(1, page, other, late)...)
	visit := crawl.Visit{ETag: "\"1\"", LastModified: "yesterday", Digest: "sha1:AAAA", URL: page, Date: r.clock.Now().Truncate(time.Second)}
	round := r.next()
	batch := r.start(round.Claims...)
	o := done(page)
	o.Visit = visit
	r.must(r.Commit(Commit{
		Batch: batch, Outcomes: []crawl.PageOutcome{o, done(other), {Outcome: crawl.Outcome{URL: late, Kind: crawl.OutcomeReturned}}},
		Originals: map[string]crawl.Visit{"sha1:AAAA": visit}, Sample: []byte("sample of run 1"),
	}))
	r.must(r.Learning().Teach(&topic.Model{Pages: 7}, nil))
	r.must(r.End("owner"))
	r.clock.pass(24 * time.Hour)
	r.must(r.begin("second owner", nil))
	r.reopen()
	if s := r.status(); s.Run != 2 || s.Totals != (Totals{}) || len(s.Top) != 0 || !s.Started.Equal(r.clock.Now()) {
		t.Fatalf("%+v", s)
	}
	plan, err := r.Plan()
	r.must(err)
	if model, err := plan.Topic(); model != nil || err != nil {
		t.Fatalf("of the run before: %+v, %v", model, err)
	}
	r.must(r.Learning().Samples(func(raw []byte) error { return fmt.Errorf("a sample of the run before: %s", raw) }))
	if v, ok := r.URLs().Original(0, page, "sha1:AAAA"); !ok || v != visit {
		t.Fatalf("%+v, %v", v, ok)
	}
	// what waited still waits, and can be finished; what was done does not come back by itself
	batch, lanes := r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{late}) {
		t.Fatalf("%q", got)
	}
	r.finish(batch, lanes)
	if s := r.status(); s.Waiting != 0 || s.Totals.Pages != 1 || s.Claimed != 0 {
		t.Fatalf("%+v", s)
	}
	r.submit("run-2", found(0.5, page)...)
	r.submit("run-2 again", found(0.5, page, late)...)
	batch, lanes = r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{page}) {
		t.Fatalf("%q", got)
	}
	if got := lanes[0].Targets[0].Previous; got != visit {
		t.Fatalf("validators %+v, not %+v", got, visit)
	}
	r.finish(batch, lanes)
	r.confirm(r.next())
	if got := r.next(); !got.Drained || r.status().Totals.Pages != 2 || r.status().Totals.Known != 2 {
		t.Fatalf("%+v, %+v", got, r.status())
	}
}

// A URL that waited for its retry when the run ended is retried in the next, once.
func TestRecrawlWithDelayed(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, _ := r.take()
	again := r.clock.Now().Add(time.Minute)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{
		{Outcome: crawl.Outcome{URL: "http://a.example/0", Kind: crawl.OutcomeRetry, After: again}}, {Outcome: crawl.Outcome{URL: "http://a.example/1", Kind: crawl.OutcomeRetry, After: again}},
	}}))
	r.must(r.End("owner"))
	r.must(r.begin("next", nil))
	r.submit("offered", found(1, "http://a.example/1")...) // fresh in this run: no need to wait
	batch, lanes := r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/1"}) {
		t.Fatalf("%q", got)
	}
	later := r.clock.Now().Add(time.Hour)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: "http://a.example/1", Kind: crawl.OutcomeRetry, After: later}}}}))
	r.clock.pass(2 * time.Minute)
	for range 3 {
		batch, lanes = r.take()
		if got := targets(lanes...); len(got) > 0 && !slices.Equal(got, []string{"http://a.example/0"}) {
			t.Fatalf("%q: the delay of the run before counts", got)
		}
		if batch != "" {
			r.finish(batch, lanes)
		}
	}
	if s := r.status(); s.Totals.Pages != 1 || s.Delayed != 1 || s.Waiting != 0 {
		t.Fatalf("%+v", s)
	}
}

// Everything of a plan outlasts a restart.
func TestPlanIsKept(t *testing.T) {
	pages := int64(12)
	edit := func(d *crawl.Definition) {
		d.Topic = crawl.Topic{Keywords: []string{"raven"}, Entities: []crawl.Entity{{Name: "Odin", Type: "person", Aliases: []string{"Wotan"}}}, Threshold: 0.25}
		d.Scope.Include, d.Scope.MaxHops = []string{"surt:org,example,)/"}, 3
		d.Reference.Pages, d.Budget.Time = &pages, crawl.Duration(90*time.Minute)
		d.Seeds = append(d.Seeds, crawl.Seed{Sitemap: "http://a.example/sitemap.xml"})
	}
	r := newRig(t, edit)
	r.must(r.Learning().Teach(&topic.Model{Pages: 7, Terms: []text.Term{{Text: "raven", Weight: 0.5}}}, nil))
	before, err := r.Plan()
	r.must(err)
	r.reopen()
	after, err := r.Plan()
	r.must(err)
	a, errA := json.Marshal(before)
	b, errB := json.Marshal(after)
	taught, errBefore := before.Topic()
	kept, errAfter := after.Topic()
	r.must(errors.Join(errA, errB, errBefore, errAfter))
	if string(a) != string(b) || taught.Pages != 7 || !reflect.DeepEqual(taught, kept) {
		t.Errorf("%s, %+v\nbecame\n%s, %+v", a, taught, b, kept)
	}
}

// A plan is written once, with the bounds of its scope. The record that is written with each batch does not contain it, and does not
// lose it.
func TestPlanOutlastsCommits(t *testing.T) {
	within := func(d *crawl.Definition) {
		d.Scope.Within, d.Order.PerQueue = crawl.WithinHost, 7
		d.Seeds = []crawl.Seed{{URL: "http://a.example/"}, {URL: "http://www.ravens.org/nest"}}
	}
	r := newRig(t, within)
	other := definition(within)
	other.Name, other.Order.PerQueue = "other", 9
	_, err := r.Begin("other", "its owner", 0, other, []string{"http://crows.org/"}, false)
	r.must(err)
	for i := range 3 {
		page := fmt.Sprintf("http://www.ravens.org/%d", i)
		r.submit(fmt.Sprint("s", i), found(1, page, "http://crows.org/", "http://ravens.org/")...)
		r.must(r.Frontier.Crawl("other").URLs().Offer(fmt.Sprint("s", i), found(1, page, "http://crows.org/")))
		batch, lanes := r.take()
		r.finish(batch, lanes)
		r.confirm(r.next())
		r.must(r.Phase(int64(100+i), false))
		r.must(r.Learning().Teach(&topic.Model{Pages: i}, nil))
		r.must(r.begin("owner", nil)) // the owner continues with the plan that it began with
		r.reopen()
		r.must(r.store.View(func(txn store.Reader) error {
			_, err := txn.Get(store.Crawl(testCrawl), func(raw []byte) error {
				if bytes.Contains(raw, []byte("a.example")) { // a bound, and no page of it is known
					t.Errorf("what is written with each batch holds the plan: %q", raw)
				}
				return nil
			})
			return err
		}))
	}
	for name, want := range map[string]crawl.Definition{testCrawl: definition(within), "other": other} {
		plan, err := r.Frontier.Crawl(name).Plan()
		r.must(err)
		got, errGot := json.Marshal(plan.Definition)
		wanted, errWant := json.Marshal(want)
		r.must(errors.Join(errGot, errWant))
		if !bytes.Equal(got, wanted) {
			t.Errorf("the plan of %s: %s, not %s", name, got, wanted)
		}
	}
	if got := r.crawls[testCrawl].Bounds; !slices.Equal(got, []string{"a.example", "www.ravens.org"}) {
		t.Errorf("bounds %q", got)
	}
	if got := r.crawls["other"].Bounds; !slices.Equal(got, []string{"crows.org"}) {
		t.Errorf("bounds %q", got)
	}
	if got := r.states(); len(got) != 3 || got["http://www.ravens.org/2"] != "done" {
		t.Errorf("%v", got)
	}
	r.must(r.Frontier.Crawl("other").URLs().Known(func(url, _ string) error {
		if url != "http://crows.org/" {
			t.Errorf("the other crawl knows %s", url)
		}
		return nil
	}))
}

// A run with another plan uses it, also after a restart.
func TestPlanIsReplaced(t *testing.T) {
	terms := func(host string) func(*crawl.Definition) {
		return func(d *crawl.Definition) {
			d.Scope.Within, d.Seeds = crawl.WithinHost, []crawl.Seed{{URL: "http://" + host + "/"}}
		}
	}
	r := newRig(t, terms("a.example"))
	r.must(r.End("owner"))
	r.must(r.begin("next", terms("b.example")))
	r.submit("before", found(1, "http://a.example/1", "http://b.example/1")...)
	r.reopen()
	r.submit("after", found(1, "http://a.example/2", "http://b.example/2")...)
	if got := r.states(); len(got) != 2 || got["http://b.example/1"] == "" || got["http://b.example/2"] == "" {
		t.Errorf("%v", got)
	}
}

// Seeds on more hosts than can bound a scope are refused, with an error that says what to do.
func TestTooManyBounds(t *testing.T) {
	seeds := make([]string, MaxBounds+1)
	for i := range seeds {
		seeds[i] = fmt.Sprintf("http://h%d.ravens.org/", i)
	}
	r := newRig(t, nil)
	within := func(bound string) crawl.Definition {
		return definition(func(d *crawl.Definition) { d.Name, d.Scope.Within = "many", bound })
	}
	_, err := r.Begin("many", "owner", 0, within(crawl.WithinHost), seeds, false)
	if !errors.Is(err, ErrTooMany) || !strings.Contains(err.Error(), "scope.within") || !strings.Contains(err.Error(), fmt.Sprint(MaxBounds+1)) {
		t.Fatalf("%v", err)
	}
	if _, err := r.Frontier.Crawl("many").Plan(); !errors.Is(err, ErrNoCrawl) {
		t.Fatalf("refused, but begun: %v", err)
	}
	for _, bound := range []string{crawl.WithinPLD, crawl.WithinWeb} { // one PLD, and no bound
		if _, err := r.Begin("many", "owner", 0, within(bound), seeds, true); err != nil {
			t.Fatalf("within %s: %v", bound, err)
		}
		if got := len(r.crawls["many"].Bounds); got > 1 {
			t.Fatalf("%d bounds within %s", got, bound)
		}
	}
}

// A call while the frontier closes returns.
func TestClose(t *testing.T) {
	r := oneQueue(t, 1, nil)
	out := make(chan error, 64)
	for i := range cap(out) / 2 {
		go func() {
			out <- r.URLs().Offer(fmt.Sprint("x", i), found(1, fmt.Sprintf("http://x%d.example/", i)))
		}()
		go func() {
			w := Want{Round: int64(1000 + i), Claims: 1, Lanes: 1000, Until: r.clock.Now().Add(time.Hour), Linger: time.Hour,
				Resolve: func(context.Context, string) (string, error) { return "192.0.2.1", nil }}
			_, err := r.Claim(context.Background(), w)
			out <- err
		}()
	}
	r.must(r.Close())
	for range cap(out) {
		select {
		case err := <-out:
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("a call has no answer two minutes after the frontier was closed")
		}
	}
	if err := r.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if err := r.URLs().Offer("y", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	r.open()
}

// A recrawl that is cut off and tried again offers every URL that earlier runs have crawled.
func TestRecrawlTriedAgain(t *testing.T) {
	const pages = recrawlPart + 100
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = pages })
	var list []crawl.Discovery
	for i := range pages {
		list = append(list, found(0.5, fmt.Sprintf("http://a.example/%d", i))...)
	}
	r.submit("s", list...)
	batch, lanes := r.take()
	r.finish(batch, lanes)
	r.confirm(r.next())
	r.must(r.End("owner"))
	r.must(r.begin("next", nil))
	// the first try got as far as one part
	var first []crawl.Discovery
	r.must(r.store.View(func(txn store.Reader) error {
		return txn.Scan(r.crawls[testCrawl].keys.All(store.Records), nil, func(_ store.Key, value []byte) (bool, error) {
			rec, err := record.Decode(value)
			first = append(first, crawl.Discovery{URL: rec.URL, Path: rec.Path, Score: 0.5})
			return len(first) < recrawlPart, err
		})
	}))
	r.submit("again/1", first...)
	for range 2 {
		r.must(r.URLs().Recrawl("again"))
		if s := r.status(); s.Waiting != pages || s.Totals.Known != pages {
			t.Fatalf("%+v", s)
		}
	}
}

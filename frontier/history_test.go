package frontier

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// pages commits a batch of pages of a new host: some relevant, some without a score, and some errors.
func (r *rig) pages(relevant, irrelevant, unscored, errors int) {
	r.t.Helper()
	r.batch++
	c := Commit{Batch: fmt.Sprint("pages ", r.batch)}
	var links []crawl.Discovery
	for i := range relevant + irrelevant + unscored + errors {
		o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: fmt.Sprintf("http://h%d.example/%d", r.batch, i), Kind: crawl.OutcomeDone, Status: 200, Bytes: 10}, Score: 1}
		switch {
		case i >= relevant+irrelevant+unscored:
			o.Status, o.Score = 404, -1
		case i >= relevant+irrelevant:
			o.Score = -1
		case i >= relevant:
			o.Score = 0
		}
		links, c.Outcomes = append(links, found(0.5, o.URL)...), append(c.Outcomes, o)
	}
	r.submit(fmt.Sprint("links ", r.batch), links...)
	r.must(r.Commit(c))
}

// hasty does not wait for the disk.
func hasty(t *testing.T, edit func(*crawl.Definition)) *rig {
	r := newRig(t, edit)
	r.hurry()
	return r
}

func (r *rig) hurry() {
	r.t.Helper()
	r.must(r.Close())
	f, err := Open(r.dir, Options{Now: r.clock.Now, NoSync: true, Table: r.table})
	r.must(err)
	r.Frontier, r.Crawl = f, f.Crawl(testCrawl)
}

func sameHistory(a, b []Point) bool {
	return slices.EqualFunc(a, b, func(p, q Point) bool {
		at := p.At.Equal(q.At)
		p.At = q.At
		return at && p == q
	})
}

// Each batch that has brought pages leaves a point, which sums up the run so far.
func TestHistory(t *testing.T) {
	r := newRig(t, nil)
	if s := r.status(); len(s.History) > 0 {
		t.Errorf("before the first batch: %+v", s.History)
	}
	start := r.clock.Now()
	r.clock.pass(time.Minute)
	r.pages(1, 2, 0, 0)
	r.clock.pass(time.Minute + 250*time.Microsecond)
	r.pages(2, 0, 1, 3)
	r.clock.pass(time.Minute)
	r.pages(0, 0, 0, 2) // no page
	r.pages(0, 1, 0, 0)
	want := []Point{
		{start.Add(time.Minute), 3, 3, 1, 30, 0},
		{start.Add(2 * time.Minute), 6, 5, 3, 90, 3},
		{start.Add(3 * time.Minute), 7, 6, 3, 120, 5},
	}
	for range 2 {
		if got := r.status().History; !sameHistory(got, want) {
			t.Errorf("%+v, want\n%+v", got, want)
		}
		r.reopen()
	}
	raw, err := json.Marshal(r.status().History[0])
	if want := `{"at":"2026-01-02T03:05:05.6Z","pages":3,"scored":3,"relevant":1,"bytes":30,"errors":0}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
}

// However long the run is, there are few points, at equal distances; the first is near the start, the last near the end. A restart
// changes nothing.
func TestHistoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about size, not about goroutines")
	}
	still, restless := hasty(t, nil), hasty(t, nil)
	thinned := 0
	for n := 1; n <= 1000; n++ {
		for _, r := range []*rig{still, restless} {
			r.clock.pass(time.Second)
			r.pages(1, 0, 0, 0)
		}
		before := len(still.status().History)
		if n == 100 || n == 239 || n == 240 || n == 500 || n == 777 {
			restless.hurry()
		}
		history := still.status().History
		if before > maxPoints || !sameHistory(history, restless.status().History) {
			t.Fatalf("after %d pages: %d points; after restarts %d", n, before, len(restless.status().History))
		}
		step := int64(1)
		if len(history) > 1 {
			step = history[1].Pages - history[0].Pages
		}
		for i, p := range history {
			if p.Pages != int64(i+1)*step || p.Relevant != p.Pages || p.Bytes != 10*p.Pages {
				t.Fatalf("after %d pages: the point %d is %+v, with %d pages from one to the next", n, i, p, step)
			}
		}
		if last := history[len(history)-1]; last.Pages > int64(n) || last.Pages+step <= int64(n) {
			t.Fatalf("after %d pages the last point is at %d, with %d from one to the next", n, last.Pages, step)
		}
		if n >= maxPoints && len(history) < maxPoints/2 {
			t.Fatalf("after %d pages there are %d points only", n, len(history))
		}
		if len(history) == maxPoints/2 && n >= maxPoints {
			thinned++
		}
	}
	if thinned < 3 {
		t.Errorf("points were dropped %d times", thinned)
	}
}

// A batch that is committed twice leaves one point, and a history that was returned does not change.
func TestHistoryIsItsOwn(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(0.5, "http://a.example/")...)
	for range 2 {
		r.must(r.Commit(Commit{Batch: "b", Outcomes: []crawl.PageOutcome{done("http://a.example/")}}))
	}
	got := r.status().History
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	before := got[0]
	got[0].Pages = 77
	r.pages(1, 0, 0, 0)
	if now := r.status().History; len(now) != 2 || now[0] != before {
		t.Errorf("%+v", now)
	}
}

// A new run begins without points, also after a restart; one that is taken over keeps them.
func TestHistoryOfNextRun(t *testing.T) {
	for _, restart := range []bool{false, true} {
		turn := func(r *rig) {
			if restart {
				r.reopen()
			}
		}
		r := newRig(t, nil)
		for range 5 {
			r.clock.pass(time.Second)
			r.pages(1, 0, 0, 0)
		}
		_, err := r.Begin(testCrawl, "another", 0, definition(nil), seedsOf(definition(nil)), true)
		r.must(err)
		turn(r)
		if n := len(r.status().History); n != 5 {
			t.Errorf("restart %v: %d points of a run that was taken over", restart, n)
		}
		r.clock.pass(time.Second)
		r.nextRun("next", nil)
		turn(r)
		if s := r.status(); s.Run != 2 || len(s.History) != 0 {
			t.Errorf("restart %v: run %d begins with %+v", restart, s.Run, s.History)
		}
		r.clock.pass(time.Second)
		r.pages(0, 2, 0, 0)
		turn(r)
		if got, want := r.status().History, []Point{{r.clock.Now(), 2, 2, 0, 20, 0}}; !sameHistory(got, want) {
			t.Errorf("restart %v: %+v, want %+v", restart, got, want)
		}
	}
}

// The points of a run that comes after a long one are as close as those of any other.
func TestHistoryIsDenseAgain(t *testing.T) {
	r := hasty(t, nil)
	for range maxPoints + 10 {
		r.clock.pass(time.Second)
		r.pages(1, 0, 0, 0)
	}
	r.nextRun("next", nil)
	for range 3 {
		r.clock.pass(time.Second)
		r.pages(1, 0, 0, 0)
	}
	if got := r.status().History; len(got) != 3 || got[0].Pages != 1 || got[2].Pages != 3 {
		t.Errorf("%+v", got)
	}
}

// Crawls have histories of their own.
func TestHistorysOfTwoCrawls(t *testing.T) {
	r := newRig(t, nil)
	d := definition(func(d *crawl.Definition) { d.Name = "other" })
	_, err := r.Begin("other", "its owner", 0, d, seedsOf(d), false)
	r.must(err)
	r.clock.pass(time.Second)
	r.pages(1, 0, 0, 0)
	r.must(r.Frontier.Crawl("other").URLs().Offer("s", found(1, "http://a.example/")))
	r.must(r.Frontier.Crawl("other").Commit(Commit{Batch: "b", Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: "http://a.example/", Kind: crawl.OutcomeDone, Status: 200}, Score: 0}}}))
	r.reopen()
	other, err := r.Frontier.Crawl("other").Status()
	r.must(err)
	if mine := r.status().History; len(mine) != 1 || len(other.History) != 1 || mine[0].Relevant != 1 || other.History[0].Relevant != 0 {
		t.Errorf("%+v\n%+v", mine, other.History)
	}
}

// historyOf makes points after so many pages, of which so many are relevant; all were scored.
func historyOf(pages, relevant []int64) (list []Point) {
	for i := range pages {
		list = append(list, Point{Pages: pages[i], Scored: pages[i], Relevant: relevant[i]})
	}
	return list
}

// tens are points after each ten pages.
func tens(relevant ...int64) []Point {
	var pages []int64
	for i := range relevant {
		pages = append(pages, int64(10*(i+1)))
	}
	return historyOf(pages, relevant)
}

func TestLately(t *testing.T) {
	for _, c := range []struct {
		name    string
		history []Point
		want    float64
	}{
		{"nothing", nil, 0},
		{"one point", tens(4), 0.4},
		{"the last of ten", tens(0, 0, 0, 0, 0, 0, 0, 0, 0, 7), 0.7},
		{"the last of ten, after better ones", tens(10, 20, 30, 40, 50, 60, 70, 80, 90, 90), 0},
		{"the last two of twenty", tens(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 8), 0.4},
		{"few points: since the one before the last tenth", tens(2, 8), 0.6},
		{"uneven points", historyOf([]int64{50, 89, 90, 91, 99, 100}, []int64{50, 50, 50, 51, 51, 52}), 0.2},
		{"no page has a score", []Point{{Pages: 10}, {Pages: 20}}, 0},
		{"none of the last pages has a score", []Point{{Pages: 90, Scored: 90, Relevant: 90}, {Pages: 100, Scored: 90, Relevant: 90}}, 1},
		{"one of the last has a score", []Point{{Pages: 90, Scored: 9}, {Pages: 100, Scored: 10, Relevant: 1}}, 1},
		{"no pages", []Point{{}}, 0},
	} {
		if got := Lately(c.history); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHarvests(t *testing.T) {
	rising := tens(0, 1, 3, 6, 10, 15, 21, 28, 36, 45)
	for _, c := range []struct {
		name    string
		history []Point
		parts   int
		want    []float64
	}{
		{"tenths", rising, 10, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}},
		{"fifths", rising, 5, []float64{0.05, 0.25, 0.45, 0.65, 0.85}},
		{"halves", rising, 2, []float64{0.2, 0.7}},
		{"all", rising, 1, []float64{0.45}},
		{"fewer points than parts", rising[:9], 10, nil},
		{"nothing", nil, 10, nil},
		{"no scores in the second half", []Point{{Pages: 10, Scored: 10, Relevant: 5}, {Pages: 20, Scored: 10, Relevant: 5}}, 2, []float64{0.5, 0.5}},
		{"nothing but what has no score", []Point{{Pages: 10}, {Pages: 20}}, 2, nil},
		{"images in every second batch", []Point{{Pages: 10}, {Pages: 20, Scored: 10, Relevant: 10}, {Pages: 30, Scored: 10, Relevant: 10}, {Pages: 40, Scored: 20, Relevant: 20}}, 4, []float64{1, 1, 1, 1}},
		{"two parts at one point", []Point{{Pages: 10, Scored: 10, Relevant: 2}, {Pages: 11, Scored: 40, Relevant: 2}, {Pages: 12, Scored: 40, Relevant: 2}, {Pages: 13, Scored: 41, Relevant: 3}}, 4, []float64{0.2, 0, 0, 1}},
	} {
		got := Harvests(c.history, c.parts)
		if (got == nil) != (c.want == nil) || !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The parts are equal in pages, not in batches, of which the first are small: here the first ten pages are relevant, and
// there is a point at each tenth of the run.
func TestHarvestsAreOfEqualParts(t *testing.T) {
	var pages, relevant []int64
	for i := range int64(10) {
		pages, relevant = append(pages, i+1), append(relevant, i+1)
	}
	for i := range int64(9) {
		pages, relevant = append(pages, 10*(i+2)), append(relevant, 10)
	}
	got := Harvests(historyOf(pages, relevant), 10)
	if want := []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%.2v, want %v", got, want)
	}
}

// The progress of a crawl is what its history says.
func TestProgressHasHarvests(t *testing.T) {
	r := newRig(t, nil)
	for i := range 10 {
		p, err := r.Progress()
		r.must(err)
		if p.Harvests != nil {
			t.Errorf("after %d batches: %v", i, p.Harvests)
		}
		r.pages(i%2, 1-i%2, 0, 0)
	}
	p, err := r.Progress()
	r.must(err)
	if want := []float64{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}; !slices.Equal(p.Harvests, want) {
		t.Errorf("%v, want %v", p.Harvests, want)
	}
}

// ofWeights is ofRavens by the weights of the parts, which do not learn.
func ofWeights(d *crawl.Definition) {
	ofRavens(d)
	d.Order.Strategy = crawl.StrategyWeighted
}

// Another strategy is in force at once and after a restart. A crawl has a learner only with a strategy that learns.
func TestConfigureStrategy(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, ofRavens)
		expect := func(what string, learner bool, d crawl.Definition) {
			t.Helper()
			if restart {
				r.reopen()
			}
			plan, err := r.Plan()
			r.must(err)
			got, _ := json.Marshal(plan.Definition)
			want, _ := json.Marshal(d)
			if (r.Learning().Order() != nil) != learner || string(got) != string(want) {
				t.Errorf("restart %v, %s: learner %v, definition %s, want\n%s", restart, what, r.Learning().Order() != nil, got, want)
			}
		}
		expect("at first", true, definition(ofRavens))
		r.must(r.Configure(definition(ofWeights), 0))
		expect("weighted", false, definition(ofWeights))
		r.must(r.Configure(definition(ofRavens), 0))
		expect("fused", true, definition(ofRavens))
		if s := r.status(); s.Run != 1 || !s.Active {
			t.Errorf("it is another run: %+v", s)
		}
	}
}

// What was learned survives a change to another strategy and back, with a restart and without: the learner has it, and continues to
// learn.
func TestConfigureKeepsWhatWasLearned(t *testing.T) {
	c := listCommits(6, 10)
	for _, restart := range []bool{false, true} {
		r := newRig(t, ofRavens)
		turn := func() {
			if restart {
				r.reopen()
			}
		}
		r.submit("seeds", c.seeds...)
		r.must(r.Learning().Teach(nil, examples(3)))
		for _, commit := range c.commits[:3] {
			r.must(r.Commit(commit))
		}
		before := r.judgements(c)
		r.must(r.Configure(definition(ofWeights), 0))
		turn()
		r.must(r.Commit(c.commits[3])) // nothing is learned from it
		r.must(r.Configure(definition(ofRavens), 0))
		turn()
		now := r.judgements(c)
		if !slices.Equal(before, now) {
			t.Errorf("restart %v: another thing is known after another strategy; nothing at all: %v", restart, slices.Equal(now, c.judgementsUntrained()))
		}
		r.must(r.Commit(c.commits[4]))
		after := r.judgements(c)
		if slices.Equal(now, after) {
			t.Errorf("restart %v: nothing is learned any more", restart)
		}
		r.reopen()
		if !slices.Equal(after, r.judgements(c)) {
			t.Errorf("restart %v: another thing is known after a further restart", restart)
		}
	}
}

// A crawl that begins by weights can be made to learn while it runs.
func TestConfigureToLearn(t *testing.T) {
	c := listCommits(3, 10)
	r := newRig(t, ofWeights)
	r.submit("seeds", c.seeds...)
	r.must(r.Commit(c.commits[0]))
	r.must(r.Configure(definition(ofRavens), 0))
	before := r.judgements(c)
	if !slices.Equal(before, c.judgementsUntrained()) {
		t.Error("it knows something that nobody has taught it")
	}
	r.must(r.Commit(c.commits[1]))
	after := r.judgements(c)
	if slices.Equal(before, after) {
		t.Error("it learns nothing")
	}
	r.reopen()
	if !slices.Equal(after, r.judgements(c)) {
		t.Error("another thing is known after a restart")
	}
}

// Waiting URLs keep their positions; budgets, and the number of URLs in a claim, are those of the new definition.
func TestConfigureBounds(t *testing.T) {
	edit := func(per int, pages, perPLD int64) func(*crawl.Definition) {
		return func(d *crawl.Definition) { d.Order.PerQueue, d.Budget.Pages, d.Budget.PerPLD = per, pages, perPLD }
	}
	r := newRig(t, edit(2, 100, 3))
	var list []crawl.Discovery
	for i := range 9 {
		list = append(list, found(0.9-float64(i)/10, fmt.Sprintf("http://a.example/%d", i))...)
	}
	r.submit("s", list...)
	place := r.why("http://a.example/8").Priority
	batch, lanes := r.take()
	if got := targets(lanes...); len(got) != 2 {
		t.Fatalf("%q", got)
	}
	r.must(r.Configure(definition(edit(3, 100, 5)), 0))
	r.finish(batch, lanes)
	batch, lanes = r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/2", "http://a.example/3", "http://a.example/4"}) {
		t.Errorf("with three together: %q", got)
	}
	r.finish(batch, lanes)
	r.confirm(r.next())
	if e := r.why("http://a.example/8"); !e.Spent || e.Priority != place {
		t.Errorf("of five pages of the PLD, five are done: %+v", e)
	}
	if got := r.next(); !got.Drained {
		t.Errorf("%+v", got)
	}
	r.must(r.Configure(definition(edit(1, 100, 0)), 0)) // no bound: what waits continues
	batch, lanes = r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/5"}) {
		t.Errorf("without a bound: %q", got)
	}
	r.finish(batch, lanes)
	r.must(r.Configure(definition(edit(1, 6, 0)), 0))
	r.confirm(r.next())
	if got := r.next(); got.Spent != "pages" {
		t.Errorf("of %d pages, the budget is %q spent", r.status().Totals.Pages, got.Spent)
	}
}

// An unknown crawl cannot be changed, and a topic cannot change because what was learned belongs to it.
func TestConfigureNobody(t *testing.T) {
	r := newRig(t, ofRavens)
	if err := r.Frontier.Crawl("no such crawl").Configure(definition(nil), 0); err == nil {
		t.Error("it is changed")
	}
	if r.Learning().Order() == nil || r.status().Run != 1 {
		t.Error("another crawl is changed")
	}
}

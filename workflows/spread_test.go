package workflows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// spreadBatch is how many URLs a worker of the tests claims at a time.
const spreadBatch = 5

// spreadRing is a ring of workers with their frontiers, as far as a crawl sees it.
type spreadRing struct {
	*env
	t        *testing.T
	mu       sync.Mutex
	epoch    uint64
	workers  []*spreadWorker
	seen     []string
	claiming func(in activities.ClaimInput) error
	silent   string    // this worker does not answer End
	unbegun  string    // this folder does not answer Begin
	beginsAt time.Time // none does before
	unseeded string    // the first worker, if partitions of it are on their way when it begins: what waits there is in spent
	absent   []activities.Holder
	open     int // batches that a lost worker has left
	former   []activities.FormerTotals
	started  time.Time // when the first worker began the run; zero: now
	refuses  string    // the worker that cannot take part; empty: none
	lost     map[string]*spreadWorker
	answers  *testsuite.MockCallWrapper // to Idle
	last     activities.LastRun         // as all workers say
}

// spreadWorker is a worker: URLs wait, and each that is claimed is fetched by the end of the round.
type spreadWorker struct {
	activities.Member
	waiting, used int64
	work          uint64
	quotas        map[crawl.Reason]*share.Quota
	version       int64 // of the definition: its budget of pages
	dead          bool
	refuses       int64 // a budget of pages
	spent         int64 // URLs that wait from the next change of the definition on
	slow          bool  // it claims in each tenth round
	elapsed       time.Duration
}

// newSpread is a crawl over workers that have URLs waiting, with the controllers of a deployed worker.
func newSpread(t *testing.T, waiting ...int64) *spreadRing {
	r := &spreadRing{env: newEnv(t), t: t, epoch: 1, lost: map[string]*spreadWorker{}}
	for _, n := range waiting {
		r.add(n)
	}
	r.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.CrawlID("c"), TaskQueue: names.TaskQueue})
	r.OnActivity("AwaitMembers", mock.Anything, mock.Anything).After(10 * time.Second).Return(func(_ context.Context, in activities.MembersInput) (out activities.MembersResult, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		out.Epoch = r.epoch
		for _, w := range r.workers {
			out.Workers = append(out.Workers, w.Member)
		}
		if in.Epoch > r.epoch || (in.Epoch == 0) != (in.Known == nil) {
			t.Errorf("the workers of the ring are asked for with %+v in epoch %d", in, r.epoch)
		}
		return out, nil
	})
	does(r.env, "LastRun", func(in activities.BeginInput) (activities.LastRun, error) { return r.last, r.unanswered(in.Worker) })
	does(r.env, "Begin", func(in activities.BeginInput) (activities.BeginResult, error) {
		r.note("Begin " + in.Worker)
		if in.Instance == r.unbegun {
			return activities.BeginResult{}, activity.ErrResultPending
		}
		if r.Now().Before(r.beginsAt) {
			return activities.BeginResult{}, errors.New("its archive is away")
		}
		if err := r.unanswered(in.Worker); err != nil {
			return activities.BeginResult{}, err
		}
		r.mu.Lock()
		refuses := in.Worker == r.refuses
		r.mu.Unlock()
		if refuses {
			return activities.BeginResult{}, temporal.NewNonRetryableApplicationError("it lacks a file", activities.ErrorInput, nil)
		}
		r.of(in.Worker).version, r.of(in.Worker).elapsed = in.Definition.Budget.Pages, in.Elapsed
		if in.Run != 1 || in.Instance != r.of(in.Worker).Instance {
			t.Errorf("begins with run %d, %+v", in.Run, in.Holder)
		}
		out := activities.BeginResult{Run: 1, Archive: "store", Epoch: r.epoch, Life: r.of(in.Worker).quotas[crawl.ReasonPages].Life(), Started: r.started}
		out.Unseeded = in.Parts && in.Worker == r.unseeded
		return out, nil
	})
	acts(r.env, "QueueRest", func(in activities.RestInput) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		w := r.workers[0]
		switch {
		case in.Run != 1 || in.Owner == "" || in.Worker != w.Worker || in.Instance != w.Instance:
			t.Errorf("the rest is asked for by %+v", in)
		case r.refuses == w.Worker:
			return temporal.NewNonRetryableApplicationError("it lacks a file", activities.ErrorInput, nil)
		case w.Worker == r.unseeded && w.waiting == 0:
			w.waiting, r.unseeded = w.spent, ""
			return nil
		}
		return errors.New("partitions with seeds are on their way")
	})
	acts(r.env, "Phase", func(activities.PhaseInput) error { return nil })
	r.OnActivity("Configure", mock.Anything, mock.Anything).Return(r.configure)
	r.OnActivity("Claim", mock.Anything, mock.Anything).After(time.Second).Return(r.claim)
	r.answers = r.OnActivity("Idle", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.IdleInput) (activities.IdleAnswer, error) {
		r.note("Idle")
		return r.idle(in), nil
	})
	does(r.env, "Left", func(string) (bool, error) {
		return slices.ContainsFunc(r.workers, func(w *spreadWorker) bool { return w.waiting > 0 }), nil
	})
	r.OnActivity("End", mock.Anything, mock.Anything).Return(func(ctx context.Context, in activities.EndInput) (activities.EndResult, error) {
		if r.silent != "" && activity.GetInfo(ctx).TaskQueue == "q/"+r.silent {
			return activities.EndResult{}, activity.ErrResultPending
		}
		r.note(fmt.Sprintf("End, report %t", !in.NoReport))
		if in.NoReport {
			return activities.EndResult{Status: frontier.Status{Totals: frontier.Totals{Pages: 1}}}, nil
		}
		return activities.EndResult{Report: "report"}, nil
	})
	r.OnActivity("LostBatches", mock.Anything, mock.Anything).After(15 * time.Second).Return(func(_ context.Context, in activities.LostInput) (activities.LostResult, error) {
		if !in.Count {
			t.Error("the names of the batches are asked for")
		}
		return activities.LostResult{Open: r.open}, nil
	})
	does(r.env, "Absent", func(in activities.AbsentInput) ([]activities.Holder, error) {
		r.note(fmt.Sprintf("Absent of %d", len(in.Ring)))
		return r.absent, nil
	})
	does(r.env, "LostTotals", func(in activities.LostTotalsInput) (frontier.Totals, error) {
		r.note("LostTotals " + in.Worker)
		if !r.started.IsZero() && !in.Started.Equal(r.started) {
			t.Errorf("it is counted what %s has archived since %v", in.Worker, in.Started)
		}
		w := r.lost[in.Worker]
		return frontier.Totals{Pages: w.used, Requests: w.used, Requisites: 70}, nil // requisites: a worker of an earlier version counts them
	})
	does(r.env, "FormerTotals", func(in activities.FormerTotalsInput) ([]activities.FormerTotals, error) {
		r.note(fmt.Sprintf("FormerTotals, not of %d", len(in.Not)))
		return r.former, nil
	})
	acts(r.env, "Retire", func(in activities.RetireInput) error {
		r.note("Retire " + in.Worker)
		if id := names.FolderControllerID("c", in.Worker, in.Instance); in.Instance == "" || in.Controller != "" && in.Controller != id {
			t.Errorf("%s is retired with %q", id, in.Controller)
		}
		return nil
	})
	return r
}

func (r *spreadRing) add(waiting int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprintf("w%d", len(r.seen)+1)
	r.seen = append(r.seen, name)
	w := &spreadWorker{Member: activities.Member{Worker: name, Queue: "q/" + name, Instance: "i-" + name, Process: "p-" + name}, waiting: waiting, quotas: map[crawl.Reason]*share.Quota{}}
	for _, reason := range activities.SharedBudgets() {
		w.quotas[reason] = share.NewQuota(r.epoch)
	}
	r.workers = append(r.workers, w)
	r.epoch++
}

// unanswered is the error of a step at a worker that is silent.
func (r *spreadRing) unanswered(worker string) error {
	if w := r.of(worker); w != nil && w.dead {
		return errors.New("nobody polls the task queue")
	}
	return nil
}

// lose makes a worker silent; drop has the ring give it up: its URLs are another's.
func (r *spreadRing) lose(name string) {
	w := r.of(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	w.dead, w.Lost = true, true
	r.lost[name] = w
}

func (r *spreadRing) drop(name string) {
	w := r.of(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = slices.DeleteFunc(r.workers, func(o *spreadWorker) bool { return o == w })
	r.workers[0].waiting += w.waiting
	r.workers[0].work++
	r.epoch++
}

// replace has a worker that was given up join again with another data folder.
func (r *spreadRing) replace(name, instance string, waiting int64) {
	r.add(waiting)
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workers[len(r.workers)-1]
	w.Worker, w.Queue, w.Instance = name, "q/"+name, instance
}

func (r *spreadRing) of(name string) *spreadWorker {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.workers {
		if w.Worker == name {
			return w
		}
	}
	return nil
}

// again marks the process of a worker that was lost.
const again = "-again"

// configure puts a definition in force at the worker whose queue it is on.
func (r *spreadRing) configure(ctx context.Context, in activities.ConfigureInput) error {
	w := r.of(path.Base(activity.GetInfo(ctx).TaskQueue))
	switch {
	case w == nil || w.dead:
		return errors.New("nobody polls the task queue")
	case in.Budget.Pages == w.refuses:
		return temporal.NewNonRetryableApplicationError("it has no such file", activities.ErrorInput, nil)
	}
	if strings.HasSuffix(w.Process, again) && r.count("Configure fails at "+w.Worker) < 2 { // so that claims come first
		r.note("Configure fails at " + w.Worker)
		return errors.New("out of order")
	}
	r.note(fmt.Sprintf("Configure %s: %d", w.Worker, in.Budget.Pages))
	r.mu.Lock()
	defer r.mu.Unlock()
	w.version, w.waiting, w.spent = in.Budget.Pages, w.waiting+w.spent, 0
	for reason, q := range w.quotas {
		if in.Allotments[reason].All {
			q.Take(in.Allotments[reason])
		}
	}
	return nil
}

// back has a lost worker come back, by another process.
func (r *spreadRing) back(name string) {
	w := r.of(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	w.dead, w.Lost, w.Process = false, false, w.Process+again
	r.note(name + " is back")
	for _, reason := range activities.SharedBudgets() {
		w.quotas[reason] = share.NewQuota(r.epoch)
	}
}

func (r *spreadRing) claim(_ context.Context, in activities.ClaimInput) (activities.ClaimResult, error) {
	r.note("claim " + in.Worker)
	if !in.Shared.Timed {
		r.t.Errorf("%s keeps the time itself", in.Worker)
	}
	if r.claiming != nil {
		if err := r.claiming(in); err != nil {
			return activities.ClaimResult{}, err
		}
	}
	w := r.of(in.Worker)
	r.mu.Lock()
	defer r.mu.Unlock()
	other := w == nil || w.Instance != in.Instance
	if other && r.count("Retire "+in.Worker) > 0 {
		return activities.ClaimResult{}, temporal.NewNonRetryableApplicationError("terminated", "Gone", nil)
	}
	if other || w.dead {
		return activities.ClaimResult{}, errors.New("nobody polls the task queue")
	}
	if len(in.Shared.Allotments) == 0 {
		r.note("nothing is allotted to " + in.Worker)
	}
	room := int64(spreadBatch)
	for reason, q := range w.quotas {
		if a, has := in.Shared.Allotments[reason]; has {
			q.Take(a)
		}
		if reason != crawl.ReasonBytes {
			room = min(room, q.Room(w.used, 0))
		}
	}
	out := activities.ClaimResult{Progress: activities.Progress{Worker: w.Worker, Quotas: map[crawl.Reason]share.QuotaReport{}}}
	if in.Drain {
		out.Spent = crawl.ReasonStopped
		room = 0
	}
	if in.Paused {
		out.Idle, room = true, 0
	}
	n := min(room, w.waiting)
	if w.slow && in.Round%10 > 0 {
		n = 0
	}
	if n > 0 {
		r.note(fmt.Sprintf("%s claims by %d", w.Worker, w.version))
	}
	w.waiting, w.used, w.work = w.waiting-n, w.used+n, w.work+uint64(n)
	out.Progress.Empty = w.waiting == 0
	out.Progress.Totals = frontier.Totals{Pages: w.used, Requests: w.used}
	for reason, q := range w.quotas {
		used := activities.Used(reason, out.Progress.Totals)
		wants := q.Room(used, 0) < cmp.Or(in.Shared.Allotments[reason].Least, in.Shared.Least[reason]) && w.waiting > 0 && !in.Drain
		if w.waiting == 0 {
			q.Return(used)
		} else if in.Shared.Allotments[reason].Return {
			q.Return(used + in.Shared.Least[reason])
		}
		out.Progress.Quotas[reason] = q.Report(used, wants)
	}
	return out, nil
}

// idle answers for one worker after the other: the test environment does not say which is asked.
func (r *spreadRing) idle(in activities.IdleInput) (out activities.IdleAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := 0
	for _, call := range r.called() {
		if call == "Idle" {
			asked++
		}
	}
	w := r.workers[(asked-1)%len(r.workers)]
	out.IdleReport = share.IdleReport{Worker: w.Worker, Epoch: r.epoch, Round: in.Round, Idle: w.waiting == 0, Work: w.work}
	out.Owned = true
	for _, w := range r.workers {
		out.Workers = append(out.Workers, w.Worker)
	}
	return out
}

func (r *spreadRing) used() (sum int64) {
	for _, w := range r.workers {
		sum += w.used
	}
	return sum
}

func spreadCrawl(pages int64) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"name":"c","seeds":["http://a.test/"],"spread":true,"budget":{"pages":%d}}`, pages))
}

// TestSpreadCrawlEnds: a crawl begins at all workers of the ring, each has a controller, and it ends when nothing is left at any of them.
func TestSpreadCrawlEnds(t *testing.T) {
	for _, waiting := range [][]int64{{20, 33}, {20, 0, 61}, {0, 0}} {
		r := newSpread(t, waiting...)
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatal(err)
		}
		out, want := crawlResult(t, r.env), int64(0)
		for i, w := range r.workers {
			want += waiting[i]
			if w.used != waiting[i] || r.count("Begin "+w.Worker) != 1 || r.count("claim "+w.Worker) == 0 {
				t.Errorf("%s fetched %d of %d: %v", w.Worker, w.used, waiting[i], r.called())
			}
			if r.count("nothing is allotted to "+w.Worker) > 0 { // a report and an answer are two signals
				t.Errorf("%s has to ask for its first part of the budgets", w.Worker)
			}
		}
		n := len(r.workers)
		if out.Reason != crawl.ReasonDrained || out.Totals.Pages != int64(n) || out.Report != "report" || r.used() != want || r.count("End, report false") != n || r.count("End, report true") != 1 {
			t.Errorf("%v ends with %+v", waiting, out)
		}
	}
}

// TestSpreadCrawlEndsWithout: a worker that is lost while the run ends is not waited for once the ring gives it up, and what it had done counts.
func TestSpreadCrawlEndsWithout(t *testing.T) {
	r := newSpread(t, 20, 33)
	r.silent = "w2"
	lost := int64(0)
	r.at(2*time.Minute, func() { r.lose("w2") })
	r.at(3*time.Minute, func() {
		lost = r.of("w2").used
		r.drop("w2")
	})
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	out := crawlResult(t, r.env)
	if out.Reason != crawl.ReasonDrained || lost != 33 || out.Totals.Pages != 1+lost || r.count("End, report true") != 1 {
		t.Errorf("%+v; the lost one had %d", out, lost)
	}
}

// TestSpreadCrawlBeginsWithout: a worker whose disk is lost before it has begun the run is not waited for once the ring gives that folder up; it
// begins with its new one, and so does another that joins.
func TestSpreadCrawlBeginsWithout(t *testing.T) {
	for _, first := range []int64{20, -1} { // -1: there is no other worker
		r := newSpread(t)
		if first > 0 {
			r.add(first)
		}
		r.add(33)
		lost := r.workers[len(r.workers)-1]
		r.unbegun = lost.Instance
		r.at(15*time.Second, func() {
			r.replace(lost.Worker, "i-new", 7)
			lost.Worker = "former" // so that it is found by its new folder
			r.drop("former")
		})
		r.at(16*time.Second, func() { r.add(5) })
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatal(err)
		}
		if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || r.used() != max(first, 0)+33+7+5 {
			t.Errorf("%+v; %d are fetched", out, r.used())
		}
		for _, w := range r.workers {
			if w.used == 0 || r.count("claim "+w.Worker) == 0 {
				t.Errorf("%s has no part in it", w.Worker)
			}
		}
	}
}

// TestSpreadCrawlBeginsBesideSilent: a worker that is silent when the crawl begins is not waited for, before and after the ring notices it; it takes part when it is back.
func TestSpreadCrawlBeginsBesideSilent(t *testing.T) {
	r := newSpread(t, 20, 15, 12)
	first, silent := time.Time{}, r.of("w3")
	r.claiming = func(activities.ClaimInput) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if first.IsZero() {
			first = r.Now()
		}
		return nil
	}
	silent.dead = true
	began := r.Now()
	r.at(30*time.Second, func() { r.lose("w3") })
	r.at(4*time.Minute, func() {
		if r.used() != 20+15 {
			t.Errorf("%d are fetched without the silent worker", r.used())
		}
		r.back("w3")
	})
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	// The ring is known after ten seconds, and a round lasts one.
	if waited := first.Sub(began); waited > 10*time.Second+beginPatience+2*time.Second {
		t.Errorf("the first round is %v after the start", waited)
	}
	if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || r.used() != 20+15+12 || silent.used != 12 {
		t.Errorf("%+v; %d are fetched, %d by the silent worker", out, r.used(), silent.used)
	}
}

// TestSpreadCrawlBeginsByParts: a worker begins while partitions of it are on their way. It works meanwhile, and the crawl does not end before it has queued their seeds.
func TestSpreadCrawlBeginsByParts(t *testing.T) {
	r := newSpread(t, 20, 3)
	r.unseeded, r.workers[0].spent = "w1", 9
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || r.used() != 20+3+9 {
		t.Errorf("%+v; %d are fetched", out, r.used())
	}
}

// TestSpreadCrawlRestRefused: a worker cannot queue the seeds of partitions that were on their way, because a file is gone. It works meanwhile, its line of the status says why, and it
// is asked again until it can, without a change of the ring.
func TestSpreadCrawlRestRefused(t *testing.T) {
	r := newSpread(t, 20, 3)
	r.unseeded, r.workers[0].spent = "w1", 9
	r.at(13*time.Second, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refuses = "w1"
	})
	r.at(30*time.Minute, func() {
		var s CrawlState
		value, err := r.env.QueryWorkflow(names.QueryStatus)
		if err != nil || value.Get(&s) != nil {
			t.Fatal(err)
		}
		line, todo := s.Describe(s.Members[0])
		if s.Members[0].Fault != "" || !strings.Contains(line, "cannot queue the seeds of some partitions: it lacks a file") || !strings.Contains(todo, "tried again") {
			t.Errorf("%s: %s", line, todo)
		}
		if r.of("w1").used != 20 {
			t.Errorf("it has fetched %d meanwhile", r.of("w1").used)
		}
	})
	r.at(2*time.Hour, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refuses = ""
	})
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || r.used() != 20+3+9 {
		t.Errorf("%+v; %d are fetched", out, r.used())
	}
}

// TestSpreadCrawlBudget: what the workers fetch together is the budget, however it is spread, and all of it, if one of them has enough.
func TestSpreadCrawlBudget(t *testing.T) {
	for _, c := range []struct {
		pages   int64
		waiting []int64
	}{{40, []int64{100, 100}}, {200, []int64{30, 1000}}, {200, []int64{30, 10, 1000}}, {7, []int64{100, 100, 100}}} {
		r := newSpread(t, c.waiting...)
		if err := r.run(Crawl, spreadCrawl(c.pages), nil); err != nil {
			t.Fatal(err)
		}
		if out := crawlResult(t, r.env); out.Reason != crawl.ReasonPages || r.used() != c.pages {
			t.Errorf("%+v: %d are fetched, %s", c, r.used(), out.Reason)
		}
		sent := 0
		for _, call := range r.called() {
			if strings.HasPrefix(call, "claim") {
				sent++
			}
		}
		if sent > 200 {
			t.Errorf("%+v: %d rounds", c, sent)
		}
	}
}

// TestSpreadCrawlTime: the budget of time counts from the start of the run, also if it is continued, and for workers that join later; a change of it is in force at
// once.
func TestSpreadCrawlTime(t *testing.T) {
	for _, c := range []struct {
		elapsed, want time.Duration
		change        string
	}{{0, 3 * time.Minute, ""}, {time.Minute, 2 * time.Minute, ""}, {0, 4 * time.Minute, "4m"}, {time.Minute, time.Minute, "2m"}, {0, time.Minute, "30s"}} {
		r := newSpread(t, 1_000_000, 1_000_000)
		if c.elapsed > 0 {
			r.last = activities.LastRun{Run: 1, Active: true, Elapsed: c.elapsed}
		}
		r.at(25*time.Second, func() { r.add(1_000_000) })
		if c.change != "" {
			r.change(time.Minute, `{"budget":{"time":"`+c.change+`"}}`)
		}
		start := r.Now()
		if err := r.run(Crawl, json.RawMessage(`{"name":"c","seeds":["http://a.test/"],"spread":true,"budget":{"pages":10000000,"time":"3m"}}`), nil); err != nil {
			t.Fatal(err)
		}
		took, out := r.Now().Sub(start), crawlResult(t, r.env)
		if out.Reason != crawl.ReasonTime || took < c.want || took > c.want+10*time.Second {
			t.Errorf("%+v: ends after %s: %s", c, took, out.Reason)
		}
		if joined := r.of("w3"); joined == nil || joined.used == 0 || joined.elapsed < c.elapsed+25*time.Second || joined.elapsed > c.elapsed+40*time.Second {
			t.Errorf("%+v: the worker that joins: %+v", c, joined)
		}
	}
}

// TestSpreadCrawlMembers: a worker that joins is begun with and gets a controller; one that is lost keeps its own until the ring gives it up,
// and what it had done counts. A definition that is changed meanwhile reaches all.
func TestSpreadCrawlMembers(t *testing.T) {
	r := newSpread(t, 150, 150)
	var changed submitted
	r.at(13*time.Second, func() { r.add(50) })
	r.at(20*time.Second, func() {
		r.UpdateWorkflow(names.UpdateConfig, "", &changed, json.RawMessage(`{"budget":{"pages":5000}}`))
	})
	r.at(25*time.Second, func() { r.lose("w2") })
	r.at(55*time.Second, func() { r.drop("w2") })
	left := int64(0)
	r.at(54*time.Second, func() { left = r.of("w2").used })
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if changed.failed != nil || changed.rejected != nil || r.count("Begin w3") != 1 || r.count("claim w3") == 0 || r.count("Retire w2") != 1 {
		t.Errorf("%+v, calls %v", changed, r.called())
	}
	for _, w := range r.workers {
		if w.version != 5000 || w.waiting != 0 {
			t.Errorf("%s has %d waiting, and a budget of %d", w.Worker, w.waiting, w.version)
		}
	}
	if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || out.Totals.Pages <= int64(len(r.workers)) || left == 0 || r.used()+left != 350 {
		t.Errorf("ends with %+v: %d fetched, %d of them by the lost one", out, r.used(), left)
	}
}

// TestSpreadCrawlReplaced: a worker whose disk is lost, and which joins again under its name at once, gets its controller when what the crawl has at
// the former one has ended: both have one ID, and Retire finds what it terminates by the name.
func TestSpreadCrawlReplaced(t *testing.T) {
	r := newSpread(t, 150, 150)
	left, again := int64(0), 0
	r.at(15*time.Second, func() { r.lose("w2") })
	r.at(25*time.Second, func() {
		left = r.of("w2").used
		r.drop("w2")
		r.replace("w2", "i-w2-new", 50)
	})
	r.at(40*time.Second, func() { again = r.count("Begin w2") }) // LostBatches takes longer
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if again != 2 || r.count("Retire w2") != 1 || r.of("w2").used == 0 || r.used()+left != 350 {
		t.Errorf("begun %d times; %d fetched, %d of them before, %d by the new one", again, r.used(), left, r.of("w2").used)
	}
}

// TestSpreadCrawlFault: a worker that cannot take part holds up the end, for it may own what waits. When the ring changes, it is asked again.
func TestSpreadCrawlFault(t *testing.T) {
	r := newSpread(t, 150, 150)
	r.at(13*time.Second, func() {
		r.mu.Lock()
		r.refuses = "w3" // before it is there
		r.mu.Unlock()
		r.add(50)
	})
	r.at(time.Hour, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refuses = ""
		r.workers[2].Process = "started again"
		r.epoch++
	})
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if r.used() != 350 || r.of("w3").used != 50 {
		t.Errorf("%d fetched, %d of them by the worker that could not take part", r.used(), r.of("w3").used)
	}
}

// TestSpreadCrawlFaultEnds: a crawl that waits for nothing but a worker that cannot take part says so, and ends when that worker has left the ring, whose partitions others have by then, or when it
// is stopped.
func TestSpreadCrawlFaultEnds(t *testing.T) {
	for _, stops := range []bool{false, true} {
		r := newSpread(t, 150, 150)
		r.at(13*time.Second, func() {
			r.mu.Lock()
			r.refuses = "w3" // before it is there
			r.mu.Unlock()
			r.add(50)
		})
		r.at(40*time.Minute, func() {
			var s CrawlState
			value, err := r.QueryWorkflow(names.QueryStatus)
			if err != nil || value.Get(&s) != nil || !strings.Contains(s.EndWaits(), "once w3 takes part") {
				t.Errorf("after 40 minutes it says %q: %+v, %v", s.EndWaits(), s, err)
			}
			if stops {
				r.SignalWorkflow(names.SignalStop, nil)
			} else {
				r.drop("w3")
			}
		})
		start, want, reason := r.Now(), int64(350), crawl.ReasonDrained
		if stops {
			want, reason = 300, crawl.ReasonStopped
		}
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatal(err)
		}
		if out, took := crawlResult(t, r.env), r.Now().Sub(start); r.used() != want || out.Reason != reason || took > 50*time.Minute {
			t.Errorf("stopped %t: %d fetched, %s after %v", stops, r.used(), out.Reason, took)
		}
	}
}

// TestSpreadCrawlOwing: a crawl does not end while a batch that is committed delivers what it has found.
func TestSpreadCrawlOwing(t *testing.T) {
	r := newSpread(t, 20, 20)
	start := r.Now()
	for at, done := range map[time.Duration]bool{time.Second: false, 10 * time.Minute: true} {
		r.at(at, func() {
			r.SignalWorkflow(names.SignalOwes, Owing{Batch: "a.example-1@w1.3", Holder: activities.Holder{Worker: "w1", Instance: "i-w1"}, Done: done})
		})
	}
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if took := r.Now().Sub(start); took < 10*time.Minute || took > 20*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// TestSpreadCrawlOwingOfLost: a batch that has been terminated, because the ring has given its worker up, does not keep the crawl from ending if its word
// comes later than that: nobody would ever say that all is delivered. Also if the worker has joined again with another folder.
func TestSpreadCrawlOwingOfLost(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newSpread(t, 150, 150)
		r.at(15*time.Second, func() { r.lose("w2") })
		r.at(25*time.Second, func() {
			r.drop("w2")
			if again {
				r.replace("w2", "i-w2-new", 50)
			}
		})
		late := Owing{Batch: "a.example-1@w2.3", Holder: activities.Holder{Worker: "w2", Instance: "i-w2"}}
		retired := 0
		r.at(time.Minute, func() {
			retired = r.count("Retire w2")
			r.SignalWorkflow(names.SignalOwes, late)
		})
		r.at(time.Hour, func() { // so that the test ends
			late.Done = true
			r.SignalWorkflow(names.SignalOwes, late)
		})
		start := r.Now()
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatal(err)
		}
		if took := r.Now().Sub(start); retired != 1 || took < time.Minute || took > 20*time.Minute {
			t.Errorf("joins again %t: it took %s, %d were given up before", again, took, retired)
		}
	}
}

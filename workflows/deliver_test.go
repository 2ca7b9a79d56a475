package workflows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
)

// owners plays the workers that own partitions for a batch.
type owners struct {
	need   map[int]string                              // partition → owner; "" if nobody takes deliveries for it
	take   func(to []int) ([]int, error)               // nil: all
	commit func(in activities.BatchInput, n int) error // nil: all is well

	refused   []string // what each look knew of the last delivery
	delivered []int    // partitions
	stale     bool     // the batch has claims of a former tenure
}

// look divides partitions by their owners.
func (o *owners) look(segment activities.DeliverInput, need []int) (out activities.UndeliveredResult) {
	by := map[string][]int{}
	for _, p := range need {
		by[o.need[p]] = append(by[o.need[p]], p)
	}
	for _, owner := range []string{"v", "x"} {
		if len(by[owner]) > 0 {
			d := activities.Delivery{Queue: "muninn/" + owner, Owner: owner, DeliverInput: segment}
			d.Partitions = by[owner]
			out.To = append(out.To, d)
		}
	}
	if out.Waits = len(by[""]); out.Waits > 0 {
		segment.Partitions = need
		out.Left = &segment
	}
	return out
}

// play answers the steps that a batch of a spread crawl has beside the others.
func (o *owners) play(e *env, step string) {
	e.signals(nil)
	missing := func(in activities.BatchInput) (list []int) {
		for _, p := range slices.Sorted(maps.Keys(o.need)) {
			if !slices.Contains(in.Delivered, p) {
				list = append(list, p)
			}
		}
		return list
	}
	does(e, "Undelivered", func(in activities.BatchInput) (out activities.UndeliveredResult, err error) {
		o.refused = append(o.refused, in.Refused)
		segment, need := activities.DeliverInput{Crawl: in.Crawl, Batch: in.Batch}, missing(in)
		if o.stale && len(need) > 0 {
			segment.Partitions = need
			return activities.UndeliveredResult{Stale: &segment}, nil
		}
		return o.look(segment, need), nil
	})
	does(e, "Route", func(in activities.RouteInput) (activities.UndeliveredResult, error) {
		o.refused = append(o.refused, in.Refused)
		if !in.Owes {
			e.t.Error("what is committed does not owe")
		}
		return o.look(in.Left, in.Left.Partitions), nil
	})
	var one sync.Mutex // two deliveries run at a time
	does(e, "Deliver", func(in activities.DeliverInput) (out activities.DeliverResult, err error) {
		one.Lock()
		defer one.Unlock()
		if out.Delivered = in.Partitions; o.take != nil {
			out.Delivered, err = o.take(in.Partitions)
		}
		o.delivered = append(o.delivered, out.Delivered...)
		return out, err
	})
	n := 0
	acts(e, step, func(in activities.BatchInput) error {
		if n++; o.commit != nil {
			if err := o.commit(in, n); err != nil {
				return err
			}
		}
		if len(missing(in)) > 0 {
			return errUndelivered
		}
		return nil
	})
}

var errUndelivered = temporal.NewNonRetryableApplicationError("links are not delivered", activities.ErrorUndelivered, nil)

// spreadInput is the input of a batch of a spread crawl.
func spreadInput() activities.BatchInput {
	in := batchInput
	in.Spread = true
	return in
}

// before has an execution be one that a version without a change has begun.
func (e *env) before(change string) {
	e.OnGetVersion(change, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
}

// TestBatchDelivers: a batch of a spread crawl that can deliver what it has found for others does so and is committed then. What nobody takes by then
// is delivered when it is committed, and the crawl gets no signal: the batch waits for nobody. One of an earlier version waits, without end.
func TestBatchDelivers(t *testing.T) {
	fails := 0
	failing := func(times int) func([]int) ([]int, error) {
		return func(to []int) ([]int, error) {
			if fails++; fails <= times {
				return nil, temporal.NewNonRetryableApplicationError("no", "No", nil)
			}
			return to, nil
		}
	}
	ringChanges := func(o *owners) func(activities.BatchInput, int) error {
		return func(_ activities.BatchInput, n int) error {
			if n == 1 {
				o.need[7] = "" // it was the worker's own
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		owners owners
		change func(o *owners) // half an hour later
		want   string
		former string        // an earlier version's; empty: the same
		longer time.Duration // it takes longer
	}{
		{"nothing to deliver", owners{}, nil, "Undelivered Commit", "", 0},
		{"one owner", owners{need: map[int]string{3: "v", 5: "v"}}, nil, "Undelivered Deliver Commit", "", 0},
		{"two owners", owners{need: map[int]string{3: "v", 5: "x"}}, nil, "Undelivered Deliver Deliver Commit", "", 0},
		{
			"an owner takes a part", owners{need: map[int]string{3: "v", 5: "v"}, take: func(to []int) ([]int, error) { return to[:1], nil }}, nil,
			"Undelivered Deliver Commit Route Deliver Route", "Undelivered Deliver Undelivered Deliver Commit", 0,
		},
		{
			"a delivery fails", owners{need: map[int]string{3: "v"}, take: failing(1)}, nil,
			"Undelivered Deliver Commit Route Deliver Route", "Undelivered Deliver Undelivered Deliver Commit", 0,
		},
		{
			"one of two fails twice", owners{need: map[int]string{3: "v", 5: "x"}, take: failing(2)}, nil,
			"Undelivered Deliver Deliver Commit Route Deliver Deliver Route", "Undelivered Deliver Deliver Undelivered Deliver Deliver Commit", 0,
		},
		{
			"the ring changes before the commit", owners{need: map[int]string{3: "v"}, commit: func(_ activities.BatchInput, n int) error {
				if n == 1 {
					return errUndelivered
				}
				return nil
			}}, nil, "Undelivered Deliver Commit Undelivered Commit", "", 0,
		},
		{
			"nobody owns a partition", owners{need: map[int]string{3: "v", 5: ""}}, func(o *owners) { o.need[5] = "x" },
			"Undelivered Deliver Commit Route …Route Deliver Route", "Undelivered Deliver Undelivered …Undelivered Deliver Commit", 30 * time.Minute,
		},
		{
			"nobody takes anything, and then more", owners{need: map[int]string{3: "", 5: ""}}, func(o *owners) { o.need[3], o.need[5], o.need[7] = "v", "v", "v" },
			"Undelivered Commit Undelivered Commit Route …Route Deliver Route", "Undelivered …Undelivered Deliver Commit", 30 * time.Minute,
		},
	} {
		for _, former := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, earlier version %t", c.name, former), func(t *testing.T) {
				e := newEnv(t)
				o := c.owners
				o.need, fails = maps.Clone(c.owners.need), 0
				if strings.HasSuffix(c.name, "then more") && !former {
					o.commit = ringChanges(&o)
				}
				if former {
					e.before(versionOwes)
				}
				batchSteps(e, activities.OpenResult{Archived: true}, "", nil, "Commit")
				o.play(e, "Commit")
				if c.change != nil {
					e.at(30*time.Minute, func() { c.change(&o) })
				}
				start := e.Now()
				if err := e.run(Batch, spreadInput()); err != nil {
					t.Fatal(err)
				}
				want := c.want
				if former && c.former != "" {
					want = c.former
				}
				slices.Sort(o.delivered)
				if all := slices.Sorted(maps.Keys(o.need)); !slices.Equal(o.delivered, all) {
					t.Errorf("%v are delivered of %v", o.delivered, all)
				}
				got := strings.TrimPrefix(strings.Join(e.called(), " "), "Open ")
				from, to, several := strings.Cut(want, "…")
				if got != want && !(several && strings.HasPrefix(got, from) && strings.HasSuffix(got, to)) {
					t.Errorf("steps %q, want %q", got, want)
				}
				if took := e.Now().Sub(start); took < c.longer || took > c.longer+2*deliverPauseMost {
					t.Errorf("it took %s", took)
				}
				if n := len(e.called()); n > 90 {
					t.Errorf("%d steps", n)
				}
				if n := len(e.sent); n > 0 {
					t.Errorf("%d signals", n)
				}
			})
		}
	}
}

// TestRefusedDelivery: what a worker refuses is sent again until it takes it, by pauses; meanwhile the batch's worker is to know why, so that the crawl holds.
func TestRefusedDelivery(t *testing.T) {
	e := newEnv(t)
	batchSteps(e, activities.OpenResult{Archived: true}, "", nil, "Commit")
	refusal := temporal.NewNonRetryableApplicationError("it is not below what the setting archive-allow names", activities.ErrorInput, nil)
	o := owners{need: map[int]string{3: "v"}, take: func([]int) ([]int, error) { return nil, refusal }}
	o.play(e, "Commit")
	e.at(30*time.Minute, func() { o.take = nil })
	if err := e.run(Batch, spreadInput()); err != nil {
		t.Fatal(err)
	}
	known := o.refused
	if len(known) < 10 || len(known) > 90 || known[0] != "" || known[len(known)-1] != "" {
		t.Fatalf("%d looks, %q", len(known), known)
	}
	for _, why := range known[1 : len(known)-1] {
		if why != "worker v refuses them: it is not below what the setting archive-allow names" {
			t.Errorf("the worker is given %q", why)
		}
	}
}

// TestFailedBatchDelivers: what a failed batch has archived is committed by its give-back, and delivered then, also if the batch is cancelled, as when its
// partition is handed over: it takes as long as that takes. An earlier version delivered first.
func TestFailedBatchDelivers(t *testing.T) {
	for name, c := range map[string]struct {
		owner          string
		cancel, former bool
		within         time.Duration
		want           string
	}{
		"fails":                                {"v", false, false, time.Minute, "Process GiveBack Undelivered Deliver GiveBack"},
		"is cancelled":                         {"v", true, false, time.Minute, "FetchTargets GiveBack Undelivered Deliver GiveBack"},
		"is cancelled, and an owner is silent": {"", true, false, 31 * time.Minute, "FetchTargets GiveBack Undelivered GiveBack Route …Route Deliver Route"},
		"the same, an earlier version":         {"", true, true, 31 * time.Minute, "FetchTargets GiveBack Undelivered …Undelivered Deliver GiveBack"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			if c.former {
				e.before(versionOwes)
			}
			batchSteps(e, activities.OpenResult{URLs: 3}, "Process", temporal.NewNonRetryableApplicationError("no", "No", nil), "GiveBack", "FetchTargets")
			does(e, "FetchTargets", func(activities.BatchInput) (out activities.FetchResult, err error) {
				if c.cancel {
					e.CancelWorkflow()
				}
				return out, nil
			})
			o := owners{need: map[int]string{3: c.owner}}
			o.play(e, "GiveBack")
			e.at(30*time.Minute, func() { o.need[3] = "v" })
			start := e.Now()
			if err := e.run(Batch, spreadInput()); err == nil {
				t.Error("it has not failed")
			}
			got := strings.Join(e.called(), " ")
			from, to, several := strings.Cut(c.want, "…")
			if !strings.Contains(got, from) || !strings.HasSuffix(got, to) || e.count("GiveBack") != 2 {
				t.Errorf("steps %q", got)
			}
			if took := e.Now().Sub(start); took > c.within || several && took < 30*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// playStale answers the steps of a batch with claims of a former tenure, which is committed by a step.
func (o *owners) playStale(e *env, commits string) {
	open, fail := activities.OpenResult{Archived: true}, ""
	if commits == "GiveBack" {
		open, fail = activities.OpenResult{URLs: 3}, "Process"
	}
	o.stale = true
	batchSteps(e, open, fail, temporal.NewNonRetryableApplicationError("no", "No", nil), commits)
	o.play(e, commits)
}

// said is what a batch has said to its crawl of what it has left to deliver.
func (e *env) said() (said []Owing) {
	for _, s := range e.sent {
		if o, is := s.arg.(Owing); is {
			said = append(said, o)
		}
	}
	return said
}

// saysOwing checks what a batch has said to its crawl: one of an earlier version, before it is committed and when all is delivered.
func (e *env) saysOwing(former bool, want ...bool) {
	e.t.Helper()
	var said []bool
	for _, o := range e.said() {
		said = append(said, o.Done)
	}
	if !former {
		want = nil
	}
	if !slices.Equal(said, want) {
		e.t.Errorf("it says %v, want %v", said, want)
	}
}

// TestStaleBatchDelivers: a batch with claims of a former tenure is committed first, and then delivers. Also if it is
// cancelled, as when its partition is loaded.
func TestStaleBatchDelivers(t *testing.T) {
	for _, former := range []bool{false, true} {
		for _, commits := range []string{"Commit", "GiveBack"} {
			t.Run(fmt.Sprintf("%s, earlier version %t", commits, former), func(t *testing.T) {
				e := newEnv(t)
				if former {
					e.before(versionOwes)
				}
				o := owners{need: map[int]string{3: "v", 5: ""}}
				o.playStale(e, commits)
				e.at(30*time.Minute, func() { o.need[5] = "x" })
				start := e.Now()
				if err := e.run(Batch, spreadInput()); (err != nil) != (commits == "GiveBack") {
					t.Fatal(err)
				}
				if took := e.Now().Sub(start); took < 30*time.Minute || took > 31*time.Minute || e.count("Deliver") != 2 || e.count("Route") < 3 {
					t.Errorf("it took %s, steps %v", took, e.called())
				}
				e.saysOwing(former, false, true)
			})
		}
	}
}

// TestOwingBatchContinues: the history of a batch that waits for days with links to deliver does not grow without end. The next execution delivers
// what is left, and ends as the first would have: it says so to the crawl if the first, of an earlier version, has said that something is left.
func TestOwingBatchContinues(t *testing.T) {
	for _, former := range []bool{false, true} {
		for _, commits := range []string{"Commit", "GiveBack"} {
			t.Run(fmt.Sprintf("%s, earlier version %t", commits, former), func(t *testing.T) {
				e := newEnv(t)
				o := owners{need: map[int]string{3: "v", 5: ""}}
				o.playStale(e, commits)
				if o.stale = former; former {
					e.before(versionOwes)
				}
				e.at(30*time.Minute, func() { e.SetContinueAsNewSuggested(true) })
				e.at(24*time.Hour, func() { o.need[5] = "x" }) // so that the test ends
				var next activities.BatchInput
				continued(t, e.run(Batch, spreadInput()), &next)
				e.saysOwing(former, false)
				e = newEnv(t)
				o = owners{need: map[int]string{3: "", 5: "x"}}
				o.playStale(e, commits)
				err := e.run(Batch, next)
				if got := strings.Join(e.called(), " "); got != "Route Deliver Route" {
					t.Errorf("steps %q", got)
				}
				e.saysOwing(former, true)
				if fails := commits == "GiveBack"; (err != nil) != fails || fails && !strings.Contains(err.Error(), "no") {
					t.Errorf("ends with %v", err)
				}
			})
		}
	}
}

// TestOwingBatchCancelled: a batch that is cancelled while it delivers what it had left at its commit tries so for a while, and ends then.
func TestOwingBatchCancelled(t *testing.T) {
	for _, c := range []struct {
		back time.Duration // when the owner is there
		want string        // of the error
		took time.Duration
	}{{20 * time.Minute, "", 20 * time.Minute}, {24 * time.Hour, "links to 1 partitions are lost", 15*time.Minute + owingWait}} {
		for _, former := range []bool{false, true} {
			e := newEnv(t)
			o := owners{need: map[int]string{3: "v", 5: ""}}
			o.playStale(e, "Commit")
			if o.stale = former; former {
				e.before(versionOwes)
			}
			e.at(15*time.Minute, e.CancelWorkflow)
			e.at(c.back, func() { o.need[5] = "x" })
			start := e.Now()
			err := e.run(Batch, spreadInput())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("ends with %v", err)
			}
			if took := e.Now().Sub(start); took < c.took || took > c.took+2*deliverPauseMost {
				t.Errorf("it took %s", took)
			}
			e.saysOwing(former, false, true)
		}
	}
}

// TestStaleBatchRefused: the worker of a batch that is committed is to know that another one refuses its links, so that the crawl holds, and that this is over.
func TestStaleBatchRefused(t *testing.T) {
	e := newEnv(t)
	o := owners{need: map[int]string{3: "v", 5: "v"}, take: func([]int) ([]int, error) {
		return nil, temporal.NewNonRetryableApplicationError("not allowed", activities.ErrorInput, nil)
	}}
	o.playStale(e, "Commit")
	e.at(10*time.Minute, func() { o.take = nil })
	if err := e.run(Batch, spreadInput()); err != nil {
		t.Fatal(err)
	}
	if known := o.refused; len(known) < 5 || known[0] != "" || known[1] != "" || known[2] != "worker v refuses them: not allowed" || known[len(known)-1] != "" {
		t.Errorf("the worker is given %q", known)
	}
}

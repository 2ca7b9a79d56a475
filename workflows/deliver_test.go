package workflows

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
)

// owners plays the workers that own partitions for a batch.
type owners struct {
	need   map[int]string                              // partition → owner; "" if nobody takes deliveries for it
	take   func(to []int) ([]int, error)               // nil: all
	commit func(in activities.BatchInput, n int) error // nil: all is well

	refused []string // what each look knew of the last delivery
}

// play answers the steps that a batch of a spread crawl has beside the others.
func (o *owners) play(e *env, step string) {
	does(e, "Undelivered", func(in activities.BatchInput) (out activities.UndeliveredResult, err error) {
		o.refused = append(o.refused, in.Refused)
		by := map[string][]int{}
		for p, owner := range o.need {
			switch {
			case slices.Contains(in.Delivered, p):
			case owner == "":
				out.Waits++
			default:
				by[owner] = append(by[owner], p)
			}
		}
		for _, owner := range []string{"v", "x"} {
			if slices.Sort(by[owner]); len(by[owner]) > 0 {
				d := activities.Delivery{Queue: "muninn/" + owner, Owner: owner}
				d.Crawl, d.Partitions = in.Crawl, by[owner]
				out.To = append(out.To, d)
			}
		}
		return out, nil
	})
	does(e, "Deliver", func(in activities.DeliverInput) (out activities.DeliverResult, err error) {
		if out.Delivered = in.Partitions; o.take != nil {
			out.Delivered, err = o.take(in.Partitions)
		}
		return out, err
	})
	n := 0
	acts(e, step, func(in activities.BatchInput) error {
		if n++; o.commit != nil {
			return o.commit(in, n)
		}
		for p := range o.need {
			if !slices.Contains(in.Delivered, p) {
				return temporal.NewNonRetryableApplicationError("links are not delivered", activities.ErrorUndelivered, nil)
			}
		}
		return nil
	})
}

// TestBatchDelivers: a batch of a spread crawl is committed when all owners have what it has found for them.
func TestBatchDelivers(t *testing.T) {
	fails := true
	for _, c := range []struct {
		name   string
		owners owners
		change func(o *owners) // half an hour later
		want   string
		longer time.Duration // it takes longer
	}{
		{"nothing to deliver", owners{}, nil, "Undelivered Commit", 0},
		{"one owner", owners{need: map[int]string{3: "v", 5: "v"}}, nil, "Undelivered Deliver Commit", 0},
		{"two owners", owners{need: map[int]string{3: "v", 5: "x"}}, nil, "Undelivered Deliver Deliver Commit", 0},
		{
			"an owner takes a part", owners{need: map[int]string{3: "v", 5: "v"}, take: func(to []int) ([]int, error) { return to[:1], nil }}, nil,
			"Undelivered Deliver Undelivered Deliver Commit", 0,
		},
		{
			"a delivery fails", owners{need: map[int]string{3: "v"}, take: func(to []int) ([]int, error) {
				if fails {
					fails = false
					return nil, temporal.NewNonRetryableApplicationError("no", "No", nil)
				}
				return to, nil
			}}, nil, "Undelivered Deliver Undelivered Deliver Commit", 0,
		},
		{
			"the ring changes before the commit", owners{need: map[int]string{3: "v"}, commit: func(in activities.BatchInput, n int) error {
				if n == 1 {
					return temporal.NewNonRetryableApplicationError("links are not delivered", activities.ErrorUndelivered, nil)
				}
				return nil
			}}, nil, "Undelivered Deliver Commit Undelivered Commit", 0,
		},
		{"nobody owns a partition", owners{need: map[int]string{3: "v", 5: ""}}, func(o *owners) { o.need[5] = "x" }, "Undelivered Deliver …Undelivered Deliver Commit", 30 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			batchSteps(e, activities.OpenResult{Archived: true}, "", nil, "Commit")
			c.owners.play(e, "Commit")
			if c.change != nil {
				e.at(30*time.Minute, func() { c.change(&c.owners) })
			}
			in := batchInput
			in.Spread = true
			start := e.Now()
			if err := e.run(Batch, in); err != nil {
				t.Fatal(err)
			}
			got := strings.TrimPrefix(strings.Join(e.called(), " "), "Open ")
			from, to, several := strings.Cut(c.want, "…")
			if got != c.want && !(several && strings.HasPrefix(got, from) && strings.HasSuffix(got, to)) {
				t.Errorf("steps %q, want %q", got, c.want)
			}
			if took := e.Now().Sub(start); took < c.longer || took > c.longer+2*deliverPauseMost {
				t.Errorf("it took %s", took)
			}
			if n := len(e.called()); n > 90 {
				t.Errorf("%d steps", n)
			}
		})
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
	in := batchInput
	in.Spread = true
	if err := e.run(Batch, in); err != nil {
		t.Fatal(err)
	}
	known := o.refused
	if len(known) < 10 || len(known) > 90 || known[0] != "" {
		t.Fatalf("%d looks, %q", len(known), known)
	}
	for _, why := range known[1:] {
		if why != "worker v refuses them: it is not below what the setting archive-allow names" {
			t.Errorf("the worker is given %q", why)
		}
	}
}

// TestFailedBatchDelivers: what a failed batch has archived is committed by its give-back, which needs the deliveries, too: also
// if it is cancelled, as when its partition is handed over. The end of the crawl takes its claims, and with them all that is to be delivered.
func TestFailedBatchDelivers(t *testing.T) {
	for name, c := range map[string]struct {
		owner  string
		cancel bool
		within time.Duration
	}{
		"fails": {"v", false, time.Minute}, "is cancelled": {"v", true, time.Minute}, "is cancelled, and an owner is silent until the crawl ends": {"", true, 20 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			batchSteps(e, activities.OpenResult{URLs: 3}, "Process", temporal.NewNonRetryableApplicationError("no", "No", nil), "GiveBack", "FetchTargets")
			does(e, "FetchTargets", func(activities.BatchInput) (out activities.FetchResult, err error) {
				if c.cancel {
					e.CancelWorkflow()
				}
				return out, nil
			})
			o := owners{need: map[int]string{3: c.owner}}
			o.play(e, "GiveBack")
			e.at(15*time.Minute, func() { o.need = nil })
			in := batchInput
			in.Spread = true
			start := e.Now()
			if err := e.run(Batch, in); err == nil {
				t.Error("it has not failed")
			}
			if e.count("GiveBack") != 2 {
				t.Errorf("steps %v", e.called())
			}
			if took := e.Now().Sub(start); took > c.within {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// playStale answers the steps of a batch with claims of a former tenure, which is committed by a step.
func (o *owners) playStale(e *env, commits string) {
	e.signals(nil)
	open, fail := activities.OpenResult{Archived: true}, ""
	if commits == "GiveBack" {
		open, fail = activities.OpenResult{URLs: 3}, "Process"
	}
	batchSteps(e, open, fail, temporal.NewNonRetryableApplicationError("no", "No", nil), commits)
	does(e, "Deliver", func(in activities.DeliverInput) (out activities.DeliverResult, err error) {
		if out.Delivered = in.Partitions; o.take != nil {
			out.Delivered, err = o.take(in.Partitions)
		}
		return out, err
	})
	acts(e, commits, func(in activities.BatchInput) error {
		if len(in.Delivered) != 2 || !in.Owes {
			return temporal.NewNonRetryableApplicationError("links are not delivered", activities.ErrorUndelivered, nil)
		}
		return nil
	})
	does(e, "Undelivered", func(in activities.BatchInput) (out activities.UndeliveredResult, err error) {
		if len(in.Delivered) == 0 {
			out.Stale = &activities.DeliverInput{Crawl: in.Crawl, Partitions: []int{3, 5}}
		}
		return out, nil
	})
	does(e, "Route", func(in activities.RouteInput) (out activities.UndeliveredResult, err error) {
		o.refused = append(o.refused, in.Refused)
		for _, p := range in.Left.Partitions {
			if o.need[p] == "" {
				out.Waits++
				continue
			}
			to := activities.Delivery{Queue: "muninn/" + o.need[p], Owner: o.need[p], DeliverInput: in.Left}
			to.Partitions = []int{p}
			out.To = append(out.To, to)
		}
		return out, nil
	})
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

// TestStaleBatchDelivers: a batch with claims of a former tenure is committed first, and then delivers; its crawl knows in between. Also if it is
// cancelled, as when its partition is loaded.
func TestStaleBatchDelivers(t *testing.T) {
	for _, commits := range []string{"Commit", "GiveBack"} {
		t.Run(commits, func(t *testing.T) {
			e := newEnv(t)
			o := owners{need: map[int]string{3: "v", 5: ""}}
			o.playStale(e, commits)
			e.at(30*time.Minute, func() { o.need[5] = "w" })
			in := batchInput
			in.Spread = true
			start := e.Now()
			if err := e.run(Batch, in); (err != nil) != (commits == "GiveBack") {
				t.Fatal(err)
			}
			if took := e.Now().Sub(start); took < 30*time.Minute || took > 31*time.Minute || e.count("Deliver") != 2 || e.count("Route") < 3 {
				t.Errorf("it took %s, steps %v", took, e.called())
			}
			if said := e.said(); len(said) != 2 || said[0].Done || !said[1].Done {
				t.Errorf("%+v", said)
			}
		})
	}
}

// TestStaleBatchContinues: the history of a batch that waits for days with links to deliver does not grow without end. The next execution delivers
// what is left, and ends as the first would have.
func TestStaleBatchContinues(t *testing.T) {
	for _, commits := range []string{"Commit", "GiveBack"} {
		t.Run(commits, func(t *testing.T) {
			e := newEnv(t)
			o := owners{need: map[int]string{3: "v", 5: ""}}
			o.playStale(e, commits)
			e.at(30*time.Minute, func() { e.SetContinueAsNewSuggested(true) })
			e.at(24*time.Hour, func() { o.need[5] = "w" }) // so that the test ends
			in := batchInput
			in.Spread = true
			var next activities.BatchInput
			continued(t, e.run(Batch, in), &next)
			if said := e.said(); len(said) != 1 || said[0].Done {
				t.Errorf("%+v", said)
			}
			e = newEnv(t)
			o = owners{need: map[int]string{3: "", 5: "w"}}
			o.playStale(e, commits)
			err := e.run(Batch, next)
			if got := strings.Join(e.called(), " "); got != "Route Deliver Route" {
				t.Errorf("steps %q", got)
			}
			if said := e.said(); len(said) != 1 || !said[0].Done {
				t.Errorf("%+v", said)
			}
			if fails := commits == "GiveBack"; (err != nil) != fails || fails && !strings.Contains(err.Error(), "no") {
				t.Errorf("ends with %v", err)
			}
		})
	}
}

// TestStaleBatchCancelled: a batch that is cancelled while it delivers what it had left at its commit tries so for a while, and ends then; its crawl
// does not wait for it any more.
func TestStaleBatchCancelled(t *testing.T) {
	for _, c := range []struct {
		back time.Duration // when the owner is there
		want string        // of the error
		took time.Duration
	}{{20 * time.Minute, "", 20 * time.Minute}, {24 * time.Hour, "links to 1 partitions are lost", 15*time.Minute + owingWait}} {
		e := newEnv(t)
		o := owners{need: map[int]string{3: "v", 5: ""}}
		o.playStale(e, "Commit")
		e.at(15*time.Minute, e.CancelWorkflow)
		e.at(c.back, func() { o.need[5] = "w" })
		in := batchInput
		in.Spread = true
		start := e.Now()
		err := e.run(Batch, in)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("ends with %v", err)
		}
		if took := e.Now().Sub(start); took < c.took || took > c.took+2*deliverPauseMost {
			t.Errorf("it took %s", took)
		}
		if said := e.said(); len(said) != 2 || said[0].Done || !said[1].Done {
			t.Errorf("%+v", said)
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
	in := batchInput
	in.Spread = true
	if err := e.run(Batch, in); err != nil {
		t.Fatal(err)
	}
	if known := o.refused; len(known) < 5 || known[0] != "" || known[1] != "worker v refuses them: not allowed" || known[len(known)-1] != "" {
		t.Errorf("the worker is given %q", known)
	}
}

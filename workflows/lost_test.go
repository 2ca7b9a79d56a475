package workflows

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/ring"
)

// TestDeliverLost: what a lost worker has left is asked for until the owners of all partitions have it, of the workers that there are by then.
func TestDeliverLost(t *testing.T) {
	parts := func(from, to int) (list []int) {
		for p := from; p < to; p++ {
			list = append(list, p)
		}
		return list
	}
	for _, c := range []struct {
		name    string
		batches []string
		takes   [][]int // by call
		want    string
	}{
		{"it has left nothing", nil, nil, "LostBatches"},
		{"two workers have all", []string{"a.test-1"}, [][]int{parts(0, 500), parts(500, ring.Partitions)}, "LostBatches TakeLost TakeLost"},
		{
			"some are rebuilt meanwhile, and one worker fails", []string{"a.test-1"}, [][]int{parts(0, 500), nil, nil, parts(500, 600), parts(600, ring.Partitions), {}},
			"LostBatches TakeLost TakeLost TakeLost TakeLost TakeLost TakeLost",
		},
		{
			"some move from one worker to the other while both are asked", []string{"a.test-1"},
			[][]int{parts(0, 500), parts(400, ring.Partitions-100), nil, parts(ring.Partitions-100, ring.Partitions)}, "LostBatches TakeLost TakeLost TakeLost TakeLost",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := bareEnv(t)
			var flow = func(ctx workflow.Context) error {
				return deliverLost(ctx, "c", "w", func() []string { return []string{"q1", "q2"} })
			}
			e.RegisterWorkflow(flow)
			does(e, "LostBatches", func(activities.LostInput) (activities.LostResult, error) {
				return activities.LostResult{Batches: c.batches}, nil
			})
			taken := map[int]bool{}
			does(e, "TakeLost", func(in activities.LostInput) (out activities.LostResult, err error) {
				e.mu.Lock()
				defer e.mu.Unlock()
				if len(in.Batches) != 1 || in.Worker != "w" || len(c.takes) == 0 {
					return out, errors.New("asked for something else")
				}
				out.Taken, c.takes = c.takes[0], c.takes[1:]
				for _, p := range out.Taken {
					taken[p] = true
				}
				return out, nil
			})
			start := e.Now()
			if err := e.run(flow); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(e.called(), " "); got != c.want || c.batches != nil && len(taken) != ring.Partitions {
				t.Errorf("steps %q, want %q; %d partitions are taken", got, c.want, len(taken))
			}
			if took := e.Now().Sub(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestDeliverLostLeaves: workers that leave while they are asked are not waited for.
func TestDeliverLostLeaves(t *testing.T) {
	e := bareEnv(t)
	queues := []string{"q1", "q2"}
	flow := func(ctx workflow.Context) error {
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = workflow.Sleep(ctx, 5*time.Second)
			queues = []string{"q3"}
		})
		return deliverLost(ctx, "c", "w", func() []string { return queues })
	}
	e.RegisterWorkflow(flow)
	does(e, "LostBatches", func(activities.LostInput) (activities.LostResult, error) {
		return activities.LostResult{Batches: []string{"a.test-1"}}, nil
	})
	var all []int
	for p := range ring.Partitions {
		all = append(all, p)
	}
	e.OnActivity("TakeLost", mock.Anything, mock.Anything).After(9*time.Minute).Return(activities.LostResult{}, nil).Twice()
	e.OnActivity("TakeLost", mock.Anything, mock.Anything).Return(activities.LostResult{Taken: all}, nil)
	start := e.Now()
	if err := e.run(flow); err != nil {
		t.Fatal(err)
	}
	if took := e.Now().Sub(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

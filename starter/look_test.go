package starter

import (
	"context"
	"errors"
	"path"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/workflows"
)

// someAway is a service with a controller for each member; of those that are away none answers.
type someAway struct {
	client.Client
	away  map[string]bool // by workflow ID
	crawl workflows.CrawlState
}

func (s someAway) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}, nil
}

// QueryWorkflow waits for a worker that is away until the context ends: as Temporal does if a worker has polled a moment ago.
func (s someAway) QueryWorkflow(ctx context.Context, id, _, _ string, _ ...any) (converter.EncodedValue, error) {
	if _, bounded := ctx.Deadline(); s.away[id] && !bounded {
		return nil, errors.New("a worker that is away is waited for without end")
	}
	if s.away[id] {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var answer any = s.crawl
	if id != names.CrawlID("c") {
		p := activities.Progress{Worker: path.Base(id), At: time.Now()}
		p.Totals.Pages = 7
		answer = p
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(answer)
	return client.NewValue(payloads), err
}

// The other questions are answered by Temporal itself: nobody polls a queue, and no batch has failed or is paused.
func (s someAway) DescribeTaskQueue(context.Context, string, enums.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{}, nil
}

func (s someAway) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

// TestStatusOfDeadWorkers: `muninn status` takes statusWait at most for workers that do not answer, however many they are, and names them.
func TestStatusOfDeadWorkers(t *testing.T) {
	const most = 3 * time.Second // what OPERATING promises
	workers := []string{"w1", "w2", "w3", "w4", "w5"}
	for name, test := range map[string]struct {
		away   []string // workers; empty: nobody answers for the crawl
		spread bool
	}{
		"its worker": {away: []string{"w1"}}, "all of a spread crawl but one": {away: workers[1:], spread: true}, "all of a spread crawl": {away: workers, spread: true},
		"nobody takes the tasks of the crawl": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := someAway{away: map[string]bool{names.CrawlID("c"): len(test.away) == 0}, crawl: workflows.CrawlState{Name: "c", Phase: crawl.PhaseBroad}}
			s.crawl.Begun.Run = 1
			for _, w := range workers {
				m := &workflows.CrawlMember{Member: activities.Member{Worker: w, Queue: "muninn/" + w}}
				if s.crawl.Members = append(s.crawl.Members, m); !test.spread {
					break
				}
				s.crawl.Ring = append(s.crawl.Ring, m.Member)
			}
			for _, w := range test.away {
				s.away[names.ControllerID("c", w)] = true
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got, err := status(t.Context(), s, "c", statusWait)
				took := time.Since(began)
				var unanswered *unansweredError
				if err != nil && (!errors.As(err, &unanswered) || len(test.away) > 0) {
					t.Fatal(err)
				}
				if took != statusWait || took >= most {
					t.Errorf("it took %v", took)
				}
				if test.spread {
					if len(got.Unanswered) != len(test.away) {
						t.Errorf("%+v do not answer, want %v", got.Unanswered, test.away)
					}
				} else if got.Silent == nil || len(test.away) > 0 && got.Silent.Worker != test.away[0] {
					t.Errorf("%+v does not answer, want %v", got.Silent, test.away)
				}
				if answered := test.spread && len(test.away) < len(workers); answered && got.Crawl.Progress.Totals.Pages != 7 {
					t.Errorf("the one that answers has %d pages", got.Crawl.Progress.Totals.Pages)
				}
			})
		})
	}
}

// TestControllersOfSomeWorkersAreAway: those that answer are asked in time, whichever member is away.
func TestControllersOfSomeWorkersAreAway(t *testing.T) {
	s := crawlStatus{Crawl: workflows.CrawlState{Name: "c"}}
	for _, worker := range []string{"away-1", "here", "away-2"} {
		m := &workflows.CrawlMember{}
		m.Worker = worker
		s.Crawl.Members = append(s.Crawl.Members, m)
	}
	service := someAway{away: map[string]bool{names.ControllerID("c", "away-1"): true, names.ControllerID("c", "away-2"): true}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answers := s.askControllers(ctx, service, "run")
		for i, want := range []bool{false, true, false} {
			if a := answers[i]; a.answered != want || !a.running || want && a.progress.Totals.Pages != 7 {
				t.Errorf("member %d: %+v", i, a)
			}
		}
	})
}

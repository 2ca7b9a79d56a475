package starter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/workflows"
)

// silentWorker is a worker that a crawl needs and that does not answer.
type silentWorker struct {
	Worker string    `json:"worker,omitempty"` // that has the crawl; empty if nobody takes the tasks of the crawl itself
	Queue  string    `json:"task_queue"`
	Seen   time.Time `json:"last_seen,omitzero"` // its last sign of life; zero: none is known
}

// awayAfter is how old the last sign of life of a worker is that counts as away: one that lives asks for tasks each minute.
const awayAfter = 90 * time.Second

// lastSeen is the last sign of life of a worker that Temporal knows: when it asked for tasks, which Temporal remembers for five
// minutes, or gave a heartbeat; reported is when its numbers were reported.
func lastSeen(pollers []*taskqueuepb.PollerInfo, steps []*workflowpb.PendingActivityInfo, reported time.Time) time.Time {
	signs := []time.Time{reported}
	for _, p := range pollers {
		signs = append(signs, p.GetLastAccessTime().AsTime())
	}
	for _, a := range steps {
		for _, t := range []*timestamppb.Timestamp{a.GetLastStartedTime(), a.GetLastHeartbeatTime()} {
			if t != nil {
				signs = append(signs, t.AsTime())
			}
		}
	}
	return slices.MaxFunc(signs, time.Time.Compare)
}

// pollersOf lists who has asked for tasks of a queue in the last minutes.
func pollersOf(ctx context.Context, c client.Client, queue string) (list []*taskqueuepb.PollerInfo, err error) {
	for _, kind := range []enums.TaskQueueType{enums.TASK_QUEUE_TYPE_WORKFLOW, enums.TASK_QUEUE_TYPE_ACTIVITY} {
		d, err := c.DescribeTaskQueue(ctx, queue, kind)
		if err != nil {
			return nil, err
		}
		list = append(list, d.GetPollers()...)
	}
	return list, nil
}

// controllerAnswer is what became of the question to the controller of a crawl.
type controllerAnswer struct {
	running, answered bool
	described         *workflowservice.DescribeWorkflowExecutionResponse // nil: there is no controller
	progress          activities.Progress
}

// noteSilence notes that the worker of a running crawl does not answer. In a phase without a controller nothing can be asked of it: then
// it is silent if it has not asked for tasks either.
func (s *crawlStatus) noteSilence(ctx context.Context, c client.Client, m activities.Member, a controllerAnswer) error {
	if a.answered {
		return nil
	}
	pollers, err := pollersOf(ctx, c, m.Queue)
	if err != nil || !a.running && len(pollers) > 0 {
		return err
	}
	if s.Crawl.Spread() {
		reported := time.Time{}
		if of := slices.IndexFunc(s.Crawl.Members, func(o *workflows.CrawlMember) bool { return !o.Gone && o.Worker == m.Worker }); of >= 0 {
			reported = s.Crawl.Members[of].Progress.At
		}
		s.Unanswered = append(s.Unanswered, silentWorker{m.Worker, m.Queue, lastSeen(pollers, a.described.GetPendingActivities(), reported)})
		return nil
	}
	s.Silent = &silentWorker{m.Worker, m.Queue, lastSeen(pollers, a.described.GetPendingActivities(), s.Crawl.Progress.At)}
	return nil
}

// unansweredError says that no worker answers for a crawl that runs: what its status has, Temporal knows without one.
type unansweredError struct {
	queue string
	err   error
}

func (e *unansweredError) Error() string {
	return fmt.Sprintf("ask the crawl for its status: %v; is a worker running on task queue %q?", e.err, e.queue)
}

func (e *unansweredError) Unwrap() error { return e.err }

// takeAttributes fills in what Temporal knows of a crawl for which no worker answers.
func (s *crawlStatus) takeAttributes(ctx context.Context, c client.Client, d *workflowservice.DescribeWorkflowExecutionResponse) error {
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	pollers, err := pollersOf(ctx, c, queue)
	if err != nil {
		return err
	}
	s.Silent = &silentWorker{Queue: queue, Seen: lastSeen(pollers, nil, time.Time{})}
	for _, child := range d.GetPendingChildren() {
		if worker, is := names.ControllerOf(s.Crawl.Name, child.GetWorkflowId()); is {
			m := &workflows.CrawlMember{}
			m.Worker = worker
			s.Crawl.Members = append(s.Crawl.Members, m)
		}
	}
	var state string
	fields := d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	for key, to := range map[temporal.SearchAttributeKey]any{
		names.AttrState: &state, names.AttrPages: &s.Crawl.Progress.Totals.Pages, names.AttrErrors: &s.Crawl.Progress.Totals.Errors,
	} {
		if payload, has := fields[key.GetName()]; has {
			if err := converter.GetDefaultDataConverter().FromPayload(payload, to); err != nil {
				return err
			}
		}
	}
	s.Crawl.Phase = crawl.Phase(state)
	return nil
}

// describe says since when a worker is silent, and what becomes of its crawl.
func (w silentWorker) describe(s crawlStatus, now time.Time) (since, then string) {
	who, back := "its worker "+w.Worker, "it is back"
	if w.Worker == "" {
		who, back = "every worker of the task queue "+w.Queue, "one runs"
	}
	switch {
	case w.Seen.IsZero():
		since = who + " is away: Temporal knows no sign of life of the last five minutes"
	case now.Sub(w.Seen) > awayAfter:
		since = fmt.Sprintf("%s is away: its last sign of life was at %s, %s ago", who, w.Seen.Local().Format(time.DateTime), now.Sub(w.Seen).Round(time.Second))
	default:
		since = fmt.Sprintf("%s does not answer (--wait asks for longer): its last sign of life was at %s", who, w.Seen.Local().Format(time.DateTime))
	}
	switch {
	case w.Worker == "":
		then = "the crawl continues when one runs; to end it without, `temporal workflow terminate --workflow-id '" + s.Workflow + "'`"
	case s.Crawl.Cancelled:
		then = fmt.Sprintf("the crawl ends without it %s after it was cancelled; its batches end when it is back", cmp.Or(s.Crawl.CancelWait, workflows.ControllerWait))
	case s.Crawl.Stopping:
		then = "the crawl stops when " + back
	case s.Crawl.Paused:
		then = "the crawl is paused; it can be resumed when " + back
	default:
		then = "the crawl continues when " + back
	}
	if w.Worker != "" && !s.Crawl.Cancelled {
		then += "; to end it without, `temporal workflow cancel --workflow-id '" + s.Workflow + "'`"
	}
	return since, then
}

package activities

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
)

// The ends of workflows that are no reasons of a termination.
const (
	endDone = "it is done since, by another execution"
	endGone = "it is deleted"
)

// endedBatches is a Temporal service with batches that run, and with such that were terminated, by why. Their histories begin without a data folder.
type endedBatches struct {
	client.Client
	running []string
	ended   map[string]string
	queries []string
}

func (e *endedBatches) ListWorkflow(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	e.queries = append(e.queries, in.GetQuery())
	list := e.running
	if strings.Contains(in.GetQuery(), "'Terminated'") {
		list = slices.Sorted(maps.Keys(e.ended))
	}
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, batch := range list {
		out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: names.BatchID(rigCrawl, batch)}})
	}
	return out, nil
}

func (e *endedBatches) GetWorkflowHistory(ctx context.Context, id, run string, poll bool, filter enums.HistoryEventFilterType) client.HistoryEventIterator {
	if filter == enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT {
		return (&startedBy{folders: map[string]string{id: ""}}).GetWorkflowHistory(ctx, id, run, poll, filter)
	}
	batch, _ := names.BatchOf(rigCrawl, id)
	return &lastEvent{e.ended[batch], true}
}

type lastEvent struct {
	end  string
	left bool
}

func (l *lastEvent) HasNext() bool { return l.left }

func (l *lastEvent) Next() (*historypb.HistoryEvent, error) {
	l.left = false
	switch l.end {
	case endGone:
		return nil, serviceerror.NewNotFound("no such workflow")
	case endDone:
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{}}, nil
	}
	how := &historypb.WorkflowExecutionTerminatedEventAttributes{Reason: l.end}
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{WorkflowExecutionTerminatedEventAttributes: how}}, nil
}

// TestTerminatedBatches: a batch that an operator has terminated counts as left open by a worker that is lost since: its worker would have started it again. One
// that the crawl itself has terminated does not: others have what it had archived.
func TestTerminatedBatches(t *testing.T) {
	temporal := &endedBatches{running: []string{"a.example-1@w.1", "b.example-2@w.1"}, ended: map[string]string{
		"b.example-2@w.1": "by hand, and it was started again", "c.example-3@w.1": "by hand", "d.example-4@w.1": retireReason, "e.example-5@w.1": endDone, "f.example-6@w.1": endGone,
	}}
	a := &Activities{Client: temporal}
	in := LostInput{Crawl: rigCrawl, Holder: Holder{Worker: "w"}}
	out, err := a.LostBatches(t.Context(), in)
	if err != nil || !slices.Equal(out.Batches, temporal.running) {
		t.Errorf("of an earlier version: %v, %v", out.Batches, err)
	}
	in.Since = time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	out, err = a.LostBatches(t.Context(), in)
	if want := []string{"a.example-1@w.1", "b.example-2@w.1", "c.example-3@w.1"}; err != nil || !slices.Equal(out.Batches, want) || out.Open != len(want) {
		t.Errorf("%+v, %v", out, err)
	}
	const query = "WorkflowType='Batch' AND MuninnCrawl='" + rigCrawl + "' AND MuninnWorker='w' AND ExecutionStatus='Terminated' AND CloseTime>='2026-11-23T11:00:00Z'"
	if last := temporal.queries[len(temporal.queries)-1]; len(temporal.queries) != 3 || last != query {
		t.Errorf("%q", temporal.queries)
	}
}

// TestAbsentWithTerminatedBatches: a folder all of whose batches an operator has terminated is absent as well as one that has left open ones.
func TestAbsentWithTerminatedBatches(t *testing.T) {
	temporal := &endedBatches{running: []string{"a.example-1@w1.1"}, ended: map[string]string{"b.example-2@w9.1": "by hand", "c.example-3@w8.1": retireReason, "d.example-4@w2.1": "by hand"}}
	a := &Activities{Client: temporal}
	in := AbsentInput{Crawl: rigCrawl, Ring: []Member{{Worker: "w1"}, {Worker: "w2"}}}
	if out, err := a.Absent(t.Context(), in); err != nil || len(out) > 0 {
		t.Errorf("of an earlier version: %v, %v", out, err)
	}
	in.Since = time.Now()
	if out, err := a.Absent(t.Context(), in); err != nil || !slices.Equal(out, []Holder{{Worker: "w9"}}) {
		t.Errorf("%v, %v", out, err)
	}
}

// TestTakeOverOfTerminatedBatch: an operator terminates a batch that owes its links, and its worker is lost before it starts the batch again: the others have the
// links nevertheless.
func TestTakeOverOfTerminatedBatch(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	from := s.ownerOf("a.example")
	in := from.linking()
	other := s.workers[s.undelivered(from, in).To[0].Owner]
	other.Client = &endedBatches{ended: map[string]string{in.Batch: "by hand"}}
	lost := LostInput{Crawl: in.Crawl, Holder: Holder{Worker: from.Settings.Worker}, Since: time.Now().Add(-time.Hour)}
	out, err := call[LostResult](other, other.TakeOver, lost)
	other.must(err)
	if len(out.Taken) == 0 || len(other.states()) < 20 {
		t.Errorf("%d partitions are taken, %d URLs known", len(out.Taken), len(other.states()))
	}
}

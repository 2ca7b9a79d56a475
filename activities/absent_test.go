package activities

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
)

// startedBy is a pagedList that has the first events of workflows: of each batch the folder that it was started for; none: it is gone.
type startedBy struct {
	pagedList
	folders map[string]string // by ID
}

func (s *startedBy) GetWorkflowHistory(_ context.Context, id, _ string, _ bool, _ enums.HistoryEventFilterType) client.HistoryEventIterator {
	return &firstEvent{s, id, true}
}

type firstEvent struct {
	of   *startedBy
	id   string
	left bool
}

func (f *firstEvent) HasNext() bool { return f.left }

func (f *firstEvent) Next() (*historypb.HistoryEvent, error) {
	f.left = false
	folder, is := f.of.folders[f.id]
	if !is {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(BatchInput{Crawl: rigCrawl, Holder: Holder{"w", folder}})
	if err != nil {
		return nil, err
	}
	started := &historypb.WorkflowExecutionStartedEventAttributes{Input: input}
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: started}}, nil
}

// TestAbsent: the folders that have left open batches are those that the ring does not have: also if their worker has another one there.
func TestAbsent(t *testing.T) {
	const query = "WorkflowType='Batch' AND MuninnCrawl='" + rigCrawl + "' AND ExecutionStatus='Running'"
	for _, c := range []struct {
		name    string
		batches map[string]string // folders by batch; "gone": the workflow is gone
		want    []string
	}{
		{"none is open", nil, nil},
		{"all are those of workers of the ring", map[string]string{"a.example-1@w1.3": "i1", "b.example-2@w2.3": "i2"}, nil},
		{"one is of a worker that is not there", map[string]string{"a.example-1@w1.3": "i1", "b.example-2@w9.3": "i9", "c.example-3@w9.3": "i9"}, []string{"w9 i9"}},
		{"a worker has another folder now", map[string]string{"a.example-1@w1.3": "i1", "b.example-2@w1.2": "former"}, []string{"w1 former"}},
		{"the folder is not known", map[string]string{"a.example-1@w1.3": "", "b.example-2@w9.3": ""}, []string{"w9 "}},
		{"it has ended meanwhile", map[string]string{"b.example-2@w9.3": "gone"}, nil},
		{"of a crawl that is bound", map[string]string{"b.example-2": "i1"}, nil},
	} {
		s := &startedBy{folders: map[string]string{}}
		var ids []string
		for batch, folder := range c.batches {
			id := names.BatchID(rigCrawl, batch)
			if ids = append(ids, id); folder != "gone" {
				s.folders[id] = folder
			}
		}
		slices.Sort(ids)
		s.pages = [][]string{ids}
		a := &Activities{Client: s}
		out, err := a.Absent(t.Context(), AbsentInput{Crawl: rigCrawl, Ring: []Member{{Worker: "w1", Instance: "i1"}, {Worker: "w2", Instance: "i2", Lost: true}}})
		var got []string
		for _, h := range out {
			got = append(got, fmt.Sprintf("%s %s", h.Worker, h.Instance))
		}
		if err != nil || !slices.Equal(got, c.want) || s.query != query {
			t.Errorf("%s: %q, want %q; %v; asked for %s", c.name, got, c.want, err, s.query)
		}
	}
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
)

// pagedList is a Temporal service that lists workflows page by page.
type pagedList struct {
	client.Client
	pages  [][]string // IDs
	fails  error      // in place of the last page
	query  string
	listed int
}

func (p *pagedList) ListWorkflow(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	if want := fmt.Sprint(p.listed); p.listed > 0 && string(in.GetNextPageToken()) != want {
		return nil, fmt.Errorf("page %q is asked for, want %q", in.GetNextPageToken(), want)
	}
	if p.query = in.GetQuery(); p.listed == len(p.pages)-1 && p.fails != nil {
		return nil, p.fails
	}
	for _, id := range p.pages[p.listed] {
		out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "of the list"}})
	}
	if p.listed++; p.listed < len(p.pages) {
		out.NextPageToken = fmt.Append(nil, p.listed)
	}
	return out, nil
}

// TestLostBatches: the open batches of a worker are read from all pages of the list, by their names and in order; what is no batch of the crawl is left out.
func TestLostBatches(t *testing.T) {
	away := errors.New("away")
	id := func(batch string) string { return names.BatchID(rigCrawl, batch) }
	const query = "WorkflowType='Batch' AND MuninnCrawl='" + rigCrawl + "' AND MuninnWorker='w' AND ExecutionStatus='Running'"
	for _, c := range []struct {
		name  string
		pages [][]string
		fails error
		want  []string
	}{
		{"none is open", [][]string{{}}, nil, nil},
		{"one page, in order", [][]string{{id("b.example-2@w.1"), id("a.example-1@w.1")}}, nil, []string{"a.example-1@w.1", "b.example-2@w.1"}},
		{"two pages", [][]string{{id("b.example-2@w.1")}, {id("a.example-1@w.1")}}, nil, []string{"a.example-1@w.1", "b.example-2@w.1"}},
		{"an empty page before others", [][]string{{}, {id("a.example-1@w.1")}}, nil, []string{"a.example-1@w.1"}},
		{"no batch of the crawl", [][]string{{names.CrawlID("other") + "/a.example/1", names.CrawlID(rigCrawl)}}, nil, nil},
		{"the second page is not to be had", [][]string{{id("a.example-1@w.1")}, {}}, away, nil},
	} {
		list := &pagedList{pages: c.pages, fails: c.fails}
		a := &Activities{Client: list}
		out, err := a.LostBatches(t.Context(), LostInput{Crawl: rigCrawl, Holder: Holder{Worker: "w"}})
		if !errors.Is(err, c.fails) || !slices.Equal(out.Batches, c.want) || out.Taken != nil {
			t.Errorf("%s: %+v, %v, want %v", c.name, out, err, c.want)
		}
		if list.query != query {
			t.Errorf("%s: asked for %s", c.name, list.query)
		}
	}
}

package activities

import (
	"context"
	"slices"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
)

// foldersOf is a Temporal service with open batches of two data folders of the worker w: the memos of some name the folder, the histories of others.
type foldersOf struct {
	startedBy
	memos map[string]string
	ended []string
}

func (f *foldersOf) ListWorkflow(ctx context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range f.pages[0] {
		w := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}}
		if folder, has := f.memos[id]; has {
			memo, err := converter.GetDefaultDataConverter().ToPayload(folder)
			if err != nil {
				return nil, err
			}
			w.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{names.MemoInstance: memo}}
		}
		out.Executions = append(out.Executions, w)
	}
	return out, nil
}

func (f *foldersOf) TerminateWorkflow(_ context.Context, id, _, _ string, _ ...any) error {
	f.ended = append(f.ended, id)
	return nil
}

// TestFoldersOfAWorker: what a former data folder of a worker has left is listed and terminated without what its new one has by now.
func TestFoldersOfAWorker(t *testing.T) {
	f := &foldersOf{startedBy: startedBy{folders: map[string]string{}}, memos: map[string]string{}}
	add := func(batch string, of map[string]string, folder string) {
		id := names.BatchID(rigCrawl, batch)
		if f.pages == nil {
			f.pages = [][]string{nil}
		}
		if f.pages[0] = append(f.pages[0], id); folder != "gone" {
			of[id] = folder
		}
	}
	add("a.example-1@w.1", f.memos, "former")
	add("b.example-2@w.1", f.folders, "former")
	add("c.example-3@w.1", f.folders, "") // of a version that did not name it
	add("d.example-4@w.1", f.folders, "gone")
	add("e.example-9@w.3", f.memos, "new")
	add("f.example-10@w.3", f.folders, "new")
	a := &Activities{Client: f}
	for folder, want := range map[string][]string{
		"former": {"a.example-1@w.1", "b.example-2@w.1", "c.example-3@w.1"}, "new": {"c.example-3@w.1", "e.example-9@w.3", "f.example-10@w.3"},
		"": {"a.example-1@w.1", "b.example-2@w.1", "c.example-3@w.1", "d.example-4@w.1", "e.example-9@w.3", "f.example-10@w.3"},
	} {
		out, err := a.LostBatches(t.Context(), LostInput{Crawl: rigCrawl, Holder: Holder{"w", folder}})
		if err != nil || !slices.Equal(out.Batches, want) {
			t.Errorf("folder %q: %v, %v", folder, out.Batches, err)
		}
		f.ended = nil
		if err := a.Retire(t.Context(), RetireInput{Crawl: rigCrawl, Holder: Holder{"w", folder}, Controller: "controller"}); err != nil {
			t.Error(err)
		}
		for i, batch := range append([]string{"controller"}, want...) {
			if i > 0 {
				batch = names.BatchID(rigCrawl, batch)
			}
			if i >= len(f.ended) || f.ended[i] != batch || len(f.ended) != 1+len(want) {
				t.Errorf("folder %q: %v are terminated", folder, f.ended)
				break
			}
		}
	}
}

// TestTotalsOfFolders: what a data folder has archived is counted without what another one of the same worker has. A segment that names no folder counts by the worker.
func TestTotalsOfFolders(t *testing.T) {
	s := newSpreadRing(t, "w", "v")
	began := time.Now()
	lost := s.ownerOf("a.example")
	count := func(folder string) int64 {
		in := LostTotalsInput{Crawl: rigCrawl, Holder: Holder{lost.Settings.Worker, folder}, Started: began, Run: 1}
		sum, err := call[frontier.Totals](s.workers["v"], s.workers["v"].LostTotals, in)
		lost.must(err)
		return sum.Pages
	}
	archive := func(instance string) {
		lost.Settings.Instance = instance
		in := lost.batch()
		lost.open(in, linking)
		lost.must(lost.do(lost.Process, in))
		lost.must(lost.do(lost.Commit, in))
	}
	archive("former")
	if former, later := count("former"), count("new"); former != 1 || later != 0 {
		t.Errorf("%d pages of the former folder, %d of the new one", former, later)
	}
	all := func(not ...Holder) []FormerTotals {
		v := s.workers["v"]
		list, err := call[[]FormerTotals](v, v.FormerTotals, FormerTotalsInput{Crawl: rigCrawl, Started: began, Run: 1, Not: not})
		v.must(err)
		return list
	}
	if list := all(Holder{"v", rigInstance}, Holder{lost.Settings.Worker, "new"}); len(list) != 1 || list[0].Holder != (Holder{lost.Settings.Worker, "former"}) || list[0].Totals.Pages != 1 {
		t.Errorf("former folders have done %+v", list)
	}
	if list := all(Holder{"renamed", "former"}); len(list) > 0 {
		t.Errorf("former folders have done %+v: it is not former", list)
	}
	archive("")
	if former, later := count("former"), count("new"); former != 2 || later != 1 {
		t.Errorf("with a segment of an earlier version: %d pages of the former folder, %d of the new one", former, later)
	}
}

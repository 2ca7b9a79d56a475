package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// lostPages says where the totals of a spread crawl differ from its archive: what each worker has archived and counted, and each batch with a segment whose worker has not committed it, with
// the executions that it has had.
func (s *Server) lostPages(t *testing.T, d crawl.Definition, dir string, workers []*Worker) string {
	t.Helper()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, by := archivedTotals(t, store, d)
	of, text := map[string]*Worker{}, strings.Builder{}
	for _, w := range workers {
		name := w.Activities().Settings.Worker
		status, err := w.Activities().Frontier.Crawl(d.Name).Status()
		if err != nil {
			t.Fatal(err)
		}
		of[name] = w
		fmt.Fprintf(&text, "%s has archived %d pages, and counted %d of %d batches\n", name, by[name].Pages, status.Totals.Pages, status.Totals.Batches)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if of[name] == nil {
			fmt.Fprintf(&text, "%s has archived %d pages, and is gone\n", name, by[name].Pages)
		}
	}
	err = archive.Walk[struct{}]{
		Of:   archive.LayoutOf(d),
		Load: func(context.Context, archive.Manifest) (none struct{}, err error) { return none, nil },
	}.Each(t.Context(), store, func(m archive.Manifest, _ struct{}) error {
		if w := of[m.Worker]; w == nil || w.Activities().Frontier.Crawl(d.Name).Batch(m.Batch).Committed() {
			return nil
		}
		fmt.Fprintf(&text, "%s has archived %d pages of batch %s at %v, and not committed it; its executions:", m.Worker, m.Pages, m.Batch, m.Created)
		for _, e := range s.list(t, fmt.Sprintf("WorkflowId = '%s'", names.BatchID(d.Name, m.Batch))) {
			fmt.Fprintf(&text, " %s %s", e.Execution.RunID, e.Status)
		}
		text.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

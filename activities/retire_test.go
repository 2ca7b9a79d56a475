package activities

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.temporal.io/api/serviceerror"

	"github.com/muninn-archive/muninn/activities/names"
)

// terminated are workflows of a worker, by ID, with the execution that each has: it continues as new when it is listed.
type terminated struct {
	pagedList
	ended []string
	fails error
}

func (r *terminated) TerminateWorkflow(_ context.Context, id, run, _ string, _ ...any) error {
	switch {
	case r.fails != nil:
		return r.fails
	case run != "": // it has continued as new
		return serviceerror.NewNotFound("no such execution")
	case !slices.Contains(r.pages[0], id):
		return serviceerror.NewNotFound("no such workflow")
	}
	r.ended = append(r.ended, id)
	return nil
}

// TestRetire: the controller and the batches of a worker are terminated, also a batch that continues as new between the list and that; one
// that has ended by then, or has no controller, does not matter.
func TestRetire(t *testing.T) {
	batch, controller, away := names.BatchID(rigCrawl, "a.example-1@w.1"), names.ControllerID(rigCrawl, "w"), errors.New("away")
	for _, c := range []struct {
		name  string
		open  []string
		fails error
		want  []string
	}{
		{"nothing is left", nil, nil, nil},
		{"a controller and a batch", []string{controller, batch}, nil, []string{controller, controller, batch}}, // the list has all
		{"a batch alone", []string{batch}, nil, []string{batch}},
		{"Temporal is away", []string{batch}, away, nil},
	} {
		temporal := &terminated{pagedList: pagedList{pages: [][]string{c.open}}, fails: c.fails}
		a := &Activities{Client: temporal}
		if err := a.Retire(t.Context(), RetireInput{Crawl: rigCrawl, Holder: Holder{Worker: "w"}}); !errors.Is(err, c.fails) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.Equal(temporal.ended, c.want) {
			t.Errorf("%s: %v are terminated, want %v", c.name, temporal.ended, c.want)
		}
	}
}

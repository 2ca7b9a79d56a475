package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
)

// AbsentInput asks which folders have open batches of a spread crawl and are not those of the ring.
type AbsentInput struct {
	Crawl string   `json:"crawl"`
	Ring  []Member `json:"ring"` // the workers of the ring, as the crawl knows them
}

// Absent lists the folders that have left open batches of a crawl and are not in the ring: the ring has given them up while no execution of the
// crawl noticed it. It names one folder of a worker. It runs on the shared queue.
func (a *Activities) Absent(ctx context.Context, in AbsentInput) (absent []Holder, err error) {
	open, err := a.openBatches(ctx, in.Crawl, "")
	if err != nil {
		return nil, err
	}
	for _, w := range open {
		batch, is := names.BatchOf(in.Crawl, w.GetWorkflowId())
		if !is {
			continue
		}
		name, err := names.ParseBatch(batch)
		if err != nil || name.Worker == "" || slices.ContainsFunc(absent, func(h Holder) bool { return h.Worker == name.Worker }) {
			continue
		}
		by, err := a.holderOf(ctx, w.GetWorkflowId(), w.GetRunId())
		if gone := new(serviceerror.NotFound); errors.As(err, &gone) {
			continue
		} else if err != nil {
			return nil, err
		}
		if h := (Holder{name.Worker, by.Instance}); !slices.ContainsFunc(in.Ring, h.Is) {
			absent = append(absent, h)
		}
	}
	return absent, nil
}

// holderOf is the folder that a batch was started for, by its history.
func (a *Activities) holderOf(ctx context.Context, workflow, run string) (by Holder, err error) {
	events := a.Client.GetWorkflowHistory(ctx, workflow, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return by, fmt.Errorf("batch %s: its history is empty", workflow)
	}
	first, err := events.Next()
	if err != nil {
		return by, fmt.Errorf("batch %s: %w", workflow, err)
	}
	var in BatchInput
	if input := first.GetWorkflowExecutionStartedEventAttributes().GetInput(); input == nil {
		return by, errors.New("batch " + workflow + ": its history does not begin with its input")
	} else if err := converter.GetDefaultDataConverter().FromPayloads(input, &in); err != nil {
		return by, fmt.Errorf("batch %s: %w", workflow, err)
	}
	return in.Holder, nil
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
)

// AbsentInput asks which folders have open batches of a spread crawl and are not those of the ring.
type AbsentInput struct {
	Crawl string   `json:"crawl"`
	Ring  []Member `json:"ring"` // the workers of the ring, as the crawl knows them
	// Since is when the run began: batches that an operator has terminated since then count as left open. Zero: none does, as in an earlier version.
	Since time.Time `json:"since,omitzero"`
}

// Absent lists the folders that have left open batches of a crawl and are not in the ring: the ring has given them up while no execution of the
// crawl noticed it. It runs on the shared queue.
func (a *Activities) Absent(ctx context.Context, in AbsentInput) (absent []Holder, err error) {
	left, err := a.leftBatches(ctx, in.Crawl, Holder{}, in.Since)
	if err == nil {
		err = a.lookForFolders(ctx, left)
	}
	for _, w := range left {
		batch, is := names.BatchOf(in.Crawl, w.id)
		name, errName := names.ParseBatch(batch)
		h := Holder{name.Worker, w.instance}
		if !is || w.gone || errName != nil || name.Worker == "" || slices.Contains(absent, h) || slices.ContainsFunc(in.Ring, h.Is) {
			continue
		}
		absent = append(absent, h)
	}
	return absent, err
}

// holderOf is the folder that a batch was started for, by its history.
func (a *Activities) holderOf(ctx context.Context, workflow, run string) (Holder, error) {
	var in BatchInput
	err := readInput(ctx, a.Client, workflow, run, &in)
	return in.Holder, err
}

// readInput reads the input of a workflow from its history.
func readInput(ctx context.Context, c client.Client, workflow, run string, in any) error {
	events := c.GetWorkflowHistory(ctx, workflow, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return fmt.Errorf("workflow %s: its history is empty", workflow)
	}
	first, err := events.Next()
	if err != nil {
		return fmt.Errorf("workflow %s: %w", workflow, err)
	}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if input == nil {
		return errors.New("workflow " + workflow + ": its history does not begin with its input")
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(input, in); err != nil {
		return fmt.Errorf("workflow %s: %w", workflow, err)
	}
	return nil
}

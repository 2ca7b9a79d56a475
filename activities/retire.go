package activities

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"

	"github.com/muninn-archive/muninn/activities/names"
)

// RetireInput names a worker that a crawl does without from now on.
type RetireInput struct {
	Crawl  string `json:"crawl"`
	Worker string `json:"worker"`
}

// retireReason is why Retire terminates workflows.
const retireReason = "the ring of workers has given the worker up"

// Retire terminates the workflows that a crawl has at a worker which the ring has given up: its controller and its batches. Their task queue
// is polled by nobody any more. Should the worker live and be cut off, it may commit nothing: its permit has run out.
func (a *Activities) Retire(ctx context.Context, in RetireInput) error {
	var gone *serviceerror.NotFound
	if err := a.Client.TerminateWorkflow(ctx, names.ControllerID(in.Crawl, in.Worker), "", retireReason); err != nil && !errors.As(err, &gone) {
		return err
	}
	open, err := a.openBatches(ctx, in.Crawl, in.Worker)
	if err != nil {
		return err
	}
	for _, id := range open {
		// whichever execution it has by now: one may have continued as new
		if err := a.Client.TerminateWorkflow(ctx, id.GetWorkflowId(), "", retireReason); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

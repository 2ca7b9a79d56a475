package activities

import (
	"cmp"
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"

	"github.com/muninn-archive/muninn/activities/names"
)

// RetireInput names what a crawl does without from now on.
type RetireInput struct {
	Crawl string `json:"crawl"`
	// Holder is a data folder of a worker; without an instance, all that it has had.
	Holder
	Controller string `json:"controller,omitempty"` // the workflow ID of its controller; empty: by the worker, as an earlier version names it
}

// retireReason is why Retire terminates workflows.
const retireReason = "the ring of workers has given the worker up"

// Retire terminates the workflows that a crawl has at a data folder which the ring has given up: its controller and its batches. Nobody can do what they
// ask for any more. Should the worker live and be cut off, it may commit nothing: its permit has run out.
func (a *Activities) Retire(ctx context.Context, in RetireInput) error {
	var gone *serviceerror.NotFound
	controller := cmp.Or(in.Controller, names.ControllerID(in.Crawl, in.Worker))
	if err := a.Client.TerminateWorkflow(ctx, controller, "", retireReason); err != nil && !errors.As(err, &gone) {
		return err
	}
	open, err := a.openBatches(ctx, in.Crawl, in.Holder)
	if err != nil {
		return err
	}
	for _, id := range open {
		// whichever execution it has by now: one may have continued as new
		if err := a.Client.TerminateWorkflow(ctx, id.id, "", retireReason); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/pipeline"
)

// withSeat runs a part of a step on a seat of the workshop. The table of steps has no seats: Process takes another one for each of its
// parts, so that a batch which waits before ARCHIVE goes before one that has not been parsed, and GiveBack takes one only if it
// archives. A batch waits for room in memory before it takes the seat of its first part: it must not keep others from seats.
func (a *Activities) withSeat(ctx context.Context, crawl string, seat pipeline.Step, do func(context.Context) error) error {
	if seat == pipeline.StepParse {
		a.Engine.Handover.Room(ctx, crawl)
	}
	leave, err := a.Engine.Workshop.Enter(ctx, crawl, seat)
	if err != nil {
		return err
	}
	defer leave()
	return do(ctx)
}

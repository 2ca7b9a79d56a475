package worker

import (
	"context"
	"errors"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/checkpoint"
)

// checkpointRegularly keeps the frontier in the worker's archive at intervals, until the worker stops.
func (w *Worker) checkpointRegularly() {
	if w.conf.Checkpoint == 0 {
		return
	}
	w.regularly(w.conf.Checkpoint, w.checkpoint)
}

// checkpoint makes a checkpoint. What goes wrong is logged: the one before stays, and the next one is made in its time.
func (w *Worker) checkpoint(ctx context.Context) {
	from := time.Now()
	made, err := w.makeCheckpoint(ctx)
	switch {
	case ctx.Err() != nil, errors.Is(err, checkpoint.ErrNoCrawl):
	case err != nil:
		w.log.Error("the frontier is not in the archive: after the loss of this disk it is rebuilt from an earlier checkpoint", "error", err)
	default:
		w.log.Info("made a checkpoint of the frontier", "key", made.Key, "objects", made.Parts, "entries", made.Entries, "seconds", time.Since(from).Seconds())
	}
}

func (w *Worker) makeCheckpoint(ctx context.Context) (made checkpoint.Made, err error) {
	if why := activities.RoomFor(w.acts, ""); why != "" { // what is left is for batches that are in progress
		return made, errors.New(why)
	}
	store, err := w.acts.Archives.Open(ctx, "")
	if err != nil {
		return made, err
	}
	epoch, err := epochFile(w.conf.Data).read()
	if err != nil {
		return made, err
	}
	return checkpoint.Make(ctx, store, w.front, checkpoint.Worker{
		Name: w.conf.Name, Instance: w.instance, Epoch: epoch, Tenures: w.member.Tenures, Ahead: activities.ClockAhead(w.acts),
	}, time.Now())
}

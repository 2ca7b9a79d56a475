package worker

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/spool"
)

// sweepEvery is how often the worker deletes old working files of failed batches.
const sweepEvery = time.Hour

// sweepRegularly sweeps the spool and the archive at the start, and then each hour, until the worker stops.
func (w *Worker) sweepRegularly() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		w.sweep()
		w.sweepPartitions()
		select {
		case <-tick.C:
		case <-w.stopped:
			return
		}
	}
}

func (w *Worker) sweep() {
	gone, err := w.acts.Spool.Sweep(time.Now(), spool.Retention{
		Age: w.conf.SpoolKeep, Bytes: int64(w.conf.SpoolBytes),
		InUse: func(crawl, batch string) bool { return len(w.front.Crawl(crawl).Batch(batch).Claims()) > 0 },
	})
	if err != nil {
		w.log.Error("sweep the spool", "error", err)
	}
	if gone.Batches > 0 {
		w.log.Info("removed working files of failed batches", "batches", gone.Batches, "bytes", gone.Bytes)
	}
}

// sweepPartitions deletes exports of partitions that the worker owns by now: who owns a partition has loaded it, or has not needed to. And checkpoints of
// workers that are gone, which nobody needs.
func (w *Worker) sweepPartitions() {
	ctx, cancel := w.untilStopped()
	defer cancel()
	parts := activities.PartitionsOf(w.acts)
	exports, err := parts.Sweep(ctx, w.member.Tenures())
	checkpoints, errCheckpoints := parts.SweepCheckpoints(ctx)
	if err := errors.Join(err, errCheckpoints); err != nil && ctx.Err() == nil {
		w.log.Error("delete in the archive what nobody needs of partitions", "error", err)
	}
	if exports+checkpoints > 0 {
		w.log.Info("deleted in the archive what nobody needs of partitions", "exports", exports, "checkpoints", checkpoints)
	}
}

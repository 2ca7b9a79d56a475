package worker

import (
	"context"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/learning"
)

// learningLook is how often the worker looks whether updates are due: memory says it.
const learningLook = time.Second

// learnTogether exchanges what the orders of spread crawls learn with the other workers, until the worker stops.
func (w *Worker) learnTogether() {
	if w.conf.LearnEvery == 0 {
		return
	}
	exchange := learning.Exchange{
		Frontier: w.front, Stream: w.conf.Name + "@" + w.instance, Every: w.conf.LearnEvery, Snapshot: learning.SnapshotEvery,
		Store: func(ctx context.Context) (archive.Store, error) { return w.acts.Archives.Open(ctx, "") },
		Leads: w.member.Leads, Workers: w.member.Workers, Now: time.Now, Log: w.log, Untaken: &w.untaken,
	}
	w.regularly(learningLook, func(ctx context.Context) {
		if err := exchange.Step(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("the order of a spread crawl learns from this worker's pages alone for now", "error", err)
		}
	})
}

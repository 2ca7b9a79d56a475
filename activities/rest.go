package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
)

// RestInput names a run of a spread crawl that a worker has begun without some partitions, see BeginResult.Unseeded.
type RestInput struct {
	Crawl  string `json:"crawl"`
	Owner  string `json:"owner"`
	Run    uint32 `json:"run"`
	Holder        // the worker
}

// QueueRest queues what a run begins with in partitions that were on their way when the worker began it, as soon as they are there, with the definition that the frontier has. It waits until
// each of them is this worker's or another one's, which then queues it; that asks only for rights. It does nothing if the run has ended, or has another owner by now.
func (a *Activities) QueueRest(ctx context.Context, in RestInput) error {
	waiting, release := untilStopped(ctx)
	defer release()
	for end := a.Now().Add(beginWait); ; {
		left, err := a.queueRestOnce(ctx, in)
		if err != nil || left == 0 {
			return err
		}
		err = fmt.Errorf("queue the seeds of %s: %w: %d partitions are on their way", in.Crawl, ring.ErrNotNow, left)
		if !a.Now().Before(end) {
			return err
		}
		why := err.Error()
		heartbeatWith(ctx, func() any { return why })
		select {
		case <-waiting.Done():
			return err
		case <-time.After(beginPause):
		}
	}
}

// queueRestOnce returns how many partitions are left.
func (a *Activities) queueRestOnce(ctx context.Context, in RestInput) (left int, err error) {
	c := a.Frontier.Crawl(in.Crawl)
	lacking, err := c.Unseeded(in.Run, in.Owner)
	if errors.Is(err, frontier.ErrNoCrawl) { // it is forgotten
		return 0, nil
	}
	if err == nil && len(lacking.Others) > 0 {
		err = c.Seeded(in.Run, in.Owner, lacking.Others, 0)
	}
	if err != nil {
		return 0, err
	}
	left = len(lacking.Waiting)
	for _, p := range lacking.Mine {
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
		plan, err := c.Plan()
		if err != nil || plan.Run != in.Run || plan.Owner != in.Owner {
			return 0, err
		}
		notDue, err := a.queueIn(plan, p, plan.Run > 1, frontier.Replaying{Counts: true, May: lacking.May})
		if err == nil {
			err = c.Seeded(plan.Run, plan.Owner, []frontier.Partition{p}, notDue)
		}
		if errors.Is(err, ring.ErrNotNow) || errors.Is(err, ring.ErrStale) || errors.Is(err, frontier.ErrMoving) { // it has left meanwhile
			left++
			continue
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// queueIn queues in a partition what a run begins with: the pages of earlier runs, if it is asked to, and the seeds. It returns how many pages of earlier runs are not
// due, which the caller counts when nothing can fail any more.
func (a *Activities) queueIn(plan frontier.Plan, p frontier.Partition, earlier bool, how frontier.Replaying) (notDue int64, err error) {
	c := a.Frontier.Crawl(plan.Definition.Name)
	seeds, err := a.seeds.in(p, plan)
	if err != nil {
		return 0, err
	}
	if earlier {
		if notDue, err = c.ReplayRecrawl(plan.Run, []frontier.Partition{p}, how); err != nil {
			return 0, err
		}
	}
	if len(seeds) > 0 {
		err = c.ReplaySeeds(plan.Run, seeds, func(q frontier.Partition) bool { return q == p }, how)
	}
	return notDue, err
}

package activities

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
)

// TakeLost queues what batches of a lost worker have archived and found in the partitions of this one. What was delivered before is not
// counted again. It returns the partitions for which that is done: those that are this worker's now. It is for executions of earlier
// versions, whose input names the batches; others call TakeOver.
func (a *Activities) TakeLost(ctx context.Context, in LostInput) (out LostResult, err error) {
	mine := a.acceptedNow(in)
	if len(mine.list) > 0 {
		err = a.takeSegments(ctx, in, mine, in.Batches)
	}
	if comesAgain(err) {
		return out, nil
	}
	if err == nil {
		out.Taken = mine.list
	}
	return out, err
}

const (
	// takeOverWait is how long a worker that has nothing to take in waits for partitions: they are rebuilt, or on their way to it.
	takeOverWait = 10 * time.Minute
	// takeOverPause is how often it looks.
	takeOverPause = time.Second
)

// TakeOver queues what the open batches of a worker that the ring has given up, as Temporal lists them, have archived and found in the partitions of
// this one, those in in.Taken excepted. It returns the partitions for which that is done; it waits until there is any. It runs on the queue of a worker.
func (a *Activities) TakeOver(ctx context.Context, in LostInput) (out LostResult, err error) {
	waiting, release := untilStopped(ctx)
	defer release()
	tick := time.NewTicker(takeOverPause)
	defer tick.Stop()
	for end := time.Now().Add(takeOverWait); len(in.Taken) < ring.Partitions && time.Now().Before(end); {
		if mine := a.acceptedNow(in); len(mine.list) > 0 {
			left, err := a.LostBatches(ctx, in)
			if err == nil {
				err = a.takeSegments(ctx, in, mine, left.Batches)
			}
			if err == nil && len(mine.list) > 0 {
				return LostResult{Taken: mine.list}, nil
			}
			if err != nil && !comesAgain(err) {
				return out, err
			}
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			return out, cmp.Or(ctx.Err(), errAway)
		}
	}
	return out, nil
}

// accepting are partitions that take in what a lost worker has left. They become fewer while the ring changes.
type accepting struct {
	may  func(frontier.Partition) error
	mu   sync.Mutex
	list []int
}

// acceptedNow are those of this worker, without those that have all.
func (a *Activities) acceptedNow(in LostInput) *accepting {
	epoch := a.Membership.Epoch()
	p := &accepting{may: func(p frontier.Partition) error { return a.check(ring.Accept, int(p), epoch) }}
	open := slices.DeleteFunc(allPartitions(), func(p int) bool { return slices.Contains(in.Taken, p) })
	p.list, _ = acceptedOf(open, p.may)
	return p
}

// now are those that there are.
func (p *accepting) now() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list
}

// narrow leaves out those that the worker may not accept for any more, and reports whether there were such, and others are left.
func (p *accepting) narrow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.list)
	p.list, _ = acceptedOf(p.list, p.may)
	return len(p.list) > 0 && len(p.list) < before
}

// takeSegments queues what the segments of batches have for partitions of this worker. Each list of manifests is read once, and several segments at a
// time. One that cannot be read is passed over, see passOver.
func (a *Activities) takeSegments(ctx context.Context, in LostInput, mine *accepting, batches []string) error {
	plan, err := a.Frontier.Crawl(in.Crawl).PlanWithArchives()
	if err != nil || len(batches) == 0 {
		return err
	}
	batches = slices.Sorted(slices.Values(batches))
	for _, place := range plan.Archives {
		store, err := a.Archives.reopen(ctx, place.Where)
		if err != nil {
			return err
		}
		walk := archive.Walk[struct{}]{
			Of: archive.Layout{Prefix: place.Prefix, Crawl: in.Crawl},
			Skip: func(segment string, _ time.Time) bool {
				batch, _ := archive.BatchOfSegment(segment)
				_, open := slices.BinarySearch(batches, batch)
				return !open
			},
			Load: func(ctx context.Context, m archive.Manifest) (none struct{}, err error) {
				worker, _, _ := frontier.BatchOf(m.Batch) // as marks name it: the worker may have been renamed since
				of := archive.Label{Crawl: in.Crawl, Batch: m.Batch, Nonce: m.Nonce, Worker: cmp.Or(worker, in.Worker), Prefix: place.Prefix}
				return none, a.takeSegment(ctx, store, pipeline.Arrival{Segment: of, Run: plan.Run}, mine)
			},
			Damaged: func(err error) error { return a.passOver(ctx, in.Crawl, err, lostLinks) },
		}
		if err := walk.Each(ctx, store, func(archive.Manifest, struct{}) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// takeSegment does so with one of them.
func (a *Activities) takeSegment(ctx context.Context, store archive.Store, from pipeline.Arrival, mine *accepting) error {
	leave, err := a.deliveries.enter(ctx, a.Settings.Deliveries)
	if err != nil {
		return err
	}
	defer leave()
	for {
		from.Partitions = mine.now()
		err := a.Engine.Deliver(ctx, store, from, mine.may)
		if errors.Is(err, archive.ErrGivenBack) || errors.Is(err, archive.ErrForeign) {
			return nil
		}
		if !comesAgain(err) || !mine.narrow() {
			return err
		}
	}
}

package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Arrival is a segment of another worker's batch that has links to partitions of this worker.
type Arrival struct {
	Segment    archive.Label // crawl, prefix, batch, nonce and worker of its manifest
	Run        uint32
	Watermark  frontier.Watermark // of the worker whose segment it is
	Partitions []int              // of this worker
}

// Deliver queues the links of a segment that lead to partitions of this worker, with the scores that they were judged by and what the order
// kept: it reads its part of the links sidecar, and judges nothing. It is idempotent, and may is asked, as the frontier's Deliver says.
func (e *Engine) Deliver(ctx context.Context, store archive.Store, a Arrival, may func(frontier.Partition) error) error {
	number, ok := frontier.Number(a.Segment.Batch)
	if !ok {
		return &crawl.InputError{Message: fmt.Sprintf("deliver the links of batch %q: its name has no number", a.Segment.Batch)}
	}
	m, err := archive.ReadManifest(ctx, store, a.Segment)
	if err != nil {
		return err
	}
	plan, err := e.Frontier.Crawl(a.Segment.Crawl).Plan()
	if err != nil {
		return err
	}
	mine := map[int]bool{}
	for _, p := range a.Partitions {
		mine[p] = true
	}
	d := frontier.Delivery{Worker: a.Segment.Worker, Number: number, Nonce: a.Segment.Nonce, Run: a.Run, Watermark: a.Watermark}
	err = archive.ReadLinksTo(ctx, store, m.Links, func(p int) bool { return mine[p] }, func(l archive.Link) error {
		if !l.NoFollow {
			d.Discoveries = append(d.Discoveries, l.Discovery(&l.LinkVerdict, l.Origin(), plan.Definition.LinkNeeds()))
		}
		return nil
	})
	if errors.Is(err, archive.ErrNotFound) { // the store is the right one: it has the manifest
		err = &archive.DamagedError{Err: errors.New(err.Error())}
	}
	if err != nil {
		return err
	}
	return e.Frontier.Crawl(a.Segment.Crawl).Deliver(d, may)
}

package checkpoint

import (
	"cmp"
	"context"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// bringing brings segments of a crawl into partitions.
type bringing struct {
	*Partitions
	name      string
	plan      frontier.Plan
	has       known
	origins   map[frontier.Partition]origin
	reached   *reached
	submitted *resubmitting
}

// lateReplay is what is left of a segment that was made then.
type lateReplay struct {
	frontier.Replay
	made time.Time
}

// lacks reports whether a partition may be without what a life of a batch has found. Of a life that is not the first one no watermark says it: its segment is brought in if it is not older
// than the partition's checkpoint.
func (r *bringing) lacks(p frontier.Partition, worker string, number uint64, nonce string, made time.Time) bool {
	marks, rebuilt := r.has[p]
	return rebuilt && (!marks.Pass(worker, number) || frontier.LivedBefore(nonce) && !made.Before(r.origins[p].Taken.Add(-clocks)))
}

// segments brings in those of a run, in the order in which they were made.
func (r *bringing) segments(ctx context.Context, run uint32, list []segment) error {
	var late []lateReplay // whose outcomes are of URLs that nothing has led to so far
	n := 0
	for s, err := range ahead(ctx, list) {
		if err == nil {
			err = r.submitted.until(ctx, s.Created)
		}
		if err != nil {
			return err
		}
		if n++; n > cmp.Or(r.NoteEvery, noteEvery) && len(late) == 0 {
			n = 1
			if err := r.reached.note(r.Frontier.Crawl(r.name)); err != nil {
				return err
			}
		}
		worker, number, of := frontier.BatchOf(s.Batch)
		if !of {
			continue // of a version that knew no spread crawls
		}
		in := func(p frontier.Partition) bool {
			return r.lacks(p, worker, number, s.Nonce, s.Created) && !r.reached.by(p, s)
		}
		if archive.IsEndsBatch(s.Batch) { // which has outcomes alone: those that the partition has change nothing
			in = func(p frontier.Partition) bool { return r.has[p] != nil && !r.reached.by(p, s) }
		}
		left, err := r.Engine.RecoverTo(ctx, r.plan.Definition, s.store, s.Manifest, s.number, func(p int) bool { return in(frontier.Partition(p)) })
		if archive.Damaged(err) {
			err = r.passOver(r.name, err)
		}
		if err != nil {
			return err
		}
		replay := frontier.Replay{
			Delivery: frontier.Delivery{Worker: worker, Number: number, Nonce: s.Nonce, Run: run, Discoveries: left.Discoveries},
			Archive:  s.number, Outcomes: left.Outcomes, Originals: left.Originals,
		}
		missing, err := r.Frontier.Crawl(r.name).Replay(replay, in)
		if err != nil {
			return err
		}
		r.reached.last = s
		if len(missing) > 0 {
			replay.Discoveries, replay.Originals, replay.Outcomes = nil, nil, missing
			late = append(late, lateReplay{replay, s.Created})
		}
	}
	for _, replay := range late {
		if err := r.found(replay); err != nil {
			return err
		}
	}
	return nil
}

// found brings in pages whose URLs were known before and are not: clocks of workers differ, so that a page may come before the link to it, or before it was submitted; and a list of what was
// submitted may be damaged.
func (r *bringing) found(replay lateReplay) error {
	late := replay.Replay
	in := func(p frontier.Partition) bool {
		return r.lacks(p, late.Worker, late.Number, late.Nonce, replay.made)
	}
	missing, err := r.Frontier.Crawl(r.name).Replay(late, in)
	if err != nil || len(missing) == 0 {
		return err
	}
	known := late
	known.Outcomes, known.Nonce = nil, late.Nonce+"+"
	for _, o := range missing {
		known.Discoveries = append(known.Discoveries, crawl.Discovery{URL: o.URL, Path: crawl.HopLink.String()})
	}
	if _, err := r.Frontier.Crawl(r.name).Replay(known, in); err != nil {
		return err
	}
	late.Outcomes = missing
	_, err = r.Frontier.Crawl(r.name).Replay(late, in)
	return err
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/partfile"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
)

// SpreadPartitions are those of the frontier of this worker: what crawls that are spread over the ring have of them moves by way of the
// worker's archive, which all workers of the ring have in common. Bound crawls take no notice of it.
type SpreadPartitions struct{ a *Activities }

// PartitionsOf are those of a worker's frontier.
func PartitionsOf(a *Activities) SpreadPartitions { return SpreadPartitions{a} }

// noObject is the key that stands for the export of a partition of which no spread crawl has anything.
const noObject = "-"

// freeWait is how long Free waits for a batch to end: a partition that is taken back, or whose batches have had their time, is noticed by then.
const freeWait = time.Second

func listed(partitions []int) (list []frontier.Partition) {
	for _, p := range partitions {
		list = append(list, frontier.Partition(p))
	}
	return list
}

// Free waits freeWait at most.
func (s SpreadPartitions) Free(ctx context.Context, partitions []int) (free []int, err error) {
	short, cancel := context.WithTimeout(ctx, freeWait)
	defer cancel()
	list, err := s.a.Frontier.Free(short, frontier.SpreadCrawls, listed(partitions))
	if err != nil && short.Err() != nil {
		return nil, ctx.Err()
	}
	for _, p := range list {
		free = append(free, int(p))
	}
	return free, err
}

// GiveBack gives claims back that wait for their lease, and cancels the other batches: these archive and commit what they have fetched, and
// give back the rest. A batch whose workflow is gone is started again: it does the same when it is cancelled the next time, or ends.
func (s SpreadPartitions) GiveBack(ctx context.Context, partitions []int) error {
	batches, err := s.a.Frontier.Unbind(frontier.SpreadCrawls, listed(partitions))
	if err != nil {
		return err
	}
	var errs []error
	for crawl, list := range batches {
		for _, batch := range list {
			if err := s.cancel(ctx, crawl, batch); err != nil {
				errs = append(errs, fmt.Errorf("give back batch %s of %s: %w", batch, crawl, err))
			}
		}
	}
	return errors.Join(errs...)
}

// cancel cancels a batch, or starts it again if its workflow has ended, as after Retire. Temporal does not say so when such a one is cancelled.
func (s SpreadPartitions) cancel(ctx context.Context, crawl, batch string) error {
	id := names.BatchID(crawl, batch)
	open, err := s.a.isOpen(ctx, id, "")
	switch {
	case err != nil:
		return err
	case !open:
		return s.a.startBound(ctx, crawl, batch, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
	}
	err = s.a.Client.CancelWorkflow(ctx, id, "")
	if gone := (*serviceerror.NotFound)(nil); errors.As(err, &gone) { // the next call starts it again
		return nil
	}
	return err
}

// Export writes what spread crawls have of the partition.
func (s SpreadPartitions) Export(ctx context.Context, partition int, epoch uint64) (object string, err error) {
	p := frontier.Partition(partition)
	switch err := s.a.Frontier.CheckFree(frontier.SpreadCrawls, p); {
	case errors.Is(err, frontier.ErrBusy):
		return "", fmt.Errorf("export partition %d: a claim has come up again: %w", p, err)
	case err != nil:
		return "", err
	}
	store, err := s.a.Archives.Open(ctx, "")
	if err != nil {
		return "", err
	}
	err = s.a.Frontier.Export(func(e *frontier.Export) error {
		e = e.Of(frontier.SpreadCrawls)
		if some, err := e.HasCrawls(p); err != nil || !some {
			object = noObject
			return err
		}
		object = archive.Frontiers{}.HandedOver(partition, epoch, s.a.Settings.Worker)
		_, err := partfile.Put(ctx, store, object, partfile.Header{Partition: p, Epoch: epoch, Worker: s.a.Settings.Worker, Created: s.a.Now(), Ahead: ClockAhead(s.a)}, e)
		return err
	})
	return object, err
}

// Load brings in what spread crawls have of the partition.
func (s SpreadPartitions) Load(ctx context.Context, partition int, object string) (fault string, err error) {
	has := map[string]seededRun{} // of the object, by crawl
	if object == noObject {
		if err := s.Drop(ctx, partition); err != nil {
			return "", err
		}
		return "", s.beginIn(frontier.Partition(partition), has)
	}
	store, err := s.a.Archives.Open(ctx, "")
	if err != nil {
		return "", err
	}
	err = s.cleared(ctx, partition, func() error {
		check := func(h partfile.Header) error {
			for _, c := range h.Crawls {
				if !c.Unseeded {
					has[c.Name] = seededRun{c.Run, c.Owner}
				}
			}
			return s.a.Frontier.CheckBound(h.Crawls)
		}
		in, err := partfile.Import(ctx, store, object, frontier.Partition(partition), frontier.SpreadCrawls, s.a.Frontier, ClockAhead(s.a), check)
		if len(in.Bound) > 0 && err == nil && s.a.Log != nil {
			s.a.Log.Warn("entries of spread crawls that are bound here, and over elsewhere, are left out of a partition", "crawls", in.Bound, "object", object)
		}
		return err
	})
	if partfile.Unreadable(err) && ctx.Err() == nil {
		return err.Error(), nil
	}
	if err == nil {
		err = s.beginIn(frontier.Partition(partition), has)
	}
	return "", err
}

// seededRun is a run of which a partition has what the run begins with, and the owner whose seeds these are.
type seededRun struct {
	run   uint32
	owner string
}

// beginIn queues in a partition what the runs in progress here begin with: the seeds, and what earlier runs have crawled. The former owner may not have begun
// them, because it was leaving or silent then, or not have queued that yet, and the others left it to that one. So are the seeds of who has taken a run over that the former owner of the
// partition has begun for another. has is what the partition has, by crawl.
func (s SpreadPartitions) beginIn(p frontier.Partition, has map[string]seededRun) error {
	crawls, err := s.a.Frontier.SpreadCrawls()
	if err != nil {
		return err
	}
	var done []func() error
	for _, name := range crawls {
		note, err := s.beginRunIn(name, p, has[name])
		if err != nil {
			return err
		}
		done = append(done, note)
	}
	for _, note := range done { // the step is tried again from its beginning, for all crawls
		if err := note(); err != nil {
			return err
		}
	}
	return nil
}

// beginRunIn returns what notes that it is done.
func (s SpreadPartitions) beginRunIn(name string, p frontier.Partition, has seededRun) (note func() error, err error) {
	nothing := func() error { return nil }
	c := s.a.Frontier.Crawl(name)
	plan, err := c.Plan()
	if errors.Is(err, frontier.ErrNoCrawl) { // another partition that is loaded just now makes it known: it is not begun here
		return nothing, nil
	}
	if err != nil || !plan.Active || has.run > plan.Run {
		return nothing, err
	}
	notDue := int64(0)
	if has != (seededRun{plan.Run, plan.Owner}) {
		if notDue, err = s.a.queueIn(plan, p, plan.Run > 1 && has.run < plan.Run, frontier.Replaying{Counts: true}); err != nil {
			return nothing, err
		}
	}
	return func() error {
		err := c.CountNotDue(plan.Run, plan.Owner, notDue)
		if err == nil {
			err = c.Seeded(plan.Run, plan.Owner, []frontier.Partition{p}, 0)
		}
		return err
	}, nil
}

// Drop deletes what spread crawls have of the partition.
func (s SpreadPartitions) Drop(ctx context.Context, partition int) error {
	return s.cleared(ctx, partition, func() error {
		return s.a.Frontier.Drop(frontier.Partition(partition), frontier.SpreadCrawls)
	})
}

// cleared does something with a partition of which no claim may be in progress. Claims that this worker has of it nevertheless are of a time
// when the partition was its own: they are given back.
func (s SpreadPartitions) cleared(ctx context.Context, partition int, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, frontier.ErrBusy) {
			return err
		}
		if err := s.GiveBack(ctx, []int{partition}); err != nil {
			return err
		}
		if _, err := s.Free(ctx, []int{partition}); err != nil {
			return err
		}
	}
}

// Rebuild makes partitions of their checkpoints and of the segments that came after them.
func (s SpreadPartitions) Rebuild(ctx context.Context, partitions []int) error {
	store, err := s.a.Archives.Open(ctx, "")
	if err != nil {
		return err
	}
	list := listed(partitions)
	begun := s.runs() // before: what it queues is of no later owner
	r := checkpoint.Partitions{
		Store: store, Open: s.a.Archives.reopen, Frontier: s.a.Frontier, Log: s.a.Log, Ahead: ClockAhead(s.a),
		Cleared: func(ctx context.Context, p frontier.Partition, do func() error) error {
			return s.cleared(ctx, int(p), do)
		},
		Engine: pipeline.New(s.a.Frontier, nil, score.NewDictionary(), page.DefaultLimits(), s.a.Now), // of no activity: that of the steps logs to theirs
	}
	err = r.Run(ctx, list)
	for _, plan := range begun {
		if err == nil {
			err = s.a.Frontier.Crawl(plan.Definition.Name).Seeded(plan.Run, plan.Owner, list, 0)
		}
	}
	return err
}

// runs are the plans of spread crawls of which a run is in progress here.
func (s SpreadPartitions) runs() (list []frontier.Plan) {
	crawls, _ := s.a.Frontier.SpreadCrawls()
	for _, name := range crawls {
		if plan, err := s.a.Frontier.Crawl(name).Plan(); err == nil && plan.Active {
			list = append(list, plan)
		}
	}
	return list
}

// Sweep deletes the exports of partitions that are older than the tenures of their owner, and returns their number. It deletes none if there is
// no spread crawl.
func (s SpreadPartitions) Sweep(ctx context.Context, tenures map[int]uint64) (deleted int, err error) {
	crawls, err := s.a.Frontier.SpreadCrawls()
	if err != nil || len(crawls) == 0 {
		return 0, err
	}
	store, err := s.a.Archives.Open(ctx, "")
	if err != nil {
		return 0, err
	}
	var old []string
	err = store.List(ctx, archive.Frontiers{}.HandOvers(), func(o archive.Object) error {
		p, epoch, ok := archive.Frontiers{}.HandOver(o.Key)
		if tenure, owned := tenures[p]; ok && owned && epoch < tenure {
			old = append(old, o.Key)
		}
		return nil
	})
	for _, key := range old {
		if err == nil {
			err = store.Delete(ctx, key)
			deleted++
		}
	}
	return deleted, err
}

// SweepCheckpoints deletes checkpoints of workers that are gone, which nobody needs (checkpoint.SweepGone), and returns their number. The first worker of the
// ring does so. Each worker deletes old lists of submitted URLs: it may have an archive of its own.
func (s SpreadPartitions) SweepCheckpoints(ctx context.Context) (deleted int, err error) {
	store, err := s.a.Archives.Open(ctx, "")
	if err == nil {
		err = checkpoint.SweepSubmitted(ctx, store, s.a.Now())
	}
	if err != nil {
		return 0, err
	}
	view := s.a.Membership.present(s.a.Now())
	if view == nil || view.Workers[0].Name != s.a.Settings.Worker {
		return 0, nil
	}
	member := func(worker string) bool {
		_, is := view.Worker(worker)
		return is
	}
	return checkpoint.SweepGone(ctx, store, member, s.a.Now())
}

package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/partfile"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// Partitions makes partitions of crawls that are spread over the workers again, in the frontier of a worker that works meanwhile: each of the
// newest checkpoint that any owner has made of it, and of what the segments of the archive have brought to it since. Which these are the
// partition says itself (frontier.Watermarks), and the checkpoint says what was known of the other workers.
type Partitions struct {
	Store    archive.Store                                                  // that has the checkpoints of all workers
	Open     func(ctx context.Context, where string) (archive.Store, error) // opens the archive of a crawl
	Frontier *frontier.Frontier
	// Cleared does something with a partition of which no claim may be in progress: what a worker still has of a former time is given back.
	Cleared func(ctx context.Context, p frontier.Partition, do func() error) error
	Engine  *pipeline.Engine
	Log     *slog.Logger
	Ahead   *time.Duration // see partfile.Import
	// NoteEvery is after how many segments it is noted how far the rebuild is; 0: noteEvery.
	NoteEvery int
}

// origin is what a partition is made of.
type origin struct {
	Manifest
	there bool        // there is a checkpoint
	older []*Manifest // checkpoints of the partition before this one, the newest first
}

// Run makes partitions. Cut off, the next call continues with what it has, which is noted in the partitions themselves. frontier.ErrNotBegun if the run
// of a crawl has not begun here.
func (r *Partitions) Run(ctx context.Context, list []frontier.Partition) error {
	origins, err := r.origins(ctx, list)
	if err != nil {
		return fmt.Errorf("rebuild partitions: %w", err)
	}
	begun, err := r.expect(ctx)
	if err != nil {
		return fmt.Errorf("rebuild partitions: %w", err)
	}
	names, err := r.Frontier.SpreadCrawls()
	for _, name := range names { // who has asked before for one that has not begun does not load everything again
		if err == nil {
			_, err = r.Frontier.Crawl(name).PlanWithArchives()
		}
	}
	if err != nil {
		return fmt.Errorf("rebuild partitions: %w", err)
	}
	if err := r.loadAll(ctx, names, list, origins); err != nil {
		return fmt.Errorf("rebuild partitions: %w", err)
	}
	names, err = r.Frontier.SpreadCrawls() // checkpoints may have made others known
	for _, name := range names {
		if err == nil {
			err = r.replay(ctx, name, begun[name], origins)
		}
	}
	for _, name := range names {
		if err == nil {
			err = r.Frontier.Crawl(name).SetRebuildNote(list, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("rebuild partitions: %w", err)
	}
	return nil
}

// origins finds the newest checkpoint of each partition. One whose manifest cannot be read is passed over.
func (r *Partitions) origins(ctx context.Context, list []frontier.Partition) (map[frontier.Partition]origin, error) {
	all, unread, err := manifests(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	if unread != nil && r.Log != nil {
		r.Log.Warn("partitions are rebuilt without some checkpoints, which cannot be read", "error", unread)
	}
	origins := map[frontier.Partition]origin{}
	for _, p := range list {
		origins[p] = origin{older: newestFirst(all, int(p))}.next()
	}
	return origins, nil
}

// next is the origin before this one; at last that of no checkpoint, for which all segments of the archive are read.
func (o origin) next() origin {
	if len(o.older) == 0 {
		return origin{}
	}
	return origin{*o.older[0], true, o.older[1:]}
}

// newestFirst are the checkpoints of a partition: of its last owner first, and of these the last. A worker that was given up may have made
// checkpoints afterwards of what was not its own any more.
func newestFirst(all []Manifest, p int) (list []*Manifest) {
	for i := range all {
		if _, owned := all[i].Tenures[p]; owned {
			list = append(list, &all[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Manifest) int {
		return cmp.Or(cmp.Compare(b.Tenures[p], a.Tenures[p]), b.Taken.Compare(a.Taken))
	})
	return list
}

// loadNewest loads the newest checkpoint of a partition that can be read, and returns it. What is damaged or lost would keep the partition without an
// owner for good; the segments since an older checkpoint bring the same. A rebuild that is cut off tries the damaged one again.
func (r *Partitions) loadNewest(ctx context.Context, p frontier.Partition, from origin) (origin, error) {
	for {
		err := r.load(ctx, p, from)
		if err == nil || !from.there || ctx.Err() != nil || !partfile.Unreadable(err) {
			return from, err
		}
		if r.Log != nil {
			r.Log.Warn("a checkpoint of a partition cannot be read: the one before it is used, or all segments of the archive", "partition", p, "checkpoint", from.key(), "error", err)
		}
		from = from.next()
	}
}

// load puts the checkpoint of a partition in place of what spread crawls have of it.
func (r *Partitions) load(ctx context.Context, p frontier.Partition, from origin) error {
	o, some := from.Partitions[int(p)]
	return r.Cleared(ctx, p, func() error {
		if !some {
			return r.Frontier.Drop(p, frontier.SpreadCrawls)
		}
		in, err := partfile.Import(ctx, r.Store, o.Key, p, frontier.SpreadCrawls, r.Frontier, r.Ahead, nil)
		if len(in.Bound) > 0 && r.Log != nil {
			r.Log.Warn("entries of spread crawls that are bound here are left out of a checkpoint", "crawls", in.Bound, "object", o.Key)
		}
		if err == nil {
			err = from.whole(o, in.Entries)
		}
		return err
	})
}

// replay brings into the partitions what a crawl has found in them since their checkpoints. Checkpoints may be of an earlier run: what that has crawled is
// offered again before the segments of the present one are brought in, as each owner has done when that began.
func (r *Partitions) replay(ctx context.Context, name string, begun Begun, origins map[frontier.Partition]origin) error {
	plan, err := r.Frontier.Crawl(name).PlanWithArchives()
	if err != nil {
		return err
	}
	if err := r.seeds(name, plan, begun.Ended, origins); err != nil {
		return err
	}
	has := known{}
	for p, from := range origins {
		marks, err := r.Frontier.Crawl(name).Watermarks(p)
		if err != nil {
			return err
		}
		from.addTo(name, marks)
		has[p] = marks
	}
	reached, err := r.reached(name, origins)
	if err != nil {
		return err
	}
	list, err := r.since(ctx, name, plan, has, oldest(origins))
	if err != nil {
		return err
	}
	byRun(list, plan.Run, begun)
	list = slices.DeleteFunc(list, reached.byAll)
	if r.Log != nil {
		r.Log.Info("segments are brought into partitions that are rebuilt", "crawl", name, "segments", len(list), "partitions", len(origins))
	}
	submitted, err := r.submitted(ctx, name, origins)
	if err != nil {
		return err
	}
	b := bringing{Partitions: r, name: name, plan: plan, has: has, origins: origins, reached: reached, submitted: submitted}
	if plan.Run > 1 {
		i := slices.IndexFunc(list, func(s segment) bool { return s.run == plan.Run })
		if i < 0 {
			i = len(list)
		}
		if err := b.segments(ctx, plan.Run-1, list[:i]); err != nil {
			return err
		}
		if _, err := r.Frontier.Crawl(name).ReplayRecrawl(plan.Run, slices.Sorted(maps.Keys(origins)), frontier.Replaying{}); err != nil {
			return err
		}
		list = list[i:]
	}
	if err := b.segments(ctx, plan.Run, list); err != nil {
		return err
	}
	return submitted.all(ctx)
}

// submitted brings what was submitted to a crawl since the checkpoints into the partitions.
func (r *Partitions) submitted(ctx context.Context, name string, origins map[frontier.Partition]origin) (*resubmitting, error) {
	in := func(p frontier.Partition) bool { _, rebuilt := origins[p]; return rebuilt }
	return resubmittingSince(ctx, r.Store, name, oldest(origins), func(list submitted) error {
		return r.Frontier.Crawl(name).URLs().Resubmit(list.Run, list.URLs, in)
	}, func(err error) {
		if r.Log != nil {
			r.Log.Error("partitions are rebuilt without submitted URLs", "crawl", name, "error", err)
		}
	})
}

// byRun orders segments by their runs, and those of a run by the time at which they were made: clocks of workers differ. A segment whose manifest
// does not name its run is of the run before if it was made before the present one began, where that is known.
func byRun(list []segment, present uint32, begun Begun) {
	for i := range list {
		s := &list[i]
		switch {
		case s.Run > 0:
			s.run = min(s.Run, present)
		case present > 1 && begun.Run == present && s.Created.Before(begun.Started):
			s.run = present - 1
		default:
			s.run = present
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return a.rebuildNote().compare(b.rebuildNote()) })
}

// seeds queues the seeds that the partitions do not know: no segment has them, and there is no checkpoint, or it is older than the crawl.
func (r *Partitions) seeds(name string, plan frontier.Plan, ended bool, origins map[frontier.Partition]origin) error {
	found, _, err := pipeline.Seeds(plan.Definition)
	var input *crawl.InputError
	if ended && errors.As(err, &input) { // a file of seeds is gone: those that were crawled are known by their pages
		return nil
	}
	if err != nil {
		return err
	}
	in := func(p frontier.Partition) bool { _, rebuilt := origins[p]; return rebuilt }
	return r.Frontier.Crawl(name).ReplaySeeds(plan.Run, found, in, frontier.Replaying{})
}

// passOver passes over what of a segment cannot be read: it would keep all partitions without an owner. The progress of the crawl names the object.
func (r *Partitions) passOver(name string, damaged error) error {
	if r.Log != nil {
		r.Log.Error("partitions are rebuilt without a segment of the archive", "crawl", name, "error", damaged)
	}
	return r.Frontier.Crawl(name).NoteDamaged(damaged.Error() + "; in partitions that were rebuilt its pages may be fetched again, and links that it has are not followed in this run")
}

// known says of partitions of which batches of each worker they have what these have found.
type known map[frontier.Partition]frontier.Watermarks

// any reports whether any partition may be without what a batch has found, by its marks.
func (k known) any(worker string, number uint64) bool {
	for _, marks := range k {
		if !marks.Pass(worker, number) {
			return true
		}
	}
	return false
}

// clocks is how far those of workers and of a store may be apart.
const clocks = time.Hour

// oldest is when the oldest of some checkpoints was made; the zero time if there is none of a partition.
func oldest(origins map[frontier.Partition]origin) time.Time {
	first := true
	var at time.Time
	for _, from := range origins {
		if first || from.Taken.Before(at) {
			first, at = false, from.Taken
		}
	}
	return at
}

// since lists the segments of a crawl that partitions may be without, in the order in which they were made.
func (r *Partitions) since(ctx context.Context, name string, plan frontier.Plan, has known, oldest time.Time) ([]segment, error) {
	skip := func(segment string, changed time.Time) bool {
		batch, nonce := archive.LifeOfSegment(segment)
		worker, number, of := frontier.BatchOf(batch)
		switch {
		case nonce == "":
			return false
		case archive.IsEndsBatch(batch), of && frontier.LivedBefore(nonce) && !has.any(worker, number): // marks do not say which of these there are
			return changed.Before(oldest.Add(-clocks))
		}
		return of && !has.any(worker, number)
	}
	passOver := func(err error) error { return r.passOver(name, err) }
	return segmentsOf(ctx, r.Open, name, plan, skip, func(archive.Manifest) bool { return true }, passOver)
}

// manifests reads the checkpoints of all workers. unread says which cannot be read: the others are of use without them.
func manifests(ctx context.Context, store archive.Store) (all []Manifest, unread, err error) {
	var keys []string
	err = store.List(ctx, archive.Frontiers{}.Checkpoints(), func(o archive.Object) error {
		if (archive.Frontiers{}).IsManifest(o.Key) {
			keys = append(keys, o.Key)
		}
		return nil
	})
	for _, key := range keys {
		if err != nil {
			return nil, nil, err
		}
		m, errRead := read(ctx, store, key)
		switch {
		case errors.Is(errRead, archive.ErrNotFound): // its worker has made another one meanwhile
		case errors.Is(errRead, ErrManifest):
			unread = errors.Join(unread, errRead)
		default:
			err = errRead
			all = append(all, m)
		}
	}
	return all, unread, err
}

package learning

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// listed is what the archive has of a run.
type listed struct {
	updates   map[string][]uint64 // numbers of objects by stream, which rise
	snapshots []listedSnapshot    // which have more and more pages
}

type listedSnapshot struct {
	key, stream string
	pages       uint64
}

func (t *turn) list(ctx context.Context) error {
	t.listed = listed{updates: map[string][]uint64{}}
	return t.store.List(ctx, archive.Frontiers{}.LearningOf(t.at.Crawl, t.at.Owner), func(o archive.Object) error {
		stream, n, snapshot, ok := archive.Frontiers{}.IsLearning(t.at.Crawl, t.at.Owner, o.Key)
		switch {
		case ok && snapshot:
			t.listed.snapshots = append(t.listed.snapshots, listedSnapshot{o.Key, stream, n})
		case ok:
			t.listed.updates[stream] = append(t.listed.updates[stream], n)
		}
		return nil
	})
}

// newest is the key of the snapshot of another worker that has the most pages; "" if there is none.
func (l *listed) newest(self string) (key string) {
	for _, s := range l.snapshots {
		if s.stream != self {
			key = s.key
		}
	}
	return key
}

// behind reports whether a worker is to start from a snapshot: it has nothing of others, or the archive has no longer what comes next.
func (l *listed) behind(marks map[string]frontier.LearningMark, self string) bool {
	others := 0
	for stream := range marks {
		if stream != self {
			others++
		}
	}
	for stream, numbers := range l.updates {
		next := slices.IndexFunc(numbers, func(n uint64) bool { return n > marks[stream].Object })
		if next >= 0 && numbers[next] > marks[stream].Object+1 {
			return true
		}
	}
	return others == 0
}

// take learns from what others have sent.
func (t *turn) take(ctx context.Context) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	marks, err := t.learning.LearningMarks(t.stream)
	if err != nil {
		return err
	}
	if newest := t.listed.newest(t.Stream); newest != "" && newest != t.run.adopted && t.listed.behind(marks, t.Stream) {
		if err := t.adopt(ctx, newest); err != nil {
			return err
		}
		if marks, err = t.learning.LearningMarks(t.stream); err != nil {
			return err
		}
	}
	untaken := t.listed.untaken(marks)
	t.Untaken.set(t.at.Crawl, untaken)
	for _, stream := range slices.Sorted(maps.Keys(t.listed.updates)) {
		for _, n := range t.listed.updates[stream] {
			if n <= marks[stream].Object {
				continue
			}
			if err := t.takeObject(ctx, stream, n); err != nil {
				return err
			}
			untaken--
			t.Untaken.set(t.at.Crawl, untaken)
		}
	}
	return nil
}

// untaken is the number of objects behind marks.
func (l *listed) untaken(marks map[string]frontier.LearningMark) (objects int) {
	for stream, numbers := range l.updates {
		for _, n := range numbers {
			if n > marks[stream].Object {
				objects++
			}
		}
	}
	return objects
}

func (t *turn) takeObject(ctx context.Context, stream string, n uint64) error {
	key := archive.Frontiers{}.LearningUpdates(t.at.Crawl, t.at.Owner, stream, n)
	o, err := read[object](ctx, t.store, key, maxObject)
	switch {
	case errors.Is(err, archive.ErrNotFound): // deleted meanwhile
		return nil
	case errors.Is(err, errUnreadable):
		t.Log.Warn("an object of learning updates is passed over", "crawl", t.at.Crawl, "error", err)
	case err != nil:
		return err
	}
	if o.Version != version || o.Topic != t.at.Topic {
		o.Updates = nil
	}
	t.moved = true
	return t.learning.Take(t.stream, stream, n, o.Updates)
}

// adopt starts from a snapshot. One that is of no use is not tried again.
func (t *turn) adopt(ctx context.Context, key string) error {
	s, err := read[snapshot](ctx, t.store, key, maxSnapshot)
	if errors.Is(err, errUnreadable) || err == nil && (s.Version != version || s.Topic != t.at.Topic) {
		t.Log.Warn("a snapshot of what the order has learned is passed over", "crawl", t.at.Crawl, "key", key, "error", err)
		t.run.adopted = key
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.learning.Adopt(t.stream, s.State); err != nil {
		return err
	}
	t.run.adopted, t.moved = key, true
	t.Log.Info("the order continues from what another worker knows", "crawl", t.at.Crawl, "key", key, "pages", s.State.Pages)
	return nil
}

// lead writes a snapshot if it is time, and deletes what the one before has.
func (t *turn) lead(ctx context.Context) error {
	if !t.run.swept {
		if err := t.sweep(ctx, t.at.Crawl, t.at.Owner); err != nil {
			return err
		}
		t.run.swept = true
	}
	last := uint64(0)
	if n := len(t.listed.snapshots); n > 0 {
		last = t.listed.snapshots[n-1].pages
	}
	order := t.learning.Order()
	if order == nil || uint64(order.Pages()) < last+uint64(t.Snapshot) {
		return nil
	}
	marks, err := t.put(ctx)
	if err != nil {
		return err
	}
	former := t.run.covered
	t.run.covered = marks
	var old []string
	for stream, numbers := range t.listed.updates {
		for _, n := range numbers {
			if n <= former[stream].Object {
				old = append(old, archive.Frontiers{}.LearningUpdates(t.at.Crawl, t.at.Owner, stream, n))
			}
		}
	}
	for i := range len(t.listed.snapshots) - 1 { // the last one and the new one stay
		old = append(old, t.listed.snapshots[i].key)
	}
	for _, key := range old {
		if err := t.store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

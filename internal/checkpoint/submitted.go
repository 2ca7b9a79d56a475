package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// submitted is a list of URLs that was submitted to a run of a crawl. No segment has them before they are fetched, and one that is blacklisted none ever: a frontier that is made
// again has them by these lists.
type submitted struct {
	Version int                   `json:"version"`
	Run     uint32                `json:"run"`
	ID      string                `json:"id"` // by which a frontier takes it once
	URLs    []frontier.Submission `json:"urls"`
}

const submittedVersion = 1

const (
	// submittedKept is for how long a list is kept: checkpoints, which have what was submitted before them, are an hour apart.
	submittedKept = 7 * 24 * time.Hour
	// maxSubmitted bounds what is read of a list, in bytes.
	maxSubmitted = 8 << 20
)

// KeepSubmitted keeps URLs that a worker is about to take into a run of a crawl.
func KeepSubmitted(ctx context.Context, store archive.Store, now time.Time, worker, crawl string, run uint32, id string, list []frontier.Submission) error {
	raw, err := json.Marshal(submitted{submittedVersion, run, id, list})
	if err == nil {
		err = store.PutIfAbsent(ctx, archive.Frontiers{}.SubmittedList(crawl, now, worker, raw), raw)
	}
	if err != nil && !errors.Is(err, archive.ErrExists) {
		return fmt.Errorf("keep submitted URLs: %w", err)
	}
	return nil
}

func (s *submitted) read(raw []byte) error {
	if err := json.Unmarshal(raw, s); err != nil {
		return fmt.Errorf("read a list of submitted URLs: %w", err)
	}
	if s.Version != submittedVersion {
		return fmt.Errorf("read a list of submitted URLs: version %d is not known", s.Version)
	}
	return nil
}

// resubmitting brings what was submitted to a crawl into a frontier that is made again, in the order in which that was taken in, between the segments: a URL was submitted before it was fetched.
type resubmitting struct {
	store    archive.Store
	keys     []string // of the lists that are left, the earliest first
	take     func(submitted) error
	passOver func(error) // is given the error of a list that cannot be read
}

// resubmittingSince is that of the lists since a moment. take is idempotent.
func resubmittingSince(ctx context.Context, store archive.Store, crawl string, since time.Time, take func(submitted) error, passOver func(error)) (*resubmitting, error) {
	keys, err := keysOf(ctx, store, archive.Frontiers{}.Submitted(crawl))
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return archive.Frontiers{}.SubmittedAt(key).Before(since.Add(-clocks)) })
	slices.Sort(keys)
	return &resubmitting{store, keys, take, passOver}, nil
}

// until brings in the lists up to a moment.
func (r *resubmitting) until(ctx context.Context, at time.Time) error {
	for len(r.keys) > 0 && !(archive.Frontiers{}).SubmittedAt(r.keys[0]).After(at) {
		if err := r.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// all brings in the others.
func (r *resubmitting) all(ctx context.Context) error {
	for len(r.keys) > 0 {
		if err := r.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *resubmitting) next(ctx context.Context) error {
	key := r.keys[0]
	raw, err := archive.ReadAll(ctx, r.store, key, maxSubmitted)
	var list submitted
	switch {
	case errors.Is(err, archive.ErrNotFound): // it was deleted meanwhile
	case archive.Damaged(err): // the rebuild would never end
		r.passOver(fmt.Errorf("%s: %w", key, err))
	case err != nil:
		return err
	default:
		if err := list.read(raw); err != nil {
			r.passOver(fmt.Errorf("%s: %w", key, err))
		} else if err := r.take(list); err != nil {
			return err
		}
	}
	r.keys = r.keys[1:]
	return nil
}

// SweepSubmitted deletes lists that are older than submittedKept, of whatever worker.
func SweepSubmitted(ctx context.Context, store archive.Store, now time.Time) error {
	return deleteSubmitted(ctx, store, "", func(taken time.Time) bool { return !taken.IsZero() && now.Sub(taken) > submittedKept })
}

// ForgetSubmitted deletes all that is kept of what was submitted to a crawl.
func ForgetSubmitted(ctx context.Context, store archive.Store, crawl string) error {
	return deleteSubmitted(ctx, store, crawl, func(time.Time) bool { return true })
}

func deleteSubmitted(ctx context.Context, store archive.Store, crawl string, which func(taken time.Time) bool) error {
	keys, err := keysOf(ctx, store, archive.Frontiers{}.Submitted(crawl))
	for _, key := range keys {
		if err == nil && which(archive.Frontiers{}.SubmittedAt(key)) {
			err = store.Delete(ctx, key)
		}
	}
	return err
}

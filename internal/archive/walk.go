package archive

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// How many objects of an archive are read at a time: manifests, which are small, and what they name.
const (
	manifestsAtOnce = 64
	segmentsAtOnce  = 8
)

// Walk says which segments of a crawl are read, and what of them.
type Walk[T any] struct {
	Of Layout // of the crawl
	// Listed are the names of the segments, of a caller that has listed them, with a zero time of change; nil: the walk lists them.
	Listed []string
	// Skip reports that a segment is not wanted, before its manifest is read; nil: all are. changed is when the manifest
	// was put, by the clock of the store.
	Skip func(segment string, changed time.Time) bool
	// Load reads of a segment what is wanted. Several run at a time.
	Load func(context.Context, Manifest) (T, error)
	// Damaged is given what says that a segment cannot be read (Damaged); it is passed over unless an error is returned. nil: the walk ends with what it says.
	Damaged func(error) error
}

// Each calls use with each segment of the walk and what was loaded of it, in the order of keys; batches that were given back
// are passed over. A store that takes its time for each answer is asked many things at a time: 20,000 manifests
// at 50 ms each take 16 seconds.
func (w Walk[T]) Each(ctx context.Context, store Store, use func(Manifest, T) error) error {
	var running sync.WaitGroup // nobody reads for the walk once it has ended
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	manifests := inParallel(ctx, &running, manifestsAtOnce, w.keys(ctx, &running, store), func(key string) (Manifest, error) {
		segment, _ := segmentOf(key)
		return readSegment(ctx, store, w.Of, segment)
	})
	type segment struct {
		Manifest
		loaded T
	}
	segments := inParallel(ctx, &running, segmentsAtOnce, manifests, func(m Manifest) (s segment, err error) {
		s.Manifest = m
		if !m.GivenBack && w.Load != nil {
			s.loaded, err = w.Load(ctx, m)
		}
		return s, err
	})
	for s := range segments {
		if s.err != nil && w.Damaged != nil && Damaged(s.err) {
			s.err = w.Damaged(s.err)
			s.value.GivenBack = true // nothing of it is used
		}
		if s.err != nil {
			return s.err
		}
		if ctx.Err() != nil { // what was read before the end may still come
			break
		}
		if s.value.GivenBack {
			continue
		}
		if err := use(s.value.Manifest, s.value.loaded); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Manifests calls fn with each manifest of a crawl, in the order of keys; those of batches that were given back are
// passed over.
func Manifests(ctx context.Context, store Store, prefix, crawl string, fn func(Manifest) error) error {
	return Walk[struct{}]{Of: Layout{prefix, crawl}}.Each(ctx, store, func(m Manifest, _ struct{}) error { return fn(m) })
}

// keys lists the manifests that are wanted.
func (w Walk[T]) keys(ctx context.Context, running *sync.WaitGroup, store Store) <-chan result[string] {
	out := make(chan result[string])
	running.Go(func() {
		defer close(out)
		for _, segment := range w.Listed {
			if w.Skip != nil && w.Skip(segment, time.Time{}) {
				continue
			}
			if send(ctx, out, result[string]{value: w.Of.Manifest(segment)}) != nil {
				return
			}
		}
		if w.Listed != nil {
			return
		}
		err := store.List(ctx, w.Of.Manifests(), func(o Object) error {
			segment, is := segmentOf(o.Key)
			if is = is && o.Key == w.Of.Manifest(segment); !is || w.Skip != nil && w.Skip(segment, o.Changed) {
				return ctx.Err()
			}
			return send(ctx, out, result[string]{value: o.Key})
		})
		if err != nil {
			_ = send(ctx, out, result[string]{err: fmt.Errorf("list the segments of %s: %w", w.Of.Crawl, err)})
		}
	})
	return out
}

// result is the result of one of many calls.
type result[T any] struct {
	value T
	err   error
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inParallel does something with what comes in, n at a time, and gives the results in the order in which they came. What
// comes in as an error goes out as that.
func inParallel[A, B any](ctx context.Context, running *sync.WaitGroup, n int, in <-chan result[A], do func(A) (B, error)) <-chan result[B] {
	pending, out := make(chan chan result[B], n-1), make(chan result[B])
	running.Go(func() {
		defer close(pending)
		for a := range in {
			mine := make(chan result[B], 1)
			if send(ctx, pending, mine) != nil {
				return
			}
			if a.err != nil {
				mine <- result[B]{err: a.err}
				continue
			}
			running.Go(func() {
				value, err := do(a.value)
				mine <- result[B]{value, err}
			})
		}
	})
	running.Go(func() {
		defer close(out)
		for mine := range pending {
			select {
			case r := <-mine:
				if send(ctx, out, r) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return out
}

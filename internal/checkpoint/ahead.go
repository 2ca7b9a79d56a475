package checkpoint

import (
	"bytes"
	"context"
	"io"
	"iter"

	"golang.org/x/sync/semaphore"

	"github.com/muninn-archive/muninn/internal/archive"
)

// How many segments are read ahead of the one that is brought in, because a store takes its time for each answer; and how many bytes of their
// objects are in memory for that: the rest is read when it is needed.
const (
	segmentsAhead = 8
	maxAhead      = 64 << 20
)

// ahead gives segments whose log, index and links are in memory.
func ahead(ctx context.Context, list []segment) iter.Seq2[segment, error] {
	return func(yield func(segment, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		coming := make(chan chan result, segmentsAhead)
		room := semaphore.NewWeighted(maxAhead)
		go func() {
			defer close(coming)
			for _, s := range list {
				mine := make(chan result, 1)
				select {
				case coming <- mine:
				case <-ctx.Done():
					return
				}
				go func() {
					bytes, err := s.fetch(ctx, room)
					mine <- result{s, bytes, err}
				}()
			}
		}()
		for mine := range coming {
			got := <-mine
			if !yield(got.segment, got.err) || got.err != nil {
				return
			}
			room.Release(got.bytes)
		}
		if err := ctx.Err(); err != nil {
			yield(segment{}, err)
		}
	}
}

type result struct {
	segment
	bytes int64 // of room
	err   error
}

// fetch puts a store in place of the segment's that has its objects, as far as there is room, and returns how much that takes.
func (s *segment) fetch(ctx context.Context, room *semaphore.Weighted) (bytes int64, err error) {
	here := fetched{s.store, map[string][]byte{}}
	of := []archive.Stored{s.CDXJ, s.Links}
	if s.Log != nil {
		of = append(of, *s.Log)
	}
	for _, o := range of {
		if o.Key == "" || !room.TryAcquire(o.Bytes) {
			continue
		}
		bytes += o.Bytes
		raw, err := archive.ReadAll(ctx, s.store, o.Key, maxAhead)
		if archive.Damaged(err) { // who reads it is to know
			continue
		}
		if err != nil {
			return bytes, err
		}
		here.objects[o.Key] = raw
	}
	s.store = here
	return bytes, nil
}

// fetched is a store of which some objects are in memory.
type fetched struct {
	archive.Store
	objects map[string][]byte
}

func (f fetched) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	raw, here := f.objects[key]
	if !here || offset < 0 || offset >= int64(len(raw)) {
		return f.Store.GetRange(ctx, key, offset, length)
	}
	return io.NopCloser(bytes.NewReader(raw[offset:min(offset+length, int64(len(raw)))])), nil
}

func (f fetched) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if raw, here := f.objects[key]; here {
		return io.NopCloser(bytes.NewReader(raw)), nil
	}
	return f.Store.Get(ctx, key)
}

package catalogue

import (
	"context"
	"errors"
	"sync"

	"github.com/muninn-archive/muninn/internal/cache"
)

// keptSegments are the segments whose names stay in memory.
const keptSegments = 50_000

// Known remembers segments of a database by their numbers.
type Known struct {
	mu       sync.Mutex
	segments *cache.LRU[int64, Segment]
}

// NewKnown makes one that has none.
func NewKnown() *Known { return &Known{segments: cache.NewLRU[int64, Segment](keptSegments, nil)} }

// Segment is the segment with a number; read reads it if it is not remembered.
func (k *Known) Segment(number int64, read func() (Segment, error)) (Segment, error) {
	k.mu.Lock()
	s, known := k.segments.Get(number)
	k.mu.Unlock()
	if known {
		return s, nil
	}
	s, err := read()
	if err != nil {
		return s, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.segments.Put(number, s)
	return s, nil
}

// Named is a segment that was found by the number of a name, with the error of that: ErrNoSegment if it has another name.
func Named(s Segment, err error, name SegmentName) (Segment, error) {
	if err == nil && s.SegmentName != name {
		err = ErrNoSegment
	}
	return s, err
}

// Has is HasSegment of a catalogue by its Segment.
func Has(ctx context.Context, c Catalogue, name SegmentName) (bool, error) {
	_, err := c.Segment(ctx, name)
	if errors.Is(err, ErrNoSegment) {
		return false, nil
	}
	return err == nil, err
}

package intake

import (
	"sync"
	"time"
)

// bucket bounds requests: so many a second, and a burst beyond that.
type bucket struct {
	mu    sync.Mutex
	rate  float64
	burst float64
	left  float64
	at    time.Time // when left was worked out
}

func newBucket(l Limits) *bucket {
	return &bucket{rate: l.Rate, burst: float64(l.Burst), left: float64(l.Burst)}
}

// take reports whether a request may be served now.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() {
		b.left = min(b.left+b.rate*max(now.Sub(b.at), 0).Seconds(), b.burst)
	}
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

package share

import (
	"testing"
	"time"
)

// TestLearnEvery: exchanges grow apart with the pages of the worker, up to a bound.
func TestLearnEvery(t *testing.T) {
	for _, c := range []struct {
		pages int64
		most  int
		every int64
		wait  time.Duration
	}{
		{0, 100, 5, 2 * time.Second}, {40, 100, 5, 2 * time.Second}, {400, 100, 50, 2 * time.Second}, {999, 100, 100, 2 * time.Second},
		{1000, 100, 100, 10 * time.Second}, {1e9, 100, 100, 10 * time.Second}, {400, 20, 20, 2 * time.Second}, {0, 1, 1, 2 * time.Second},
	} {
		if every, wait := LearnEvery(c.pages, c.most), LearnWait(c.pages); every != c.every || wait != c.wait {
			t.Errorf("%d pages, at most %d: after %d pages and %s", c.pages, c.most, every, wait)
		}
	}
}

// TestLearnEach: once a crawl is old, a worker learns from no more pages of all others together than of its own.
func TestLearnEach(t *testing.T) {
	for _, c := range []struct {
		pages   int64
		n, each int
	}{{0, 20, 1}, {LearnAll - 1, 4, 1}, {LearnAll, 4, 3}, {1e9, 20, 19}, {1e9, 2, 1}, {1e9, 1, 1}, {1e9, 0, 1}} {
		if each := LearnEach(c.pages, c.n); each != c.each {
			t.Errorf("%d pages, %d workers: one in %d", c.pages, c.n, each)
		}
	}
}

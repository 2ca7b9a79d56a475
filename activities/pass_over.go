package activities

import (
	"context"
	"fmt"
	"sync"

	"go.temporal.io/sdk/activity"
)

// damagedTries is how often a worker tries to read an object of the archive that is damaged or lost before it passes over the segment: what waits for it would
// wait without end. Faults of the store do not count.
const damagedTries = 3

// What is lost by a segment that is passed over.
const (
	lostLinks  = "links that it has to some partitions are not followed in this run"
	lostCounts = "its pages are not counted"
	// of a batch whose spool is lost, too
	lostOutcomes = "what cannot be read of it is fetched again, and links that it has are not followed in this run"
)

// tried counts the attempts of this process to read what is damaged.
type tried struct {
	mu     sync.Mutex
	counts map[string]int // by what is lost, crawl and error, which names the object
}

// again counts an attempt, and returns how many there were.
func (t *tried) again(of string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[of]++
	return t.counts[of]
}

// passOver passes over a segment that cannot be read (archive.Damaged), once that was tried often enough; else it returns the error, for the next attempt. The
// progress of the crawl names the object, and says what is lost.
func (a *Activities) passOver(ctx context.Context, crawl string, damaged error, lost string) error {
	text := fmt.Sprintf("%v; %s", damaged, lost)
	if a.damaged.again(crawl+": "+text) < damagedTries {
		return damaged
	}
	activity.GetLogger(ctx).Error("a segment of the archive is passed over", "crawl", crawl, "error", damaged, "lost", lost)
	return a.Frontier.Crawl(crawl).NoteDamaged(text)
}

package frontier

import (
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestLateDelivery: a delivery whose partition is given away and dropped between the check of its right and its write leaves nothing: what it left would
// be in no partition of this worker, nobody would claim it or drop it, and the worker would never be idle.
func TestLateDelivery(t *testing.T) {
	r, _ := newSpreadRig(t)
	const url = "http://late.example/"
	p, gone := partitionOf(t, url), false
	d := Delivery{Worker: "w2", Number: 3, Nonce: "0123", Run: 1, Discoveries: found(0.5, url)}
	err := r.Crawl.Deliver(d, func(Partition) error {
		if gone {
			return ring.ErrStale
		}
		gone = true // from the next check on: the ring has given the partition to another worker, which has loaded it
		r.must(r.Drop(p, SpreadCrawls))
		return nil
	})
	if !errors.Is(err, ring.ErrStale) {
		t.Errorf("the delivery ends with %v", err)
	}
	idle, err := r.Crawl.Idle()
	r.must(err)
	if left := r.waitingURLs(); len(left) > 0 || !idle.Idle {
		t.Errorf("of the partition %v waits, idle: %t", left, idle.Idle)
	}
}

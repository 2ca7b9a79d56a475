package frontier

import (
	"errors"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
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

// TestCommitOfAPartlyDelivered: a delivery is cut off between two of its mutations, because its owner gives the partition away; the next owner is the worker whose batch it is. The commit of
// the batch names the partition, and the delivery is ended first: no link is lost, none counts twice.
func TestCommitOfAPartlyDelivered(t *testing.T) {
	links := manyLinks("x.example", 8000)
	p := partitionOf(t, links[0].URL)
	source, _ := newSpreadRig(t)
	source.submit("s", found(1, "http://a.example/")...)
	claims := source.next().Claims
	const batch = "a.example-1@w.7"
	_, err := source.Batch(batch).Start(source.grant(claims...))
	source.must(err)
	_, err = source.Batch(batch).Reopen(claims, nil)
	source.must(err)
	life, err := source.Batch(batch).Life()
	source.must(err)

	owner, _ := newSpreadRig(t)
	d, asked := Delivery{Worker: "w", Number: 1, Nonce: life.Nonce, Run: 1, Discoveries: links}, 0
	err = owner.Crawl.Deliver(d, func(Partition) error {
		if asked++; asked > 2 { // before anything, and within the first mutation, it may
			return ring.ErrNotNow
		}
		return nil
	})
	if n := len(owner.waitingURLs()); !errors.Is(err, ring.ErrNotNow) || n == 0 || n >= len(links) {
		t.Fatalf("%d of %d links are delivered, %v", n, len(links), err)
	}
	_, err = source.Import(p, SpreadCrawls, sequenceOf(taken(t, owner.Frontier, p)))
	source.must(err)

	c := Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/")}, Discoveries: links}
	var partly *PartlyDeliveredError
	if err := source.Crawl.Commit(c); !errors.As(err, &partly) || !slices.Equal(partly.Partitions, []Partition{p}) {
		t.Fatalf("the commit: %v", err)
	}
	source.must(source.Crawl.Deliver(d, anyPartition))
	source.must(source.Crawl.Commit(c)) // all parts are there by now
	if n := len(source.waitingURLs()); n != len(links) {
		t.Errorf("%d URLs wait, of %d", n, len(links))
	}
	for _, l := range []crawl.Discovery{links[0], links[len(links)-1]} {
		u, err := urls.Parse(l.URL)
		source.must(err)
		e, err := source.URLs().Explain(u)
		if source.must(err); e.Links != 1 {
			t.Errorf("%d links lead to %s, want 1", e.Links, l.URL)
		}
	}
}

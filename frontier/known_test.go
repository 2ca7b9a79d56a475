package frontier

import (
	"errors"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// countsRecords compares what the totals say that the run knows with its records; those of a partition that is being moved are none.
func (r *rig) countsRecords() (counted knownURLs) {
	r.t.Helper()
	status, recorded := r.status(), knownURLs{}
	s, err := r.Crawl.state()
	r.must(err)
	r.must(r.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.All(store.Records), nil, func(key store.Key, value []byte) (bool, error) {
			rec, err := record.Decode(value)
			if err == nil && rec.Run == status.Run && r.moves.now[store.PartitionOf(key.PLD())] == 0 {
				recorded.count(&rec, 1)
			}
			return true, err
		})
	}))
	if counted = status.Totals.known(); counted != recorded {
		r.t.Errorf("the totals say that the run knows %+v, its records %+v", counted, recorded)
	}
	return counted
}

// expectKnown does so, and compares it with numbers.
func (r *rig) expectKnown(when string, all, requisites, speculative int64) {
	r.t.Helper()
	if got, want := r.countsRecords(), (knownURLs{all, requisites, speculative}); got != want {
		r.t.Errorf("%s: %+v are known, want %+v", when, got, want)
	}
}

func isSpread(d *crawl.Definition) { d.Spread = true }

// someOfTwo are URLs of two PLDs: of a.example 5, of which 2 are requisites and 1 is probably one; of b.example 2, 1 requisite.
func someOfTwo() []crawl.Discovery {
	return slices.Concat(
		found(0.5, "http://a.example/1", "http://a.example/2", "http://b.example/1"),
		embedded("http://a.example/1", "http://a.example/x.css", "http://a.example/y.css", "http://b.example/z.css"),
		[]crawl.Discovery{{URL: "http://a.example/p.png", Path: "SLX", Via: "http://a.example/1", Score: 0.1}},
	)
}

// TestKnownMoves: what a spread crawl knows goes with its partitions: it counts where the records are, also after an import that was cut off, one that is done twice, a drop, a
// delivery that is repeated, before and after the partition has moved, and a partition that is made again from a former state and the archive.
func TestKnownMoves(t *testing.T) {
	from, to := newRig(t, isSpread), newRig(t, isSpread)
	a := partitionOf(t, "http://a.example/")
	from.submit("s", someOfTwo()...)
	from.expectKnown("offered", 7, 3, 1)
	entries, errCut := takenOf(t, from.Frontier, a, SpreadCrawls), errors.New("the store is away")
	cutOff := func() {
		_, err := to.Import(a, SpreadCrawls, func(yield func(PartitionEntry, error) bool) {
			for _, e := range entries[:len(entries)/2] {
				if !yield(e, nil) {
					return
				}
			}
			yield(PartitionEntry{}, errCut)
		})
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		to.expectKnown("cut off", 0, 0, 0)
	}
	for range 2 {
		cutOff()
		_, err := to.Import(a, SpreadCrawls, sequenceOf(entries))
		to.must(err)
		to.expectKnown("imported", 5, 2, 1)
	}
	cutOff()
	to.reopen()
	to.expectKnown("cut off and opened again", 0, 0, 0)
	_, err := to.Import(a, SpreadCrawls, sequenceOf(entries))
	to.must(err)
	to.reopen()
	to.expectKnown("imported and opened again", 5, 2, 1)
	from.must(from.startMove(a, SpreadCrawls))
	from.expectKnown("a drop that was cut off", 2, 1, 0)
	for range 2 {
		from.must(from.Drop(a, SpreadCrawls))
		from.expectKnown("dropped", 2, 1, 0)
	}
	d := Delivery{Worker: "w", Number: 7, Nonce: "n", Run: 1, Discoveries: slices.Concat(found(0.5, "http://a.example/2", "http://a.example/3"), embedded("http://a.example/1", "http://a.example/x.css", "http://a.example/w.css"))}
	for range 2 {
		to.must(to.Crawl.Deliver(d, anyPartition))
		to.expectKnown("delivered", 7, 3, 1)
	}
	_, err = from.Import(a, SpreadCrawls, sequenceOf(takenOf(t, to.Frontier, a, SpreadCrawls)))
	from.must(err)
	to.must(to.Drop(a, SpreadCrawls))
	from.must(from.Crawl.Deliver(d, anyPartition))
	from.expectKnown("delivered again where it has moved", 2+7, 1+3, 1)
	to.expectKnown("moved away", 0, 0, 0)

	_, err = to.Import(a, SpreadCrawls, sequenceOf(entries))
	to.must(err)
	replay := Replay{Delivery: d, Outcomes: []crawl.PageOutcome{done("http://a.example/1"), done("http://a.example/x.css")}}
	for range 2 {
		_, err := to.Crawl.Replay(replay, func(p Partition) bool { return p == a })
		to.must(err)
		to.expectKnown("made again", 7, 3, 1)
	}
	if got := to.status().Totals; got.Pages != 0 || got.RequisitesArchived != 0 {
		t.Errorf("what others have fetched is counted: %+v", got)
	}
}

// TestKnownBeforeBegin: what was imported before the run began here counts in it, whether the frontier knew nothing of the crawl or a former run of it; that of the former run
// stays as it was.
func TestKnownBeforeBegin(t *testing.T) {
	r := newRig(t, isSpread)
	late := &rig{t: t, dir: t.TempDir(), clock: r.clock}
	late.open()
	t.Cleanup(func() { _ = late.Close() })
	a, b := partitionOf(t, "http://a.example/"), partitionOf(t, "http://b.example/")
	begin := func(owner string, run uint32) {
		for _, p := range []Partition{a, b} {
			_, err := late.Import(p, SpreadCrawls, sequenceOf(takenOf(t, r.Frontier, p, SpreadCrawls)))
			late.must(err)
		}
		late.must(late.Drop(b, SpreadCrawls))
		late.reopen()
		if n := late.status().Totals.Known; run == 2 && n != 5 {
			t.Errorf("%d URLs of the former run are known, 5 were", n)
		}
		d := definition(isSpread)
		_, err := late.Begin(testCrawl, owner, run, d, seedsOf(d), false)
		late.must(err)
	}
	r.submit("s", someOfTwo()...)
	begin("owner", 1)
	late.expectKnown("begun", 5, 2, 1)

	r.must(r.End("owner"))
	late.must(late.End("owner"))
	r.must(r.begin("next", isSpread))
	r.submit("again", append(someOfTwo(), found(0.5, "http://a.example/9")...)...)
	r.expectKnown("the next run", 8, 3, 1)
	begin("next", 2)
	late.expectKnown("the next run has begun", 6, 2, 1)
}

// TestKnownBelow: what an earlier version has counted that did not move it may be less than what is dropped: no number is below 0.
func TestKnownBelow(t *testing.T) {
	r := newRig(t, isSpread)
	r.submit("s", someOfTwo()...)
	r.must(r.Crawl.change(func(rec *crawlRecord) { rec.Totals.setKnown(knownURLs{All: 3, Requisites: 1}) }))
	r.must(r.Drop(partitionOf(t, "http://a.example/"), SpreadCrawls))
	status := r.status()
	if got := status.Totals.known(); got != (knownURLs{}) {
		t.Errorf("%+v are known", got)
	}
}

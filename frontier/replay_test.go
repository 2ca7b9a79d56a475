package frontier

import (
	"maps"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestReplay: a partition that is brought up from before a batch, by what the archive has of the batch, is as the batch has left it, however often
// that is brought in; who has the batch already, its own worker or a receiver of its links, is left as it is.
func TestReplay(t *testing.T) {
	spread := func(d *crawl.Definition) { d.Spread, d.Order.Update = true, crawl.UpdateSum }
	r, to := newRig(t, spread), newRig(t, spread)
	r.submit("s", found(0.5, "http://a.example/1", "http://a.example/2", "http://b.example/1")...)
	partitions := []Partition{partitionOf(t, "http://a.example/"), partitionOf(t, "http://b.example/"), partitionOf(t, "http://c.example/")}
	own := func(p Partition) bool { return slices.Contains(partitions, p) }
	before := map[Partition][]PartitionEntry{}
	for _, p := range partitions {
		before[p] = takenOf(t, r.Frontier, p, SpreadCrawls)
	}
	claims := r.next().Claims
	batch := claims[0].ID + "@w-1.7"
	_, err := r.Batch(batch).Start(r.grant(claims...))
	r.must(err)
	lanes, err := r.Batch(batch).Reopen(claims, nil)
	r.must(err)
	life, err := r.Batch(batch).Life()
	r.must(err)
	worker, number, ok := BatchOf(batch)
	if worker != "w-1" || !ok {
		t.Fatalf("%s is of worker %q", batch, worker)
	}
	links := found(0.25, "http://a.example/2", "http://b.example/1", "http://b.example/2", "http://c.example/1")
	r.finish(batch, lanes, links...)
	want, status := r.records(own), asJSON(r.status())
	replay := Replay{Delivery: Delivery{Worker: worker, Number: number, Nonce: life.Nonce, Run: 1, Discoveries: links}}
	for _, url := range targets(lanes...) {
		replay.Outcomes = append(replay.Outcomes, done(url))
	}
	for _, p := range partitions {
		_, err := to.Import(p, SpreadCrawls, sequenceOf(before[p]))
		to.must(err)
	}
	totals := to.status().Totals
	for range 3 {
		for _, at := range []*rig{r, to} {
			missing, err := at.Crawl.Replay(replay, own)
			at.must(err)
			if len(missing) > 0 || !maps.Equal(at.records(own), want) {
				t.Fatalf("%v are missing\n%v\nwanted\n%v", missing, at.records(own), want)
			}
			marks, err := at.Watermarks(partitions[1])
			at.must(err)
			if marks.Pass(worker, number+1) {
				t.Errorf("%v", marks)
			}
		}
		to.reopen()
	}
	if now := asJSON(r.status()); now != status {
		t.Errorf("%s\nwas\n%s", now, status)
	}
	if now := to.status().Totals; now.Pages != totals.Pages || now.Requests != totals.Requests {
		t.Errorf("pages that others have fetched are counted: %+v", now)
	}
	if _, lanes := to.take(); slices.Contains(targets(lanes...), "http://a.example/1") {
		t.Error("a page that was fetched is claimed again")
	}
	replay.Outcomes = []crawl.PageOutcome{done("http://c.example/9")}
	missing, err := to.Crawl.Replay(replay, own)
	if to.must(err); len(missing) != 1 {
		t.Errorf("%v are missing", missing)
	}
}

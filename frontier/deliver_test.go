package frontier

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

func anyPartition(Partition) error { return nil }

func partitionOf(t testing.TB, url string) Partition {
	t.Helper()
	u, err := urls.Trusted(url)
	if err != nil {
		t.Fatal(err)
	}
	if at := ring.PartitionOf(u.PLD()); at != int(store.PartitionOf(record.KeyOf(u).PLD)) {
		t.Fatalf("the ring has %s in partition %d, the frontier in %d", url, at, store.PartitionOf(record.KeyOf(u).PLD))
	}
	return store.PartitionOf(record.KeyOf(u).PLD)
}

// records are what a frontier knows of the URLs of its partitions; only the order within a priority is left out.
func (r *rig) records(own func(Partition) bool) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	s, err := r.Crawl.state()
	r.must(err)
	r.must(r.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.All(store.Records), nil, func(key store.Key, value []byte) (bool, error) {
			rec, err := record.Decode(value)
			if err == nil && own(store.PartitionOf(key.PLD())) {
				rec.Position.Counter = 0
				out[rec.URL] = fmt.Sprintf("%+v", rec)
			}
			return true, err
		})
	}))
	return out
}

// marks counts the marks of deliveries.
func (r *rig) marks() (n int) {
	r.t.Helper()
	s, err := r.Crawl.state()
	r.must(err)
	n, err = r.entries(s.keys.All(store.Deliveries))
	r.must(err)
	return n
}

func (r *rig) waitingURLs() (list []string) {
	r.t.Helper()
	r.must(r.Crawl.URLs().Known(func(url, state string) error {
		if state == record.Waiting.String() {
			list = append(list, url)
		}
		return nil
	}))
	slices.Sort(list)
	return list
}

// TestDeliverEqualsOneFrontier: batches of a random web, divided among frontiers that deliver to each other late, twice, and in any order,
// with kills between, leave what one frontier has that gets the same links at the same times.
func TestDeliverEqualsOneFrontier(t *testing.T) {
	fewChecks(t)
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "frontiers")
		update := rapid.SampledFrom([]string{crawl.UpdateFirst, crawl.UpdateLast, crawl.UpdateAvg, crawl.UpdateMax, crawl.UpdateSum}).Draw(rt, "update")
		edit := func(d *crawl.Definition) { d.Order.Update = update }
		one, many := newRig(t, edit), make([]*rig, n)
		defer func() { _ = one.Close() }()
		for i := range many {
			many[i] = newRig(t, edit)
			defer func() { _ = many[i].Close() }()
		}
		owner := func(p Partition) int { return int(p) % n }
		var late []func()
		for batch := range rapid.IntRange(1, 25).Draw(rt, "batches") {
			me := random.IntN(n)
			mine := func(p Partition) bool { return owner(p) == me }
			name, c := fmt.Sprintf("h.example-%d@w%d.1", batch, me), Commit{Others: func(p Partition) bool { return !mine(p) }}
			for _, url := range many[me].waitingURLs() {
				if mine(partitionOf(t, url)) && random.IntN(3) == 0 {
					c.Outcomes = append(c.Outcomes, done(url))
				}
			}
			for range random.IntN(30) {
				d := found(float64(random.IntN(64))/64, fmt.Sprintf("http://h%d.example/%d", random.IntN(12), random.IntN(6)))[0]
				d.Via, d.LinkFeatures = fmt.Sprintf("http://p%d.example/", random.IntN(3)), []byte{byte(random.IntN(5))}
				c.Discoveries = append(c.Discoveries, d)
			}
			c.Batch = name
			one.must(many[me].Crawl.Commit(c))
			one.must(one.Crawl.Commit(c))
			for to := range many {
				d := Delivery{Worker: fmt.Sprintf("w%d", me), Number: uint64(batch), Nonce: "0123", Run: 1}
				for _, l := range c.Discoveries {
					if owner(partitionOf(t, l.URL)) == to {
						d.Discoveries = append(d.Discoveries, l)
					}
				}
				if to == me || len(d.Discoveries) == 0 {
					continue
				}
				late = append(late, func() {
					for times := 1 + random.IntN(2); times > 0; times-- {
						one.must(many[to].Crawl.Deliver(d, anyPartition))
						if random.IntN(4) == 0 {
							many[to].reopen()
						}
					}
					one.must(one.Crawl.Commit(Commit{Batch: fmt.Sprintf("%s to %d", name, to), Discoveries: d.Discoveries}))
				})
			}
			random.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
			for len(late) > 0 && random.IntN(2) == 0 {
				late[0]()
				late = late[1:]
			}
		}
		for _, deliver := range late {
			deliver()
		}
		together := map[string]string{}
		for i, r := range many {
			maps.Copy(together, r.records(func(p Partition) bool { return owner(p) == i }))
		}
		if want := one.records(func(Partition) bool { return true }); !maps.Equal(together, want) {
			for url := range want {
				if together[url] != want[url] {
					rt.Errorf("%s:\n%s, one frontier has\n%s", url, together[url], want[url])
				}
			}
			rt.Errorf("%d URLs, one frontier has %d", len(together), len(want))
		}
	})
}

// manyLinks are n links to a host.
func manyLinks(host string, n int) (list []crawl.Discovery) {
	for i := range n {
		list = append(list, found(0.5, fmt.Sprintf("http://%s/%d", host, i))...)
	}
	return list
}

// TestDeliverCutOff: what an attempt has written that was killed is not written again by the next one.
func TestDeliverCutOff(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.Update = crawl.UpdateSum })
	list := slices.Concat(manyLinks("b.example", 4000), manyLinks("c.example", 4000), manyLinks("d.example", 10))
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	d := Delivery{Worker: "w", Number: 7, Nonce: "n", Discoveries: list}
	part := d
	part.Discoveries = slices.Clone(list)
	first := partsOf(list)[0].partition // as the first transaction of an attempt leaves it
	part.Discoveries = slices.DeleteFunc(part.Discoveries, func(l crawl.Discovery) bool { return partitionOf(t, l.URL) != first })
	r.must(r.Crawl.Deliver(part, anyPartition))
	r.reopen()
	r.must(r.Crawl.Deliver(d, anyPartition))
	r.must(r.Crawl.Deliver(d, anyPartition))
	s, err := r.Crawl.Status()
	r.must(err)
	if s.Totals.Known != 8010 {
		t.Errorf("%d URLs are known, not 8010", s.Totals.Known)
	}
	for url, rec := range r.records(func(Partition) bool { return true }) {
		if !strings.Contains(rec, "Count:1 ") {
			t.Fatalf("%s: %s", url, rec)
		}
	}
	if n := r.marks(); n != 4+4+1 {
		t.Errorf("%d marks", n)
	}
}

// TestDeliverStale: a partition that is another's takes nothing; one that is given away while the delivery is written answers so, and its next owner
// does not count twice what the export has.
func TestDeliverStale(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.Update = crawl.UpdateSum })
	b, c := partitionOf(t, "http://b.example/"), partitionOf(t, "http://c.example/")
	d := Delivery{Worker: "w", Number: 7, Nonce: "n", Discoveries: slices.Concat(manyLinks("b.example", 3), manyLinks("c.example", 3))}
	before := r.records(func(Partition) bool { return true })
	err := r.Crawl.Deliver(d, func(p Partition) error {
		if p == c {
			return ring.ErrStale
		}
		return nil
	})
	if !errors.Is(err, ring.ErrStale) || !maps.Equal(before, r.records(func(Partition) bool { return true })) {
		t.Errorf("%v, or something was written", err)
	}
	asked := map[Partition]int{}
	err = r.Crawl.Deliver(d, func(p Partition) error {
		if asked[p]++; p == b && asked[p] == 3 { // before, within the write, and after it
			return ring.ErrStale
		}
		return nil
	})
	if !errors.Is(err, ring.ErrStale) {
		t.Errorf("%v of a partition that was given away meanwhile", err)
	}
	next := newRig(t, func(d *crawl.Definition) { d.Order.Update = crawl.UpdateSum })
	if _, err := next.Import(b, AllCrawls, sequenceOf(taken(t, r.Frontier, b))); err != nil {
		t.Fatal(err)
	}
	next.must(next.Crawl.Deliver(d, anyPartition))
	if got, want := next.records(func(p Partition) bool { return p == b }), r.records(func(p Partition) bool { return p == b }); !maps.Equal(got, want) {
		t.Errorf("the next owner has\n%v, not\n%v", got, want)
	}
}

// TestDeliverForgetsMarks: marks of batches that deliver nothing more are deleted by some later deliveries of their worker.
func TestDeliverForgetsMarks(t *testing.T) {
	r := newRig(t, nil)
	deliver := func(worker string, number, watermark uint64) {
		t.Helper()
		r.must(r.Crawl.Deliver(Delivery{Worker: worker, Number: number, Nonce: "n", Watermark: Watermark{Below: watermark}, Discoveries: manyLinks("b.example", 2)}, anyPartition))
	}
	for _, step := range []struct {
		worker            string
		number, watermark uint64
		marks             int
	}{
		{"w", 10, 10, 1}, {"w", 12, 10, 2}, {"w", 11, 10, 3}, {"v", 11, 11, 4}, {"w", 13, 12, 3}, {"w", 13, 12, 3}, {"w", 34, 34, 2},
		{"w", 47, 99, 2}, // its own mark stays, whatever it says
		{"w", 48, 48, 3}, // most do not look
		{"w", 68, 68, 2},
	} {
		if deliver(step.worker, step.number, step.watermark); r.marks() != step.marks {
			t.Errorf("after batch %d of %s: %d marks, not %d", step.number, step.worker, r.marks(), step.marks)
		}
		at, err := r.Crawl.Watermarks(partitionOf(t, "http://b.example/"))
		r.must(err)
		if !at.Pass(step.worker, step.watermark-1) { // who makes the partition again reads the segments from there on
			t.Errorf("after batch %d of %s the partition has of its batches what %+v says, not all below %d", step.number, step.worker, at[step.worker], step.watermark)
		}
	}
	if _, err := r.Forget(testCrawl, "owner", false); err != nil {
		t.Fatal(err)
	}
}

// TestMarksOfFolders: what a new data folder of a worker says of its batches says nothing of those of the former one, whose links the other workers
// may still be taking over: their marks stay, and those without a mark are not in the partition.
func TestMarksOfFolders(t *testing.T) {
	r := newRig(t, nil)
	for _, d := range []Delivery{
		{Number: 34, Watermark: Watermark{30, 31}}, {Number: 110, Watermark: Watermark{100, 110}},
		{Number: 123, Watermark: Watermark{100, 113}}, {Number: 32, Watermark: Watermark{}}, // taken over
	} {
		d.Worker, d.Nonce, d.Discoveries = "w", "n", manyLinks("b.example", 2)
		r.must(r.Crawl.Deliver(d, anyPartition))
	}
	if !trims(123) {
		t.Fatal("the last batch of the new folder deletes no marks")
	}
	if n := r.marks(); n != 3 { // 34, 123 and 32
		t.Errorf("%d marks", n)
	}
	at, err := r.Crawl.Watermarks(partitionOf(t, "http://b.example/"))
	r.must(err)
	passed := ""
	for n := range uint64(120) {
		if at.Pass("w", n) {
			passed += fmt.Sprint(n, " ")
		}
	}
	if passed != "30 100 101 102 103 104 105 106 107 108 109 110 111 112 " {
		t.Errorf("the partition has what the batches %shave found", passed)
	}
	if w, ok := watermarkOf([]byte{0, 0, 0, 0, 0, 0, 0, 7}); !ok || w != (Watermark{0, 7}) { // of an earlier version
		t.Errorf("%+v", w)
	}
}

// TestDeliverTooEarly: what cannot be taken yet is refused with an error that says so.
func TestDeliverTooEarly(t *testing.T) {
	r := newRig(t, nil)
	d := Delivery{Worker: "w", Number: 1, Run: 2, Discoveries: manyLinks("b.example", 1)}
	if err := r.Crawl.Deliver(d, anyPartition); !errors.Is(err, ErrNotBegun) {
		t.Errorf("of a later run: %v", err)
	}
	if err := r.Frontier.Crawl("other").Deliver(d, anyPartition); !errors.Is(err, ErrNoCrawl) {
		t.Errorf("of an unknown crawl: %v", err)
	}
	d.Run = 1
	p := partitionOf(t, "http://b.example/")
	_, err := r.Import(p, AllCrawls, func(func(PartitionEntry, error) bool) {
		if err := r.Crawl.Deliver(d, anyPartition); !errors.Is(err, ErrMoving) {
			t.Errorf("while it is imported: %v", err)
		}
	})
	r.must(err)
	r.must(r.Crawl.Deliver(d, anyPartition))
}

// TestWatermark: no batch that has a claim may deliver less than what is said of it; and before the first claim, batches of the folder before may
// deliver what they have.
func TestWatermark(t *testing.T) {
	r := newRig(t, nil)
	r.must(r.Crawl.URLs().Offer("seeds", found(1, "http://a.example/")))
	r.reopen()
	if mark, err := r.Crawl.Watermark(); err != nil || mark != (Watermark{}) {
		t.Errorf("%+v before the first claim, %v", mark, err)
	}
	first := r.one()
	n, ok := Number(first.ID)
	watermark, err := r.Crawl.Watermark()
	r.must(err)
	if !ok || watermark != (Watermark{n, n}) {
		t.Errorf("%+v with claim %s", watermark, first.ID)
	}
	r.reopen()
	for name, want := range map[string]uint64{"b.example-17@w-1.4": 17, "b.example-17": 17, "x": 0, "ends-3@w-abc": 3, "a-": 0} {
		if n, ok := Number(name); n != want || ok != (want > 0) {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
	if _, err := r.Abandon("owner"); err != nil {
		t.Fatal(err)
	}
	if after, err := r.Crawl.Watermark(); err != nil || after.First != n || after.Below <= n {
		t.Errorf("%+v once claim %s is gone, %v", after, first.ID, err)
	}
}

// TestTrims: one of sixteen batches deletes marks, also if their numbers have a period.
func TestTrims(t *testing.T) {
	for _, period := range []uint64{1, 2, 16, 48, 64, 320} {
		n := 0
		for i := range uint64(1600) {
			if trims(7 + i*period) {
				n++
			}
		}
		if n < 80 || n > 120 {
			t.Errorf("of 1600 batches whose numbers differ by %d, %d trim", period, n)
		}
	}
}

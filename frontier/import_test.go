package frontier

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// taken lists what a frontier exports of a partition.
func taken(t testing.TB, f *Frontier, p Partition) (list []PartitionEntry) {
	t.Helper()
	return takenOf(t, f, p, AllCrawls)
}

func takenOf(t testing.TB, f *Frontier, p Partition, of Choice) (list []PartitionEntry) {
	t.Helper()
	err := f.Export(func(e *Export) error {
		return e.Of(of).Partition(p, func([]*PartitionCrawl) error { return nil }, func(e PartitionEntry) error {
			e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
			list = append(list, e)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func sequenceOf(list []PartitionEntry) iter.Seq2[PartitionEntry, error] {
	return func(yield func(PartitionEntry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// entryLines are the entries as text, archives by their place; those of hosts are left out.
func entryLines(t testing.TB, list []PartitionEntry) (lines []string) {
	t.Helper()
	for _, e := range list {
		if e.Crawl == nil {
			continue
		}
		line := fmt.Sprintf("%s %c %x", e.Crawl.Name, e.Kind, e.Key)
		switch store.Kind(e.Kind) {
		case store.Digests:
			number, digest := record.SplitDigest(string(e.Key[8:]))
			line = fmt.Sprintf("%s D %x %s %v", e.Crawl.Name, e.Key[:8], digest, e.Crawl.Archives[number])
		case store.Records:
			r, err := record.Decode(e.Value)
			if err != nil {
				t.Fatal(err)
			}
			if r.Visit.Digest != "" {
				line += fmt.Sprint(" ", e.Crawl.Archives[r.Archive])
				r.Archive = 0
			}
			e.Value = r.Encode()
		}
		lines = append(lines, fmt.Sprintf("%s = %x", line, e.Value))
	}
	slices.Sort(lines) // the numbers of archives decide on the order of digests
	return lines
}

// partitionsOf are those of which a frontier has entries.
func partitionsOf(t testing.TB, f *Frontier) (list []Partition) {
	for p := range Partition(Partitions) {
		if len(taken(t, f, p)) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// idle gives back whatever is in progress.
func (d *driver) idle() {
	for _, c := range d.crawls[testCrawl].claims.Where(func(*Claim) bool { return true }) {
		if c.Batch != "" {
			d.must(d.Batch(c.Batch).GiveBack(d.clock.Now()))
		}
	}
	d.clock.pass(time.Hour)
	d.must(d.Withdraw())
	d.open, d.asking, d.gone = nil, nil, nil
	if n := d.crawls[testCrawl].claims.Len(); n > 0 {
		d.t.Fatalf("%d claims are in progress", n)
	}
}

// mover is a driver whose crawl has an ID that depends on how many came before, and some archives. Its two crawls are bound, but for one of a name.
func mover(t *testing.T, seed uint64, before int, spread string, places ...Place) *driver {
	r := newDriver(t, seed)
	was := definitionOf(t, r)
	r.must(r.Close())
	r.dir = t.TempDir()
	r.rig.open()
	for i := range before {
		_, err := r.Frontier.Begin(fmt.Sprint("before", i), "owner", 0, definition(nil), nil, false)
		r.must(err)
	}
	for _, name := range []string{testCrawl, "also"} {
		was.Name, was.Spread = name, name == spread
		_, err := r.Frontier.Begin(name, "owner", 0, was, seedsOf(was), false)
		r.must(err)
	}
	for _, at := range places {
		_, _, err := r.UseArchive(at)
		r.must(err)
	}
	r.must(r.Frontier.Crawl("also").URLs().Offer("seeds", r.urls()))
	return r
}

// originals are digests of some pages.
func (d *driver) originals() map[string]crawl.Visit {
	list := map[string]crawl.Visit{}
	for _, u := range d.urls() {
		list["sha1:"+u.URL] = crawl.Visit{URL: u.URL, Date: d.clock.Now().Truncate(time.Second), Digest: "sha1:" + u.URL}
	}
	return list
}

// fewChecks has rapid make few checks in a test, unless it is asked for another number: each opens frontiers.
func fewChecks(t *testing.T) {
	t.Helper()
	checks := "12"
	if testing.Short() {
		checks = "4"
	}
	was := flag.Lookup("rapid.checks").Value.String()
	if was != "100" {
		return
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", was) })
}

// TestImport: partitions move between two frontiers, both ways, whatever IDs and numbers of archives each of them has given: what the one
// has exported of a partition, the other exports as well, and nothing else of it. Memory agrees with the disk.
func TestImport(t *testing.T) {
	fewChecks(t)
	a, b := Place{Where: "/a"}, Place{Where: "s3://b", Prefix: "p"}
	rapid.Check(t, func(rt *rapid.T) {
		one := mover(t, rapid.Uint64().Draw(rt, "seed of one"), rapid.IntRange(0, 3).Draw(rt, "crawls before in one"), "", a, b)
		two := mover(t, rapid.Uint64().Draw(rt, "seed of two"), rapid.IntRange(0, 3).Draw(rt, "crawls before in two"), "", b)
		defer func() { _, _ = one.Close(), two.Close() }()
		for i, d := range []*driver{one, two} {
			for range rapid.IntRange(0, 80).Draw(rt, "steps") {
				d.step()
			}
			d.must(d.Commit(Commit{Batch: "originals", Archive: i ^ 1, Originals: map[string]crawl.Visit{}}))
			d.must(d.Commit(Commit{Batch: "more originals", Archive: 0, Originals: d.originals()}))
			d.idle()
		}
		of := map[*driver][]Partition{one: partitionsOf(t, one.Frontier), two: partitionsOf(t, two.Frontier)}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "which"), 2))
		moved := map[Partition]bool{}
		for _, from := range []*driver{one, two} {
			to := two
			if from == two {
				to = one
			}
			for _, p := range of[from] {
				if moved[p] || random.IntN(2) == 0 {
					continue
				}
				moved[p] = true
				entries := taken(t, from.Frontier, p)
				in, err := to.Import(p, AllCrawls, sequenceOf(entries))
				to.must(err)
				if in.Entries != len(entries) {
					t.Fatalf("%d entries of %d", in.Entries, len(entries))
				}
				if want, got := entryLines(t, entries), entryLines(t, taken(t, to.Frontier, p)); !slices.Equal(want, got) {
					t.Fatalf("partition %d is exported as\n%q\nby the one that has imported\n%q", p, got, want)
				}
				if random.IntN(2) == 0 {
					from.must(from.Drop(p, AllCrawls))
					if left := entryLines(t, taken(t, from.Frontier, p)); len(left) > 0 {
						t.Fatalf("dropped, partition %d has %q", p, left)
					}
				}
			}
		}
		for _, d := range []*driver{one, two} {
			sound(t, d)
			before := d.both()
			d.reopen()
			if after := d.both(); after != before {
				t.Fatalf("memory said\n%s\nthe disk says\n%s", before, after)
			}
			sound(t, d)
			for range 20 { // and they continue
				d.step()
			}
			sound(t, d)
		}
	})
}

// boundLines are the entries of crawls that are bound, as text.
func boundLines(t testing.TB, f *Frontier, p Partition) []string {
	t.Helper()
	return entryLines(t, slices.DeleteFunc(taken(t, f, p), func(e PartitionEntry) bool { return e.Crawl != nil && e.Crawl.Spread }))
}

// TestImportSpread: of a partition, what spread crawls have moves alone. Bound crawls of the same folders, also such that have claims in it,
// keep what they have, on disk and in memory, and continue; an object that holds them, too, as one of a checkpoint does, brings in nothing of them.
func TestImportSpread(t *testing.T) {
	fewChecks(t)
	at := Place{Where: "/a"}
	rapid.Check(t, func(rt *rapid.T) {
		spread := rapid.SampledFrom([]string{testCrawl, "also"}).Draw(rt, "spread")
		one := mover(t, rapid.Uint64().Draw(rt, "seed of one"), 1, spread, at)
		two := mover(t, rapid.Uint64().Draw(rt, "seed of two"), 0, spread, at)
		defer func() { _, _ = one.Close(), two.Close() }()
		for _, d := range []*driver{one, two} {
			for range rapid.IntRange(0, 80).Draw(rt, "steps") {
				d.step()
			}
			if spread == testCrawl {
				d.idle()
			}
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "which"), 2))
		for _, p := range partitionsOf(t, one.Frontier) {
			if random.IntN(2) == 0 {
				continue
			}
			boundOne, boundTwo := boundLines(t, one.Frontier, p), boundLines(t, two.Frontier, p)
			of := []Choice{SpreadCrawls, AllCrawls}[random.IntN(2)]
			if random.IntN(4) == 0 { // an attempt before is cut off
				_, err := two.Import(p, SpreadCrawls, func(yield func(PartitionEntry, error) bool) { yield(PartitionEntry{}, ErrClosed) })
				if !errors.Is(err, ErrClosed) {
					t.Fatal(err)
				}
				if random.IntN(2) == 0 {
					two.reopen()
				}
				if left := entryLines(t, takenOf(t, two.Frontier, p, SpreadCrawls)); len(left) > 0 {
					t.Fatalf("cut off, partition %d has %q", p, left)
				}
			}
			_, err := two.Import(p, SpreadCrawls, sequenceOf(takenOf(t, one.Frontier, p, of)))
			two.must(err)
			want := entryLines(t, takenOf(t, one.Frontier, p, SpreadCrawls))
			one.must(one.Drop(p, SpreadCrawls))
			if got := entryLines(t, takenOf(t, two.Frontier, p, SpreadCrawls)); !slices.Equal(want, got) {
				t.Fatalf("partition %d is exported as\n%q\nby who has imported\n%q", p, got, want)
			}
			if left := entryLines(t, takenOf(t, one.Frontier, p, SpreadCrawls)); len(left) > 0 {
				t.Fatalf("dropped, partition %d has %q", p, left)
			}
			if !slices.Equal(boundLines(t, one.Frontier, p), boundOne) || !slices.Equal(boundLines(t, two.Frontier, p), boundTwo) {
				t.Fatalf("the bound crawl has something else in partition %d", p)
			}
		}
		for _, d := range []*driver{one, two} {
			sound(t, d)
			before := d.both()
			d.reopen()
			if after := d.both(); after != before {
				t.Fatalf("memory said\n%s\nthe disk says\n%s", before, after)
			}
			for range 20 {
				d.step()
			}
			if sound(t, d); spread == testCrawl {
				d.countsRecords()
			}
		}
	})
}

// TestMovingSpread: while what spread crawls have of a partition is moved, bound crawls queue and claim in it.
func TestMovingSpread(t *testing.T) {
	r, p := filled(t)
	spread := definition(func(d *crawl.Definition) { d.Name, d.Spread = "spread", true })
	_, err := r.Frontier.Begin("spread", "owner", 0, spread, seedsOf(spread), false)
	r.must(err)
	urls := r.Frontier.Crawl("spread").URLs()
	r.must(urls.Offer("s", found(0.5, "http://a.example/1")))
	claims := r.next().Claims
	if len(claims) == 0 {
		t.Fatal("nothing is claimed")
	}
	_, err = r.Import(p, SpreadCrawls, func(yield func(PartitionEntry, error) bool) {
		if err := urls.Offer("t", found(0.5, "http://a.example/2")); !errors.Is(err, ErrMoving) {
			t.Errorf("the spread crawl queues: %v", err)
		}
		r.submit("x", found(0.5, "http://a.example/10")...)
	})
	r.must(err)
	r.must(urls.Offer("t", found(0.5, "http://a.example/2")))
	if s, err := r.Frontier.Crawl("spread").Status(); err != nil || s.Waiting != 1 {
		t.Errorf("%d URLs of the spread crawl wait, %v", s.Waiting, err)
	}
	entries := takenOf(t, r.Frontier, p, SpreadCrawls)
	to := &rig{t: t, table: testTable, dir: t.TempDir(), clock: r.clock}
	to.open()
	t.Cleanup(func() { _ = to.Close() })
	_, err = to.Frontier.Begin("spread", "owner", 0, definition(func(d *crawl.Definition) { d.Name = "spread" }), nil, false)
	r.must(err)
	bound := to.Frontier.Crawl("spread").URLs()
	r.must(bound.Offer("t", found(0.5, "http://a.example/7")))
	in, err := to.Import(p, SpreadCrawls, sequenceOf(entries))
	if err != nil || in.Entries != len(entries) || !slices.Equal(in.Bound, []string{"spread"}) {
		t.Errorf("beside a bound crawl of the name: %+v of %d entries, %v", in, len(entries), err)
	}
	var has []string
	r.must(bound.Known(func(url, _ string) error { has = append(has, url); return nil }))
	if !slices.Equal(has, []string{"http://a.example/7"}) {
		t.Errorf("the bound crawl has %q", has)
	}
}

// TestCheckBound: an import may leave out what a spread crawl has whose name a bound one has here, if that is the later of the two.
func TestCheckBound(t *testing.T) {
	r := newRig(t, nil)
	list := func(run uint32) []PartitionCrawl {
		return []PartitionCrawl{{Name: "unknown", Run: 9, Spread: true}, {Name: "c", Run: run, Spread: true}}
	}
	if err := r.CheckBound(list(7)); err != nil {
		t.Errorf("the bound one is in progress: %v", err)
	}
	r.must(r.Frontier.Crawl("c").End("owner"))
	if err := r.CheckBound(list(1)); err != nil {
		t.Errorf("the bound one has had that run: %v", err)
	}
	if err := r.CheckBound(list(2)); !errors.Is(err, ErrBound) {
		t.Errorf("the spread one has had a later run: %v", err)
	}
	if err := r.CheckBound([]PartitionCrawl{{Name: "c", Run: 2}}); err != nil {
		t.Errorf("the other is bound, too: %v", err)
	}
}

// both is what both crawls say of themselves, but for times that have passed, which an opened frontier does not know.
func (d *driver) both() string {
	other, err := d.Frontier.Crawl("also").Status()
	d.must(err)
	list := []Status{d.status(), other}
	for _, s := range list {
		for i := range s.Slow {
			if !s.Slow[i].Next.After(d.clock.Now()) {
				s.Slow[i].Next = time.Time{}
			}
		}
		slices.SortFunc(s.Slow, func(a, b Queue) int { return strings.Compare(a.PLD, b.PLD) })
	}
	return asJSON(list)
}

// filled is a rig with URLs of a partition that wait, were fetched, are delayed; and their partition.
func filled(t *testing.T) (*rig, Partition) {
	r := newRig(t, nil)
	r.submit("s", found(0.5, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://b.example/1")...)
	batch, lanes := r.take()
	r.finish(batch, lanes)
	r.submit("t", found(0.5, "http://a.example/4", "http://a.example/5", "http://b.example/2")...)
	return r, store.PartitionOf(record.KeyOf(trusted(t, "http://a.example/")).PLD)
}

func keysOf(t *testing.T, dir string, p Partition) (n int, marked bool) {
	t.Helper()
	for key := range contents(t, dir) {
		switch {
		case slices.Contains(store.OfExports(), store.Kind(key[0])) && p.Has([]byte(key)[keyHead:]):
			n++
		case store.Kind(key[0]) == store.Moves:
			marked = true
		}
	}
	return n, marked
}

// TestImportCutOff: an import that is cut off leaves nothing of the partition, neither in memory nor for who opens the folder; started
// again, it brings in all.
func TestImportCutOff(t *testing.T) {
	from, p := filled(t)
	entries := taken(t, from.Frontier, p)
	errCut := errors.New("the store is away")
	for cut := range entries {
		to := newRig(t, nil)
		to.submit("s", found(0.5, "http://a.example/9", "http://b.example/9")...)
		_, err := to.Import(p, AllCrawls, func(yield func(PartitionEntry, error) bool) {
			for _, e := range entries[:cut] {
				if !yield(e, nil) {
					return
				}
			}
			yield(PartitionEntry{}, errCut)
		})
		if !errors.Is(err, errCut) {
			t.Fatalf("%v", err)
		}
		if s := to.status(); s.Waiting != 1 || s.Queues != 1 {
			t.Fatalf("cut off after %d entries, %d URLs wait in %d queues", cut, s.Waiting, s.Queues)
		}
		if err := to.URLs().Offer("x", found(0.5, "http://a.example/10")); !errors.Is(err, ErrMoving) {
			t.Fatalf("a URL of a partition that is moved is queued: %v", err)
		}
		if cut%2 == 0 {
			to.must(to.Close())
			to.open()
			if s := to.status(); s.Waiting != 1 {
				t.Fatalf("cut off after %d entries and opened again, %d URLs wait", cut, s.Waiting)
			}
			to.must(to.Close())
			if n, marked := keysOf(t, to.dir, p); n > 0 || marked {
				t.Fatalf("cut off after %d entries and opened again, it has %d entries, marked: %v", cut, n, marked)
			}
			to.open()
		}
		_, err = to.Import(p, AllCrawls, sequenceOf(entries))
		to.must(err)
		if want, got := entryLines(t, entries), entryLines(t, taken(t, to.Frontier, p)); !slices.Equal(want, got) {
			t.Fatalf("%q\nis exported, imported were\n%q", got, want)
		}
		if s := to.status(); s.Waiting != 3 {
			t.Fatalf("%d URLs wait", s.Waiting)
		}
		to.must(to.Close())
	}
}

// TestImportBusy: a partition of which claims are in progress is neither imported nor dropped.
func TestImportBusy(t *testing.T) {
	r, p := filled(t)
	entries := taken(t, r.Frontier, p)
	claims := r.next().Claims
	if _, err := r.Import(p, AllCrawls, sequenceOf(entries)); !errors.Is(err, ErrBusy) || len(claims) == 0 {
		t.Errorf("%d claims; import: %v", len(claims), err)
	}
	if err := r.Drop(p, AllCrawls); !errors.Is(err, ErrBusy) {
		t.Errorf("drop: %v", err)
	}
	if list := r.Crawl.f.moves.now; len(list) > 0 {
		t.Errorf("%v are moving", list)
	}
}

// TestImportMakesCrawlsKnown: a crawl that the frontier has not met is made known; its run, which others have begun, is begun by its
// number, and once.
func TestImportMakesCrawlsKnown(t *testing.T) {
	from, p := filled(t)
	r := &rig{t: t, table: testTable, dir: t.TempDir(), clock: from.clock}
	r.open()
	t.Cleanup(func() { _ = r.Close() })
	_, err := r.Import(p, AllCrawls, sequenceOf(taken(t, from.Frontier, p)))
	r.must(err)
	for range 2 {
		run, err := r.Begin(testCrawl, "owner", 1, definition(nil), nil, false)
		if err != nil || run != 1 {
			t.Fatalf("run %d, %v", run, err)
		}
	}
	if _, lanes := r.take(); len(targets(lanes...)) != 2 {
		t.Errorf("%q are claimed", targets(lanes...))
	}
	if _, err := r.Begin(testCrawl, "another", 1, definition(nil), nil, false); !errors.Is(err, ErrBusy) {
		t.Errorf("another owner: %v", err)
	}
}

// TestImportRests: when a host may be asked again is taken over, unless the frontier knows of a later time.
func TestImportRests(t *testing.T) {
	from, p := filled(t)
	to := newRig(t, nil)
	at := trusted(t, "http://a.example/")
	pld := record.KeyOf(at).PLD
	for _, c := range []struct{ from, to, want time.Duration }{{time.Minute, 0, time.Minute}, {time.Minute, time.Hour, time.Hour}, {2 * time.Hour, 0, 2 * time.Hour}} {
		from.must(from.Lane("").Rest(at, from.clock.Now().Add(c.from)))
		to.must(to.Lane("").Rest(at, to.clock.Now().Add(c.to)))
		_, err := to.Import(p, AllCrawls, sequenceOf(taken(t, from.Frontier, p)))
		to.must(err)
		if got := to.Crawl.f.hosts.next[pld]; got.Before(to.clock.Now().Add(c.want)) {
			t.Errorf("%+v: it rests until %s, now it is %s", c, got, to.clock.Now())
		}
	}
}

// TestImportRefuses what is not of the partition.
func TestImportRefuses(t *testing.T) {
	from, p := filled(t)
	good := taken(t, from.Frontier, p)
	of := good[len(good)-1].Crawl
	key := func(first byte) []byte { return append([]byte{first}, make([]byte, 15)...) }
	raw, err := codec.Marshal(record.Host{})
	from.must(err)
	for name, e := range map[string]PartitionEntry{
		"another partition": {of, byte(store.Records), key(byte(p>>2) ^ 0x80), good[0].Value},
		"a claim":           {of, byte(store.Claims), good[0].Key, nil},
		"of the worker":     {of, byte(store.Plans), good[0].Key, nil},
		"no kind":           {of, 0, good[0].Key, nil},
		"a short key":       {of, byte(store.Records), good[0].Key[:4], nil},
		"no record":         {of, byte(store.Records), append(slices.Clone(good[0].Key[:8]), 1, 2, 3, 4, 5, 6, 7, 8), []byte("x")},
		"no position":       {of, byte(store.Entries), good[0].Key[:8], nil},
		"a host of a crawl": {of, byte(store.Hosts), good[0].Key[:8], raw},
		"no host":           {nil, byte(store.Hosts), good[0].Key[:8], []byte("x")},
		"of no crawl":       {nil, byte(store.Records), good[0].Key, good[0].Value},
	} {
		to := newRig(t, nil)
		if _, err := to.Import(p, AllCrawls, sequenceOf(append(slices.Clone(good), e))); !errors.Is(err, ErrEntry) {
			t.Errorf("%s: %v", name, err)
		}
		to.must(to.Close())
	}
}

// TestMoveWhileRead: a crawl that sleeps and is read while a partition moves is read again: else the partition would be missing in memory,
// or still be there.
func TestMoveWhileRead(t *testing.T) {
	r, p := filled(t)
	r.must(r.End("owner"))
	r.reopen()
	reads := 0
	r.Crawl.f.onLoad = func(string) {
		if reads++; reads == 1 {
			r.must(r.Drop(p, AllCrawls))
		}
	}
	s := r.status()
	if reads != 2 || s.Waiting != 1 {
		t.Errorf("read %d times; %d URLs wait", reads, s.Waiting)
	}
}

func BenchmarkImport(b *testing.B) {
	// one PLD has all URLs: a partition as large as it gets
	const urls = 100_000
	from := newRig(b, nil)
	var list []crawl.Discovery
	for i := range urls {
		list = append(list, crawl.Discovery{URL: fmt.Sprintf("http://a.example/some/folder/page-%d.html", i), Path: "SL", Via: "http://a.example/some/folder/", Score: float64(i%1000) / 1000})
	}
	for part := range slices.Chunk(list, 5000) {
		from.submit(part[0].URL, part...)
	}
	p := store.PartitionOf(record.KeyOf(trusted(b, "http://a.example/")).PLD)
	b.Run("export", func(b *testing.B) {
		for b.Loop() {
			n := 0
			from.must(from.Frontier.Export(func(e *Export) error {
				return e.Partition(p, func([]*PartitionCrawl) error { return nil }, func(e PartitionEntry) error {
					n += len(e.Key) + len(e.Value)
					return nil
				})
			}))
			b.ReportMetric(float64(n)/urls, "B/URL")
		}
		b.ReportMetric(float64(urls*b.N)/b.Elapsed().Seconds(), "URLs/s")
	})
	entries := taken(b, from.Frontier, p)
	to := newRig(b, nil)
	b.Run("import", func(b *testing.B) {
		for b.Loop() {
			_, err := to.Import(p, AllCrawls, sequenceOf(entries))
			to.must(err)
		}
		b.ReportMetric(float64(urls*b.N)/b.Elapsed().Seconds(), "URLs/s")
	})
}

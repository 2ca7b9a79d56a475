package frontier

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// exported lists the entries of all partitions, each as crawl, kind, key and value. what, if not nil, sees each.
func exported(t *testing.T, f *Frontier, what func(Partition, PartitionEntry)) map[string]string {
	t.Helper()
	all := map[string]string{}
	for p := range Partition(Partitions) {
		last := ""
		for _, e := range taken(t, f, p) {
			name := ""
			if e.Crawl != nil {
				name = e.Crawl.Name
			}
			at := fmt.Sprintf("%s %c %x", name, e.Kind, e.Key)
			if _, twice := all[at]; twice {
				t.Errorf("%s is in two partitions, or twice in %d", at, p)
			}
			if at <= last {
				t.Errorf("partition %d has %s behind %s", p, at, last)
			}
			last = at
			if all[at] = string(e.Value); what != nil {
				what(p, e)
			}
		}
	}
	return all
}

// TestExport: each entry that belongs to a PLD is in the partition of this PLD, whatever its kind, and all of them are in some.
func TestExport(t *testing.T) {
	r := formerRig(t)
	r.must(r.Lane("").Rest(trusted(t, "http://rests.example/"), r.clock.Now().Add(1e12)))
	r.must(r.Crawl.Deliver(Delivery{Worker: "w", Number: 1, Discoveries: found(0.5, "http://delivered.example/")}, anyPartition))
	want, kinds := map[string]string{}, map[store.Kind]bool{}
	names := map[store.Keys]string{0: ""}
	for name, s := range r.crawls {
		names[s.keys] = name
	}
	r.must(r.store.View(func(txn store.Reader) error {
		return txn.Scan(nil, nil, func(key store.Key, value []byte) (bool, error) {
			if kind := store.Kind(key[0]); slices.Contains(store.OfExports(), kind) {
				kinds[kind] = true
				id := store.Keys(key[1])<<8 | store.Keys(key[2])
				want[fmt.Sprintf("%s %c %x", names[id], kind, []byte(key[keyHead:]))] = string(value)
			}
			return true, nil
		})
	}))
	if len(kinds) != len(store.OfExports()) {
		t.Errorf("of %d kinds of partitions there are entries of %d", len(store.OfExports()), len(kinds))
	}
	got := exported(t, r.Frontier, func(p Partition, e PartitionEntry) {
		pld := pldOf(t, e)
		if pld != 0 && store.PartitionOf(pld) != p {
			t.Errorf("partition %d has %c %x of partition %d", p, e.Kind, e.Key, store.PartitionOf(pld))
		}
		if e.Crawl != nil && e.Crawl.Name == testCrawl && (e.Crawl.Run != 1 || len(e.Crawl.Archives) != 2) {
			t.Errorf("%+v", e.Crawl)
		}
	})
	if !maps.Equal(got, want) {
		t.Errorf("the partitions have %d entries, the frontier has %d", len(got), len(want))
	}
}

// pldOf is the PLD of an entry, by what it holds; 0 if that does not say.
func pldOf(t *testing.T, e PartitionEntry) uint64 {
	t.Helper()
	of := func(url string) uint64 { return record.KeyOf(trusted(t, url)).PLD }
	load := func(into any) {
		if err := codec.Unmarshal(e.Value, into); err != nil {
			t.Fatal(err)
		}
	}
	switch store.Kind(e.Kind) {
	case store.Records:
		r, err := record.Decode(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return of(r.URL)
	case store.Queues:
		var q record.Queue
		load(&q)
		return of("http://" + q.Name + "/")
	case store.Digests:
		var v crawl.Visit
		load(&v)
		return of(v.URL)
	case store.Prints:
		return of(string(bytes.TrimPrefix(e.Value, []byte("prints of "))))
	}
	return 0
}

// TestExportNamesCrawls: what two frontiers export of a crawl is the same, whatever ID each has given it.
func TestExportNamesCrawls(t *testing.T) {
	fill := func(others int) map[string]string {
		r := newRig(t, nil)
		for i := range others { // the crawl of the rig has the ID 1: another takes its place
			_, err := r.Begin(fmt.Sprint("other", i), "owner", 0, definition(nil), nil, false)
			r.must(err)
		}
		_, err := r.Begin("of both", "owner", 0, definition(nil), nil, false)
		r.must(err)
		r.must(r.Frontier.Crawl("of both").URLs().Offer("seeds", found(0.5, "http://a.example/", "http://b.example/b", "http://c.example/c")))
		return exported(t, r.Frontier, nil)
	}
	one, two := fill(0), fill(3)
	if len(one) != 3*3 || !maps.Equal(one, two) {
		t.Errorf("%d entries: %v\n%d entries: %v", len(one), one, len(two), two)
	}
}

// unclaimed lists the URLs that the frontier knows, as they are without its claims.
func (r *rig) unclaimed() []string {
	list, _ := r.said()
	for i := range list {
		list[i] = strings.Replace(list[i], " claimed ", " waiting ", 1)
	}
	return list
}

// successor is an empty frontier with the same clock.
func (r *rig) successor() *rig {
	r.t.Helper()
	next := &rig{t: r.t, dir: r.t.TempDir(), clock: r.clock}
	next.open()
	r.t.Cleanup(func() { _ = next.Close() })
	return next
}

// knows checks which URLs the frontier knows.
func (r *rig) knows(list []string) {
	r.t.Helper()
	if got, _ := r.said(); !slices.Equal(got, list) || len(got) == 0 {
		r.t.Errorf("%d URLs are known as\n%s\nwant %d:\n%s", len(got), strings.Join(got, "\n"), len(list), strings.Join(list, "\n"))
	}
}

// TestExportIsEnough: a frontier that imports all partitions of a crawl knows of its URLs what the former one knew, under another ID.
func TestExportIsEnough(t *testing.T) {
	was := formerRig(t)
	list, r := was.unclaimed(), was.successor()
	for _, name := range []string{"another", "older", testCrawl} {
		_, err := r.Begin(name, "owner", 0, was.crawls[testCrawl].Definition, nil, false)
		r.must(err)
	}
	for p := range Partition(Partitions) {
		_, err := r.Import(p, AllCrawls, sequenceOf(taken(t, was.Frontier, p)))
		r.must(err)
	}
	for range 2 {
		r.knows(list)
		a, b := was.status(), r.status()
		if a.Waiting+a.Claimed != b.Waiting || a.Delayed != b.Delayed || b.Claimed != 0 || a.Queues != b.Queues {
			t.Errorf("%+v\nwas %+v", b, a)
		}
		r.reopen()
	}
}

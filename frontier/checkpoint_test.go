package frontier

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// checkpointed is a frontier made of what a checkpoint of another has, whose crawls have got other IDs.
func checkpointed(t *testing.T, was *Frontier, into *Frontier) {
	t.Helper()
	var crawls []PartitionEntry
	parts := map[Partition][]PartitionEntry{}
	err := was.Checkpoint(func(e *Export, _ Generations) error {
		none := func([]*PartitionCrawl) error { return nil }
		take := func(into *[]PartitionEntry) func(PartitionEntry) error {
			return func(e PartitionEntry) error {
				e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
				*into = append(*into, e)
				return nil
			}
		}
		if err := e.Crawls(none, take(&crawls)); err != nil {
			return err
		}
		for p := range Partition(Partitions) {
			var list []PartitionEntry
			if err := e.Partition(p, none, take(&list)); err != nil {
				return err
			}
			parts[p] = list
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := into.ImportCrawls(sequenceOf(crawls)); err != nil {
		t.Fatal(err)
	}
	for p, list := range parts {
		if _, err := into.Import(p, AllCrawls, sequenceOf(list)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckpointIsWhole: a new folder that gets all of a checkpoint has every entry of the lost one, but for claims and releases, and the
// crawl continues.
func TestCheckpointIsWhole(t *testing.T) {
	was := formerRig(t)
	list, r := was.unclaimed(), was.successor()
	checkpointed(t, was.Frontier, r.Frontier)
	r.round, r.batch = 200, 200
	for range 2 {
		r.knows(list)
		a, b := was.status(), r.status()
		a.Waiting, a.Claimed, a.Lanes, a.Asking, a.Resting, a.Slow, a.Oldest = a.Waiting+a.Claimed, 0, 0, 0, 0, nil, b.Oldest
		b.Resting, b.Slow = 0, nil
		if asJSON(a) != asJSON(b) {
			t.Errorf("\n%s\nwas\n%s", asJSON(b), asJSON(a))
		}
		r.reopen()
	}
	names := func(r *rig) map[store.Keys]string {
		m := map[store.Keys]string{}
		for name, s := range r.crawls {
			m[s.keys] = name
		}
		return m
	}
	of := func(r *rig) map[string]string {
		ids := names(r)
		r.must(r.Close())
		all := map[string]string{}
		for key, value := range contents(t, r.dir) {
			kind := store.Kind(key[0])
			switch {
			case !slices.Contains(ofNoPartition(), kind) && !slices.Contains(store.OfExports(), kind), kind == store.Hosts:
				continue
			case kind == store.Crawls:
				var rec crawlRecord
				r.must(codec.Unmarshal([]byte(value), &rec))
				rec.ID = 0
				value = asJSON(rec)
			default:
				id := store.Keys(key[1])<<8 | store.Keys(key[2])
				key = string(kind) + ids[id] + " " + key[keyHead:]
			}
			all[key] = value
		}
		return all
	}
	want, got := of(was), of(r)
	if !maps.Equal(want, got) || len(want) == 0 {
		for key := range want {
			if got[key] != want[key] {
				t.Errorf("%q is %q, was %q", key, got[key], want[key])
			}
		}
		t.Errorf("%d entries, was %d", len(got), len(want))
	}
	r.open()
	if _, lanes := r.take(); len(lanes) == 0 {
		t.Error("nothing is claimed")
	}
}

// TestCheckpointChanges: a checkpoint says which partitions have changed since a former one.
func TestCheckpointChanges(t *testing.T) {
	r, p := filled(t)
	other := store.PartitionOf(record.KeyOf(trusted(t, "http://b.example/")).PLD)
	generations := []uint64{0}
	changed := func() (since [][]Partition) {
		r.must(r.Checkpoint(func(_ *Export, of Generations) error {
			for _, g := range generations {
				var list []Partition
				for _, p := range []Partition{p, other} {
					if of.Changed(p, g) {
						list = append(list, p)
					}
				}
				since = append(since, list)
			}
			generations = append(generations, of.Present)
			return nil
		}))
		return since
	}
	changed()
	if got := changed(); len(got[1]) != 0 {
		t.Errorf("nothing was written; changed: %v", got)
	}
	r.submit("more", found(0.5, "http://b.example/99")...)
	r.reopen()
	if got := changed(); !slices.Equal(got[1], []Partition{other}) || !slices.Equal(got[2], []Partition{other}) {
		t.Errorf("of %d and %d one was written; changed: %v", p, other, got)
	}
	if got := changed(); len(got[3]) != 0 {
		t.Errorf("nothing was written; changed: %v", got)
	}
}

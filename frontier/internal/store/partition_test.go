package store

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// partitionKeys makes a key of each kind of partitions that belongs to a PLD.
func partitionKeys(k Keys, pld uint64) map[Kind]Key {
	u := record.Key{PLD: pld, URL: rand.Uint64()}
	claim := func(kind Kind) Key { return append(k.numbered(kind, pld), "x-1"...) } // its PLD is given by its name
	return map[Kind]Key{
		Records: k.Record(u), Entries: k.Entry(pld, queue.Position{Priority: 7, Counter: rand.Uint64()}), Queues: k.Queue(pld),
		Claims: claim(Claims), Releases: claim(Releases), Delays: k.Delay(rand.Int64(), u), Digests: k.Digest(pld, 1, "sha1:A"),
		Sites: k.Site(pld, "www.a.example"), Prints: k.Print(u), Hosts: Host(pld), Deliveries: k.Delivered(PartitionOf(pld), "w", rand.Uint64(), "n", 0),
	}
}

// TestPartitions: a partition is one range under each kind, with all keys of its PLDs and no others.
func TestPartitions(t *testing.T) {
	s, err := Open(t.TempDir(), Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	plds := []uint64{0, 1, 1<<54 - 1, 1 << 54, 511 << 54, 512<<54 - 1, 1023 << 54, math.MaxUint64}
	for range 100 {
		plds = append(plds, rand.Uint64())
	}
	type of struct {
		kind Kind
		p    Partition
	}
	want, got := map[of][]string{}, map[of][]string{}
	err = s.Update(func(tx Tx) error {
		for _, pld := range plds {
			for kind, key := range partitionKeys(9, pld) {
				at := of{kind, Partition(pld >> 54)}
				want[at] = append(want[at], string(key))
				if err := tx.Set(key, nil); err != nil {
					return err
				}
			}
		}
		for kind := range partitionKeys(9, 0) { // beside them, those of other crawls
			for _, k := range []Keys{8, 10} {
				if kind == Hosts {
					continue
				}
				if err := tx.Set(partitionKeys(k, rand.Uint64())[kind], nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(func(r Reader) error {
		for p := range Partition(Partitions) {
			if p > 2 && p%64 != 0 && p < Partitions-2 && !slices.ContainsFunc(plds, func(pld uint64) bool { return PartitionOf(pld) == p }) {
				continue
			}
			for _, kind := range OfPartitions() {
				k := Keys(9)
				if kind == Hosts {
					k = 0
				}
				err := r.InPartition(k, kind, p, func(key Key, _ []byte) (bool, error) {
					got[of{kind, p}] = append(got[of{kind, p}], string(key))
					return true, nil
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range want {
		slices.Sort(keys)
	}
	if !maps.EqualFunc(want, got, slices.Equal) {
		t.Errorf("the ranges of %d partitions and kinds hold keys, want %d", len(got), len(want))
	}
	for _, kind := range OfPartitions() {
		if _, there := partitionKeys(9, 0)[kind]; !there {
			t.Errorf("no key of the kind %q was looked for", kind)
		}
	}
}

package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

func FuzzEntryKeys(f *testing.F) {
	f.Add(uint16(1), uint64(2), uint16(3), uint64(4), uint16(3), uint64(5))
	f.Add(uint16(1), uint64(2), uint16(0), uint64(0), uint16(65535), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, id uint16, pld uint64, p1 uint16, c1 uint64, p2 uint16, c2 uint64) {
		a, b := queue.Position{Priority: p1, Counter: c1}, queue.Position{Priority: p2, Counter: c2}
		ka, kb := Keys(id).Entry(pld, a), Keys(id).Entry(pld, b)
		order := 0
		if a.Before(b) {
			order = -1
		} else if b.Before(a) {
			order = 1
		}
		if cmp.Compare(bytes.Compare(ka, kb), 0) != order {
			t.Fatalf("%v and %v stand otherwise as keys", a, b)
		}
		if got, ok := ka.Position(); !ok || got != a || ka.PLD() != pld {
			t.Fatalf("%v became %v of %d", a, got, ka.PLD())
		}
		if queue.Last.Before(a) {
			t.Fatalf("%v stands behind the last position", a)
		}
	})
}

func FuzzDelayKeys(f *testing.F) {
	f.Add(uint16(1), int64(2), int64(3), uint64(4), uint64(5))
	f.Fuzz(func(t *testing.T, id uint16, at, later int64, pld, url uint64) {
		at, later = max(at, 0), max(later, 0) // delays are after 1970
		u := record.Key{PLD: pld, URL: url}
		ka, kb := Keys(id).Delay(at, u), Keys(id).Delay(later, u)
		if cmp.Compare(at, later) != bytes.Compare(ka, kb) { // of one partition
			t.Fatalf("%d and %d stand otherwise as keys", at, later)
		}
		if got, of, ok := ka.Delay(); !ok || got != at || of != u {
			t.Fatalf("%d became %d", at, got)
		}
	})
}

// TestKeys: the form of the keys does not change, so that the next version finds them.
func TestKeys(t *testing.T) {
	const k = Keys(0x0102)
	u := record.Key{PLD: 0x1112131415161718, URL: 0x2122232425262728}
	pld, url := "\x11\x12\x13\x14\x15\x16\x17\x18", "\x21\x22\x23\x24\x25\x26\x27\x28"
	named := string(binary.BigEndian.AppendUint64(nil, xxhash.Sum64String("a-b.example")))
	for want, got := range map[string]Key{
		"xname":                               Crawl("name"),
		"n\x00\x00" + pld:                     Host(u.PLD),
		"p\x01\x02":                           k.Plan(),
		"t\x01\x02":                           k.History(),
		"v\x01\x02":                           k.Exchange(),
		"f":                                   Format(),
		"R\x01\x02" + pld + url:               k.Record(u),
		"o\x01\x02" + pld + url:               k.Print(u),
		"m\x01\x02" + pld:                     k.Queue(u.PLD),
		"q\x01\x02" + pld:                     k.Entries(u.PLD),
		"C\x01\x02" + named + "a-b.example-1": k.Claim("a-b.example-1"),
		"L\x01\x02" + named + "a-b.example-1": k.Release("a-b.example-1"),
		"b\x01\x020/batch/end":                k.Batch("batch", "end"),
		"D\x01\x02" + pld + "sha1:A":          k.Digest(u.PLD, 0, "sha1:A"),
		"D\x01\x02" + pld + "3 sha1:A":        k.Digest(u.PLD, 3, "sha1:A"),
		"s\x01\x027/batch":                    k.Sample(7, "batch"),
		"s\x01\x027/":                         k.Sample(7, ""),
		"e\x01\x02\x00\x00\x00\x00\x00\x00\x00\x09":                    k.Update(9),
		"u\x01\x02\x00\x00\x00\x00\x00\x00\x00\x09":                    k.Unfetched(9),
		"q\x01\x02" + pld + "\xff\xfe\x00\x00\x00\x00\x00\x00\x00\x09": k.Entry(u.PLD, queue.Position{Priority: 1, Counter: 9}),
		"W\x01\x02\x11\x00": k.Delays(PartitionOf(u.PLD)),
		"W\x01\x02\x11\x00\x00\x00\x00\x00\x00\x00\x00\x09" + pld + url:               k.Delay(9, u),
		"B\x01\x02\x11\x00w\x00\x00\x00\x00\x00\x00\x00\x00\x09nonce\x00\x00\x00\x02": k.Delivered(PartitionOf(u.PLD), "w", 9, "nonce", 2),
		"B\x01\x02\x11\x00w\x00": k.DeliveredBy(PartitionOf(u.PLD), "w"),
		"y\x01\x02m":             headKey(k.All(Snapshots)),
		"y\x01\x02p\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x02": partKey(k.All(Snapshots), 9, 2),
	} {
		if string(got) != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if s := k.Site(u.PLD, "a.example"); len(s) != 19 || !bytes.HasPrefix(s, []byte("G\x01\x02"+pld)) {
		t.Errorf("%q", s)
	}
	kinds := map[Kind]bool{Crawls: true, Hosts: true, Formats: true, Moves: true, Written: true}
	for _, kind := range OfCrawls() {
		if kinds[kind] {
			t.Errorf("the kind %q is listed twice", kind)
		}
		kinds[kind] = true
	}
	if len(kinds) != 24 {
		t.Errorf("%d kinds of 24: what is not listed outlasts the crawl that it is of", len(kinds))
	}
	for _, kind := range append(OfPartitions(), Formats, Moves, Written, Crawls, Plans, Batches, Samples, Updates, Histories, Snapshots, Memories, Unfetched, Exchanges) {
		if !kinds[kind] {
			t.Errorf("the kind %q is of partitions and of the worker, or of no crawl", kind)
		}
		delete(kinds, kind)
	}
	for kind := range kinds {
		t.Errorf("the kind %q is neither of partitions nor of the worker alone: it would not be handed over", kind)
	}
}

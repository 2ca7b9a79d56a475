package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// Key is a key of the store, or the prefix of several.
type Key []byte

// Kind is the first byte of a key. It says what the key holds.
type Kind byte

// The kinds of keys of which a partition is one range, see Partition. Numbers are big-endian, so that keys stand in their order.
// The letters c, d, g, l, r and w are those of an earlier format.
const (
	Records  Kind = 'R' // id, PLD, URL → record.Record
	Entries  Kind = 'q' // id, PLD, inverted priority, counter → URL hash
	Queues   Kind = 'm' // id, PLD → record.Queue
	Claims   Kind = 'C' // id, PLD, claim → claim
	Releases Kind = 'L' // id, PLD, claim → release, until the politeness workflow has it
	Delays   Kind = 'W' // id, partition, time, PLD, URL → nothing: not before that time
	Digests  Kind = 'D' // id, PLD, payload digest → original
	Sites    Kind = 'G' // id, PLD, host → what the bandit learned of it
	Prints   Kind = 'o' // id, PLD, URL → what is remembered of the page's web objects
	Hosts    Kind = 'n' // 0, PLD → record.Host: when it may be asked again, by any crawl
	// Deliveries: id, partition, worker, 0, batch number, nonce, part → the worker's watermark then: what that batch of that worker has found there is queued
	Deliveries Kind = 'B'
)

// The kinds of keys that stay with the worker, whichever worker has its partitions.
const (
	Formats   Kind = 'f' // → the format of the store
	Crawls    Kind = 'x' // crawl name → what is kept of the crawl
	Plans     Kind = 'p' // id → its plan
	Batches   Kind = 'b' // id, batch, part → nothing: the part is committed
	Samples   Kind = 's' // id, run, batch → samples of the reference crawl
	Updates   Kind = 'e' // id, number → what a batch teaches the order that learns
	Histories Kind = 't' // id → where the run stood
	Snapshots Kind = 'y' // id, … → what the order has learned, in parts
	Memories  Kind = 'h' // id, … → what else is remembered of the pages of the crawl, in parts
	Unfetched Kind = 'u' // id, number → a URL that ended without a batch, until the archive holds it
	Exchanges Kind = 'v' // id → where a spread crawl stands in the exchange of learning updates
	Written   Kind = 'k' // [partition] → the present generation; that in which the partition was written last, see Changes
	Moves     Kind = 'i' // partition → Choice (nothing: AllCrawls): it is being imported or dropped, and what is there of these crawls is a part
)

// OfPartitions lists the kinds of which a partition is one range, in the order of their letters: under the IDs of crawls, and Hosts
// under 0.
func OfPartitions() []Kind {
	return []Kind{Deliveries, Claims, Digests, Sites, Releases, Records, Delays, Queues, Hosts, Prints, Entries}
}

// OfExports lists the kinds of OfPartitions that move with a partition. Claims and releases say what the worker has asked politeness
// for, and what it owes it: they stay with the worker.
func OfExports() []Kind {
	return slices.DeleteFunc(OfPartitions(), func(k Kind) bool { return k == Claims || k == Releases })
}

// OfCrawls lists the kinds of keys that a crawl has under its ID: all but Formats, Crawls, Hosts, Written and Moves.
func OfCrawls() []Kind {
	return []Kind{
		Plans, Records, Entries, Queues, Claims, Batches, Releases, Delays, Digests, Samples, Sites, Updates, Histories, Snapshots, Memories, Unfetched, Prints, Deliveries,
		Exchanges,
	}
}

// Format is the key of the store's format.
func Format() Key { return Key{byte(Formats)} }

// Crawl is the key of what is kept of a crawl.
func Crawl(name string) Key { return append(Key{byte(Crawls)}, name...) }

// Move is the key of a partition that is being imported or dropped.
func Move(p Partition) Key { return binary.BigEndian.AppendUint16(Key{byte(Moves)}, uint16(p)) }

// Moving reads the keys of Move: the partitions that are being imported or dropped, and of which crawls.
func (r Reader) Moving() (list map[Partition]Choice, err error) {
	err = r.Scan(Key{byte(Moves)}, nil, func(key Key, value []byte) (bool, error) {
		if len(key) != len(Move(0)) {
			return true, nil
		}
		of := AllCrawls // earlier versions have no other choice
		if len(value) > 0 {
			of = Choice(value[0])
		}
		if list == nil {
			list = map[Partition]Choice{}
		}
		list[Partition(binary.BigEndian.Uint16(key[1:]))] = of
		return true, nil
	})
	return list, err
}

// Host is the key of a host that rests.
func Host(pld uint64) Key { return binary.BigEndian.AppendUint64(Keys(0).All(Hosts), pld) }

// Keys makes the keys of a crawl. Its value is the crawl's ID; 0 is of what all crawls share.
type Keys uint16

// All is the prefix of all keys of a kind.
func (k Keys) All(kind Kind) Key { return k.sized(kind, prefixLen) }

const prefixLen = 1 + 2

// sized is All with room for a key of a length: each URL that is looked up has a key or two.
func (k Keys) sized(kind Kind, length int) Key {
	return binary.BigEndian.AppendUint16(append(make(Key, 0, length), byte(kind)), uint16(k))
}

func (k Keys) numbered(kind Kind, n uint64) Key {
	return binary.BigEndian.AppendUint64(k.sized(kind, prefixLen+8), n)
}

func (k Keys) named(kind Kind, text string) Key { return append(k.All(kind), text...) }

func (k Keys) ofURL(kind Kind, u record.Key) Key {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(k.sized(kind, prefixLen+16), u.PLD), u.URL)
}

// Plan is the key of a crawl's plan.
func (k Keys) Plan() Key { return k.All(Plans) }

// History is the key of where the run stood.
func (k Keys) History() Key { return k.All(Histories) }

// Exchange is the key of where the crawl stands in the exchange of learning updates.
func (k Keys) Exchange() Key { return k.All(Exchanges) }

// Record is the key of a URL's record, Print that of what is remembered of its web objects.
func (k Keys) Record(u record.Key) Key { return k.ofURL(Records, u) }
func (k Keys) Print(u record.Key) Key  { return k.ofURL(Prints, u) }

// RecordsOf is the prefix of the records of a PLD.
func (k Keys) RecordsOf(pld uint64) Key { return k.numbered(Records, pld) }

// Traps is the key of what is remembered of a PLD's traps. It is of the kind of Sites, for no host: so workers of earlier versions take it along with a
// partition.
func (k Keys) Traps(pld uint64) Key { return k.Site(pld, "") }

// Queue is the key of what is kept of a queue, Entries the prefix of its entries.
func (k Keys) Queue(pld uint64) Key   { return k.numbered(Queues, pld) }
func (k Keys) Entries(pld uint64) Key { return k.numbered(Entries, pld) }

// Claim and Release are the keys of a claim, and of the release of its lease.
func (k Keys) Claim(id string) Key   { return append(k.numbered(Claims, PLDOf(id)), id...) }
func (k Keys) Release(id string) Key { return append(k.numbered(Releases, PLDOf(id)), id...) }

// PLDOf is the hash of the PLD of a claim, which is named PLD-number, and of its loans. A release may be of a claim that nobody knows any more.
func PLDOf(claim string) uint64 {
	return xxhash.Sum64String(claim[:max(strings.LastIndexByte(claim, '-'), 0)])
}

// Batch is the key of a mark of a batch.
func (k Keys) Batch(batch, mark string) Key { return k.named(Batches, "0/"+batch+"/"+mark) }

// Delivered is the key of a mark of a delivery to a partition: part of what a life of a batch of a worker has found there. Marks stand in
// the order of the numbers of batches.
func (k Keys) Delivered(p Partition, worker string, number uint64, nonce string, part int) Key {
	b := append(binary.BigEndian.AppendUint64(k.DeliveredBy(p, worker), number), nonce...)
	return binary.BigEndian.AppendUint32(b, uint32(part))
}

// DeliveredBy is the prefix of the marks of the deliveries of a worker to a partition.
func (k Keys) DeliveredBy(p Partition, worker string) Key {
	return append(append(binary.BigEndian.AppendUint16(k.All(Deliveries), p.head()), worker...), 0)
}

// Delivered takes the key of a mark of a delivery apart: its worker; false of any other key.
func (key Key) Delivered() (worker string, ok bool) {
	if len(key) < prefixLen+2 || Kind(key[0]) != Deliveries {
		return "", false
	}
	name, _, ok := strings.Cut(string(key[prefixLen+2:]), "\x00")
	return name, ok
}

// Digest is the key of the original of a payload digest in an archive, among the pages of a PLD.
func (k Keys) Digest(pld uint64, archive int, digest string) Key {
	return append(k.numbered(Digests, pld), record.Digest(archive, digest)...)
}

// Sample is the key of what a batch of a run has left for the topic; without a batch, the prefix of those of all.
func (k Keys) Sample(run uint32, batch string) Key {
	return k.named(Samples, fmt.Sprintf("%d/%s", run, batch))
}

// Site is the key of what was learned of a host of a PLD.
func (k Keys) Site(pld uint64, host string) Key {
	return binary.BigEndian.AppendUint64(k.numbered(Sites, pld), xxhash.Sum64String(host))
}

// Update is the key of a learning update, Unfetched of a URL that ended without a batch, by their numbers.
func (k Keys) Update(number uint64) Key   { return k.numbered(Updates, number) }
func (k Keys) Unfetched(number int64) Key { return k.numbered(Unfetched, uint64(number)) }

// Number is that of an update or of an unfetched URL, by its key.
func (key Key) Number() uint64 { return binary.BigEndian.Uint64(key[3:]) }

// PLD is the hash of the PLD in a key of a kind of partitions, Delays apart.
func (key Key) PLD() uint64 { return binary.BigEndian.Uint64(key[3:]) }

const entryLen = 1 + 2 + 8 + 2 + 8

// Entry is the key of an entry of a queue: keys stand in the order in which entries are claimed.
func (k Keys) Entry(pld uint64, at queue.Position) Key {
	b := binary.BigEndian.AppendUint64(k.sized(Entries, entryLen), pld)
	b = binary.BigEndian.AppendUint16(b, math.MaxUint16-at.Priority)
	return binary.BigEndian.AppendUint64(b, at.Counter)
}

// Position is that of an entry, by its key; false of any other key.
func (key Key) Position() (at queue.Position, ok bool) {
	if len(key) != entryLen || Kind(key[0]) != Entries {
		return at, false
	}
	at.Priority = math.MaxUint16 - binary.BigEndian.Uint16(key[11:])
	at.Counter = binary.BigEndian.Uint64(key[13:])
	return at, true
}

// EntryOf reads an entry of a queue: the key of its URL and its position; false of anything else.
func EntryOf(key Key, value []byte) (u record.Key, at queue.Position, ok bool) {
	at, ok = key.Position()
	if !ok || len(value) != 8 {
		return u, at, false
	}
	return record.Key{PLD: key.PLD(), URL: binary.BigEndian.Uint64(value)}, at, true
}

// SetWaiting writes the record of a URL that waits, and its entry.
func (tx Tx) SetWaiting(k Keys, u record.Key, r *record.Record) error {
	if err := tx.Set(k.Record(u), r.Encode()); err != nil {
		return err
	}
	return tx.Set(k.Entry(u.PLD, r.Position), binary.BigEndian.AppendUint64(nil, u.URL))
}

const delayLen = 1 + 2 + 2 + 8 + 8 + 8

// Delays is the prefix of the URLs of a partition that wait for their next attempt: they stand in the order of their times.
func (k Keys) Delays(p Partition) Key { return binary.BigEndian.AppendUint16(k.All(Delays), p.head()) }

// Delay is the key of a URL that waits for its next attempt, at a time in Unix seconds.
func (k Keys) Delay(at int64, u record.Key) Key {
	b := binary.BigEndian.AppendUint64(k.Delays(PartitionOf(u.PLD)), uint64(at))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, u.PLD), u.URL)
}

// Delay reads the key of a URL that waits for its next attempt; false of any other key.
func (key Key) Delay() (at int64, u record.Key, ok bool) {
	if len(key) != delayLen || Kind(key[0]) != Delays {
		return 0, u, false
	}
	return int64(binary.BigEndian.Uint64(key[5:])), record.Key{PLD: binary.BigEndian.Uint64(key[13:]), URL: binary.BigEndian.Uint64(key[21:])}, true
}

package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// Key is a key of the store, or the prefix of several.
type Key []byte

// Kind is the first byte of a key. It says what the key holds.
type Kind byte

// The kinds of keys. Numbers are big-endian, so that keys stand in their order.
const (
	Crawls    Kind = 'x' // crawl name → what is kept of the crawl
	Plans     Kind = 'p' // id → its plan
	Records   Kind = 'r' // id, PLD, URL → record.Record
	Entries   Kind = 'q' // id, PLD, inverted priority, counter → URL hash
	Queues    Kind = 'm' // id, PLD → record.Queue
	Claims    Kind = 'c' // id, claim → claim
	Batches   Kind = 'b' // id, batch, part → nothing: the part is committed
	Releases  Kind = 'l' // id, claim → release, until the politeness workflow has it
	Delays    Kind = 'w' // id, time, PLD, URL → nothing: not before that time
	Digests   Kind = 'd' // id, payload digest → original
	Samples   Kind = 's' // id, run, batch → samples of the reference crawl
	Sites     Kind = 'g' // id, host → what the bandit learned of it
	Updates   Kind = 'e' // id, number → what a batch teaches the order that learns
	Histories Kind = 't' // id → where the run stood
	Snapshots Kind = 'y' // id, … → what the order has learned, in parts
	Memories  Kind = 'h' // id, … → what else is remembered of the pages of the crawl, in parts
	Hosts     Kind = 'n' // 0, PLD → record.Host: when it may be asked again, by any crawl
	Unfetched Kind = 'u' // id, number → a URL that ended without a batch, until the archive holds it
	Prints    Kind = 'o' // id, PLD, URL → what is remembered of the page's web objects
)

// OfCrawls lists the kinds of keys that a crawl has under its ID: all but Crawls and Hosts.
func OfCrawls() []Kind {
	return []Kind{
		Plans, Records, Entries, Queues, Claims, Batches, Releases, Delays, Digests, Samples, Sites, Updates, Histories, Snapshots, Memories, Unfetched, Prints,
	}
}

// Crawl is the key of what is kept of a crawl.
func Crawl(name string) Key { return append(Key{byte(Crawls)}, name...) }

// Host is the key of a host that rests.
func Host(pld uint64) Key { return binary.BigEndian.AppendUint64(Keys(0).All(Hosts), pld) }

// Keys makes the keys of a crawl. Its value is the crawl's ID; 0 is of what all crawls share.
type Keys uint16

// All is the prefix of all keys of a kind.
func (k Keys) All(kind Kind) Key { return binary.BigEndian.AppendUint16(Key{byte(kind)}, uint16(k)) }

func (k Keys) numbered(kind Kind, n uint64) Key {
	return binary.BigEndian.AppendUint64(k.All(kind), n)
}

func (k Keys) named(kind Kind, text string) Key { return append(k.All(kind), text...) }

func (k Keys) ofURL(kind Kind, u record.Key) Key {
	return binary.BigEndian.AppendUint64(k.numbered(kind, u.PLD), u.URL)
}

// Plan is the key of a crawl's plan.
func (k Keys) Plan() Key { return k.All(Plans) }

// History is the key of where the run stood.
func (k Keys) History() Key { return k.All(Histories) }

// Record is the key of a URL's record, Print that of what is remembered of its web objects.
func (k Keys) Record(u record.Key) Key { return k.ofURL(Records, u) }
func (k Keys) Print(u record.Key) Key  { return k.ofURL(Prints, u) }

// Queue is the key of what is kept of a queue, Entries the prefix of its entries.
func (k Keys) Queue(pld uint64) Key   { return k.numbered(Queues, pld) }
func (k Keys) Entries(pld uint64) Key { return k.numbered(Entries, pld) }

// Claim and Release are the keys of a claim, and of the release of its lease.
func (k Keys) Claim(id string) Key   { return k.named(Claims, id) }
func (k Keys) Release(id string) Key { return k.named(Releases, id) }

// Batch is the key of a mark of a batch.
func (k Keys) Batch(batch, mark string) Key { return k.named(Batches, "0/"+batch+"/"+mark) }

// Digest is the key of the original of a payload digest in an archive.
func (k Keys) Digest(archive int, digest string) Key {
	return k.named(Digests, record.Digest(archive, digest))
}

// Sample is the key of what a batch of a run has left for the topic; without a batch, the prefix of those of all.
func (k Keys) Sample(run uint32, batch string) Key {
	return k.named(Samples, fmt.Sprintf("%d/%s", run, batch))
}

// Site is the key of what was learned of a host.
func (k Keys) Site(host string) Key { return k.numbered(Sites, xxhash.Sum64String(host)) }

// Update is the key of a learning update, Unfetched of a URL that ended without a batch, by their numbers.
func (k Keys) Update(number uint64) Key   { return k.numbered(Updates, number) }
func (k Keys) Unfetched(number int64) Key { return k.numbered(Unfetched, uint64(number)) }

// Number is that of an update or of an unfetched URL, by its key.
func (key Key) Number() uint64 { return binary.BigEndian.Uint64(key[3:]) }

// PLD is the hash of the PLD in the key of a record, a queue, an entry or a host.
func (key Key) PLD() uint64 { return binary.BigEndian.Uint64(key[3:]) }

const entryLen = 1 + 2 + 8 + 2 + 8

// Entry is the key of an entry of a queue: keys stand in the order in which entries are claimed.
func (k Keys) Entry(pld uint64, at queue.Position) Key {
	b := binary.BigEndian.AppendUint16(k.Entries(pld), math.MaxUint16-at.Priority)
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

const delayLen = 1 + 2 + 8 + 8 + 8

// Delay is the key of a URL that waits for its next attempt, at a time in Unix seconds.
func (k Keys) Delay(at int64, u record.Key) Key {
	b := binary.BigEndian.AppendUint64(k.numbered(Delays, uint64(at)), u.PLD)
	return binary.BigEndian.AppendUint64(b, u.URL)
}

// Delay reads the key of a URL that waits for its next attempt; false of any other key.
func (key Key) Delay() (at int64, u record.Key, ok bool) {
	if len(key) != delayLen || Kind(key[0]) != Delays {
		return 0, u, false
	}
	return int64(binary.BigEndian.Uint64(key[3:])), record.Key{PLD: binary.BigEndian.Uint64(key[11:]), URL: binary.BigEndian.Uint64(key[19:])}, true
}

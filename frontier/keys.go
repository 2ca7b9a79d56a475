package frontier

import (
	"encoding/binary"
	"math"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// The first byte of a key says what it holds.
const (
	kindCrawl   = 'x' // crawl name → crawlRecord
	kindPlan    = 'p' // id → planRecord
	kindRecord  = 'r' // id, PLD, URL → record.Record
	kindQueue   = 'q' // id, PLD, inverted priority, counter → URL hash
	kindMeta    = 'm' // id, PLD → record.Queue
	kindClaim   = 'c' // id, claim → Claim
	kindBatch   = 'b' // id, batch, part → nothing: the part is committed
	kindRelease = 'l' // id, claim → Release, until the politeness workflow has it
	kindDelayed = 'w' // id, time, PLD, URL → nothing: not before that time
	kindDigest  = 'd' // id, payload digest → original
	kindSample  = 's' // id, batch → samples of the reference crawl
	kindSite    = 'g' // id, host → what the bandit learned of it
	kindLesson  = 'e' // id, number → what a batch teaches the order that learns
	kindTrail   = 't' // id → where the run stood
	kindSum     = 'y' // id, … → the sum of what it has learned, in parts
	kindMemory  = 'h' // id, … → what else is remembered of the pages of the crawl, in parts
	kindHost    = 'n' // 0, PLD → when its host may be asked again, by any crawl
	kindEnded   = 'u' // id, number → a URL that ended without a batch, until the archive holds it
	kindPrint   = 'o' // id, PLD, URL → what is remembered of the page's web objects
)

func prefix(kind byte, id uint16) []byte { return binary.BigEndian.AppendUint16([]byte{kind}, id) }

func recordKey(id uint16, k record.Key) []byte { return urlKeyed(kindRecord, id, k) }

func urlKeyed(kind byte, id uint16, k record.Key) []byte {
	b := binary.BigEndian.AppendUint64(prefix(kind, id), k.PLD)
	return binary.BigEndian.AppendUint64(b, k.URL)
}

func pldKey(kind byte, id uint16, pld uint64) []byte {
	return binary.BigEndian.AppendUint64(prefix(kind, id), pld)
}

const queueKeyLen = 1 + 2 + 8 + 2 + 8

func queueKey(id uint16, pld uint64, p queue.Position) []byte {
	b := binary.BigEndian.AppendUint16(pldKey(kindQueue, id, pld), math.MaxUint16-p.Priority)
	return binary.BigEndian.AppendUint64(b, p.Counter)
}

func parseQueueKey(b []byte) (pld uint64, p queue.Position, ok bool) {
	if len(b) != queueKeyLen || b[0] != kindQueue {
		return 0, queue.Position{}, false
	}
	p.Priority = math.MaxUint16 - binary.BigEndian.Uint16(b[11:])
	p.Counter = binary.BigEndian.Uint64(b[13:])
	return binary.BigEndian.Uint64(b[3:]), p, true
}

func textKey(kind byte, id uint16, text string) []byte { return append(prefix(kind, id), text...) }

const delayedKeyLen = 1 + 2 + 8 + 8 + 8

func delayedKey(id uint16, at int64, k record.Key) []byte {
	b := binary.BigEndian.AppendUint64(prefix(kindDelayed, id), uint64(at))
	b = binary.BigEndian.AppendUint64(b, k.PLD)
	return binary.BigEndian.AppendUint64(b, k.URL)
}

func parseDelayedKey(b []byte) (at int64, k record.Key, ok bool) {
	if len(b) != delayedKeyLen || b[0] != kindDelayed {
		return 0, record.Key{}, false
	}
	return int64(binary.BigEndian.Uint64(b[3:])), record.Key{PLD: binary.BigEndian.Uint64(b[11:]), URL: binary.BigEndian.Uint64(b[19:])}, true
}

func pldOf(key []byte) uint64 {
	var v uint64
	for _, b := range key[3:11] {
		v = v<<8 | uint64(b)
	}
	return v
}

package frontier

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The states of a record.
const (
	stateWaiting = 1 // in its queue, claimed or not
	stateDelayed = 2 // out of its queue until a time
	stateDone    = 3
	stateFailed  = 4
	stateRefused = 5 // by robots.txt or the address guard
	stateBanned  = 6 // never to be fetched, in any run: somebody has said so
)

// record is what the frontier knows of a URL.
type record struct {
	state    byte
	run      uint32 // the run of the crawl that saw it last
	attempts uint8
	place    place // in the queue, if waiting
	due      int64 // if delayed, Unix seconds
	scores   aggregate
	via      urlKey
	path     string // hop letters, abbreviated
	url      string
	visit    crawl.Visit
	archive  int     // number of the archive that the visit is in
	group    int     // of the link that it was found by, on its own host; 0: none
	keep     []byte  // what the order kept with the link that counts
	keptAt   float32 // the score that this link had when it was found
	also     []byte  // … with the best of the others, for an order that learns
	alsoAt   float32
	parts    []byte // of the score of this link, by crawl.Parts.Encode
}

// kept lists what was kept with links to the URL, the one that counts first.
func (r *record) kept() (list [][]byte) {
	for _, k := range [][]byte{r.keep, r.also} {
		if len(k) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// aggregate sums up the scores that a URL got from several pages.
type aggregate struct {
	count                 uint32
	sum, max, first, last float32
}

// take adds the score of a link, and keeps what the order kept with it if it is the one that counts by the update
// function; two to have of several, the best of the others as well.
func (r *record) take(link scored, update string, two bool) {
	first := r.scores.count == 0
	counts := float32(link.score) > r.scores.max
	switch update {
	case crawl.UpdateFirst:
		counts = false
	case crawl.UpdateLast:
		counts = true
	}
	r.scores.add(link.score)
	other := link
	if counts || first {
		other = scored{score: float64(r.keptAt), keep: r.keep}
		r.keep, r.keptAt, r.parts = link.keep, float32(link.score), link.parts
	}
	if two && len(other.keep) > 0 && (len(r.also) == 0 || float32(other.score) > r.alsoAt) {
		r.also, r.alsoAt = other.keep, float32(other.score)
	}
}

// submitted is the score that a URL was submitted with; 0 if it was found.
func (r *record) submitted() float64 {
	if r.path == crawl.HopSeed.String() && r.via == (urlKey{}) {
		return float64(r.scores.first)
	}
	return 0
}

func (a *aggregate) add(score float64) {
	s := float32(score)
	if a.count == 0 {
		a.first, a.max = s, s
	}
	a.count++
	a.sum += s
	a.max = max(a.max, s)
	a.last = s
}

// value applies an update function (paper §4.4).
func (a aggregate) value(update string) float64 {
	switch update {
	case crawl.UpdateFirst:
		return float64(a.first)
	case crawl.UpdateLast:
		return float64(a.last)
	case crawl.UpdateAvg:
		return float64(a.sum) / float64(max(a.count, 1))
	case crawl.UpdateSum:
		return float64(a.sum)
	}
	return float64(a.max)
}

// Marks of what an encoded record holds beside.
const (
	hasVisit = 0x80
	hasGroup = 0x40
	hasKeep  = 0x20
	hasParts = 0x10
	hasAlso  = 0x08
)

var errRecord = errors.New("the frontier holds a record that cannot be read")

func (r *record) encode() []byte {
	b := make([]byte, 0, 64+len(r.url)+len(r.path))
	state := r.state
	if r.visit != (crawl.Visit{}) {
		state |= hasVisit
	}
	if r.group > 0 {
		state |= hasGroup
	}
	if len(r.keep) > 0 {
		state |= hasKeep
	}
	if len(r.parts) > 0 {
		state |= hasParts
	}
	if len(r.also) > 0 {
		state |= hasAlso
	}
	b = append(b, state, r.attempts)
	b = binary.AppendUvarint(b, uint64(r.run))
	switch r.state {
	case stateWaiting:
		b = binary.BigEndian.AppendUint16(b, r.place.priority)
		b = binary.AppendUvarint(b, r.place.counter)
	case stateDelayed:
		b = binary.AppendVarint(b, r.due)
	}
	b = binary.AppendUvarint(b, uint64(r.scores.count))
	for _, f := range []float32{r.scores.sum, r.scores.max, r.scores.first, r.scores.last} {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
	}
	b = binary.BigEndian.AppendUint64(b, r.via.pld)
	b = binary.BigEndian.AppendUint64(b, r.via.url)
	b = appendText(b, r.path)
	b = appendText(b, r.url)
	if state&hasVisit != 0 {
		for _, s := range []string{r.visit.ETag, r.visit.LastModified, numbered(r.archive, r.visit.Digest), r.visit.URL} {
			b = appendText(b, s)
		}
		b = binary.AppendVarint(b, r.visit.Date.Unix())
	}
	if r.group > 0 {
		b = binary.AppendUvarint(b, uint64(r.group))
	}
	if len(r.keep) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.keptAt))
		b = appendText(b, string(r.keep))
	}
	if len(r.parts) > 0 {
		b = appendText(b, string(r.parts))
	}
	if len(r.also) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.alsoAt))
		b = appendText(b, string(r.also))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cursor reads the parts of an encoded record; the first fault sticks.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad = true
		return make([]byte, min(n, 8))
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) u64() uint64 { return binary.BigEndian.Uint64(c.take(8)) }

func (c *cursor) f32() float32 { return math.Float32frombits(binary.BigEndian.Uint32(c.take(4)[:4])) }

func (c *cursor) text() string { return string(c.take(c.uvarint())) }

func decodeRecord(b []byte) (record, error) {
	c := &cursor{b: b}
	head := c.take(2)
	r := record{state: head[0] &^ (hasVisit | hasGroup | hasKeep | hasParts | hasAlso), attempts: head[1]}
	r.run = uint32(c.uvarint())
	switch r.state {
	case stateWaiting:
		r.place.priority = binary.BigEndian.Uint16(c.take(2))
		r.place.counter = c.uvarint()
	case stateDelayed:
		r.due = c.varint()
	}
	r.scores.count = uint32(c.uvarint())
	r.scores.sum, r.scores.max, r.scores.first, r.scores.last = c.f32(), c.f32(), c.f32(), c.f32()
	r.via = urlKey{c.u64(), c.u64()}
	r.path, r.url = c.text(), c.text()
	if head[0]&hasVisit != 0 && !c.bad {
		r.visit = crawl.Visit{ETag: c.text(), LastModified: c.text(), Digest: c.text(), URL: c.text()}
		r.visit.Date = time.Unix(c.varint(), 0).UTC()
		r.archive, r.visit.Digest = unnumbered(r.visit.Digest)
	}
	if head[0]&hasGroup != 0 {
		r.group = int(c.uvarint())
	}
	if head[0]&hasKeep != 0 {
		r.keptAt = c.f32()
		r.keep = slices.Clone(c.take(c.uvarint()))
	}
	if head[0]&hasParts != 0 {
		r.parts = slices.Clone(c.take(c.uvarint()))
	}
	if head[0]&hasAlso != 0 {
		r.alsoAt = c.f32()
		r.also = slices.Clone(c.take(c.uvarint()))
	}
	if c.bad || len(c.b) > 0 {
		return record{}, errRecord
	}
	return r, nil
}

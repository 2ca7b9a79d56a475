package frontier

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/codec"
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
	place    queue.Position // in the queue, if waiting
	due      int64          // if delayed, Unix seconds
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
		b = binary.BigEndian.AppendUint16(b, r.place.Priority)
		b = binary.AppendUvarint(b, r.place.Counter)
	case stateDelayed:
		b = binary.AppendVarint(b, r.due)
	}
	b = binary.AppendUvarint(b, uint64(r.scores.count))
	for _, f := range []float32{r.scores.sum, r.scores.max, r.scores.first, r.scores.last} {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
	}
	b = binary.BigEndian.AppendUint64(b, r.via.pld)
	b = binary.BigEndian.AppendUint64(b, r.via.url)
	b = codec.AppendText(b, r.path)
	b = codec.AppendText(b, r.url)
	if state&hasVisit != 0 {
		for _, s := range []string{r.visit.ETag, r.visit.LastModified, numbered(r.archive, r.visit.Digest), r.visit.URL} {
			b = codec.AppendText(b, s)
		}
		b = binary.AppendVarint(b, r.visit.Date.Unix())
	}
	if r.group > 0 {
		b = binary.AppendUvarint(b, uint64(r.group))
	}
	if len(r.keep) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.keptAt))
		b = codec.AppendText(b, r.keep)
	}
	if len(r.parts) > 0 {
		b = codec.AppendText(b, r.parts)
	}
	if len(r.also) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.alsoAt))
		b = codec.AppendText(b, r.also)
	}
	return b
}

func decodeRecord(b []byte) (record, error) {
	c := codec.NewCursor(b)
	head, attempts := c.Uint8(), c.Uint8()
	r := record{state: head &^ (hasVisit | hasGroup | hasKeep | hasParts | hasAlso), attempts: attempts}
	r.run = uint32(c.Uvarint())
	switch r.state {
	case stateWaiting:
		r.place.Priority = c.Uint16()
		r.place.Counter = c.Uvarint()
	case stateDelayed:
		r.due = c.Varint()
	}
	r.scores.count = uint32(c.Uvarint())
	r.scores.sum, r.scores.max, r.scores.first, r.scores.last = c.Float32(), c.Float32(), c.Float32(), c.Float32()
	r.via = urlKey{c.Uint64(), c.Uint64()}
	r.path, r.url = c.Text(), c.Text()
	if head&hasVisit != 0 && !c.Bad() {
		r.visit = crawl.Visit{ETag: c.Text(), LastModified: c.Text(), Digest: c.Text(), URL: c.Text()}
		r.visit.Date = time.Unix(c.Varint(), 0).UTC()
		r.archive, r.visit.Digest = unnumbered(r.visit.Digest)
	}
	if head&hasGroup != 0 {
		r.group = int(c.Uvarint())
	}
	if head&hasKeep != 0 {
		r.keptAt = c.Float32()
		r.keep = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if head&hasParts != 0 {
		r.parts = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if head&hasAlso != 0 {
		r.alsoAt = c.Float32()
		r.also = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if !c.Done() {
		return record{}, errRecord
	}
	return r, nil
}

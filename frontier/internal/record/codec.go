package record

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Bits of the first byte, beside the state: what an encoded record holds.
const (
	hasVisit    = 0x80
	hasGroup    = 0x40
	hasFeatures = 0x20
	hasParts    = 0x10
	hasOther    = 0x08
)

var errRecord = errors.New("the frontier holds a record that cannot be read")

// Encode returns the record as the store holds it. What is empty takes no bytes.
func (r *Record) Encode() []byte {
	b := make([]byte, 0, 64+len(r.URL)+len(r.Path))
	state := byte(r.State)
	if r.Visit != (crawl.Visit{}) {
		state |= hasVisit
	}
	if r.Group > 0 {
		state |= hasGroup
	}
	if len(r.Features) > 0 {
		state |= hasFeatures
	}
	if len(r.Parts) > 0 {
		state |= hasParts
	}
	if len(r.OtherFeatures) > 0 {
		state |= hasOther
	}
	b = append(b, state, r.Attempts)
	b = binary.AppendUvarint(b, uint64(r.Run))
	switch r.State {
	case Waiting:
		b = binary.BigEndian.AppendUint16(b, r.Position.Priority)
		b = binary.AppendUvarint(b, r.Position.Counter)
	case Delayed:
		b = binary.AppendVarint(b, r.Due)
	}
	b = binary.AppendUvarint(b, uint64(r.Scores.Count))
	for _, f := range []float32{r.Scores.Sum, r.Scores.Max, r.Scores.First, r.Scores.Last} {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
	}
	b = binary.BigEndian.AppendUint64(b, r.Via.PLD)
	b = binary.BigEndian.AppendUint64(b, r.Via.URL)
	b = codec.AppendText(b, r.Path)
	b = codec.AppendText(b, r.URL)
	if state&hasVisit != 0 {
		for _, s := range []string{r.Visit.ETag, r.Visit.LastModified, Digest(r.Archive, r.Visit.Digest), r.Visit.URL} {
			b = codec.AppendText(b, s)
		}
		b = binary.AppendVarint(b, r.Visit.Date.Unix())
	}
	if r.Group > 0 {
		b = binary.AppendUvarint(b, uint64(r.Group))
	}
	if len(r.Features) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.FeaturesScore))
		b = codec.AppendText(b, r.Features)
	}
	if len(r.Parts) > 0 {
		b = codec.AppendText(b, r.Parts)
	}
	if len(r.OtherFeatures) > 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.OtherScore))
		b = codec.AppendText(b, r.OtherFeatures)
	}
	return b
}

// Decode reads what Encode has written. The record keeps nothing of b.
func Decode(b []byte) (Record, error) {
	c := codec.NewCursor(b)
	head, attempts := c.Uint8(), c.Uint8()
	r := Record{State: State(head &^ (hasVisit | hasGroup | hasFeatures | hasParts | hasOther)), Attempts: attempts}
	r.Run = uint32(c.Uvarint())
	switch r.State {
	case Waiting:
		r.Position.Priority = c.Uint16()
		r.Position.Counter = c.Uvarint()
	case Delayed:
		r.Due = c.Varint()
	}
	r.Scores.Count = uint32(c.Uvarint())
	r.Scores.Sum, r.Scores.Max, r.Scores.First, r.Scores.Last = c.Float32(), c.Float32(), c.Float32(), c.Float32()
	r.Via = Key{PLD: c.Uint64(), URL: c.Uint64()}
	r.Path, r.URL = c.Text(), c.Text()
	if head&hasVisit != 0 && !c.Bad() {
		r.Visit = crawl.Visit{ETag: c.Text(), LastModified: c.Text(), Digest: c.Text(), URL: c.Text()}
		r.Visit.Date = time.Unix(c.Varint(), 0).UTC()
		r.Archive, r.Visit.Digest = digestOf(r.Visit.Digest)
	}
	if head&hasGroup != 0 {
		r.Group = int(c.Uvarint())
	}
	if head&hasFeatures != 0 {
		r.FeaturesScore = c.Float32()
		r.Features = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if head&hasParts != 0 {
		r.Parts = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if head&hasOther != 0 {
		r.OtherScore = c.Float32()
		r.OtherFeatures = slices.Clone(c.Bytes(c.Uvarint()))
	}
	if !c.Done() {
		return Record{}, errRecord
	}
	return r, nil
}

// Digest is a payload digest with the number of its archive before it. The digests of the first archive stand alone, as
// they did when a crawl had one archive only.
func Digest(archive int, digest string) string {
	if archive == 0 && !strings.Contains(digest, " ") {
		return digest
	}
	return strconv.Itoa(archive) + " " + digest
}

func digestOf(text string) (archive int, digest string) {
	number, digest, ok := strings.Cut(text, " ")
	if !ok {
		return 0, text
	}
	archive, _ = strconv.Atoi(number)
	return archive, digest
}

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
	stateBits   = 0x07 // Trapped is 0 in them
)

var errRecord = errors.New("the frontier holds a record that cannot be read")

// Encode returns the record as the store holds it. What is empty takes no bytes.
func (r *Record) Encode() []byte {
	b := make([]byte, 0, 96+len(r.URL)+len(r.Path)+len(r.Via)+len(r.Features)+len(r.Parts)+len(r.OtherFeatures)+len(r.Visit.URL)+len(r.Visit.Digest)+len(r.Visit.ETag)+len(r.Visit.LastModified))
	state := byte(r.State) & stateBits
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
	second := r.Attempts
	if r.State == Done { // attempts are of no use any more
		second = byte(r.End)
	}
	b = append(b, state, second)
	b = binary.AppendUvarint(b, uint64(r.Run))
	switch r.State {
	case Waiting:
		b = binary.BigEndian.AppendUint16(b, r.Position.Priority)
		b = binary.AppendUvarint(b, r.Position.Counter)
	case Delayed:
		b = binary.AppendVarint(b, r.Due)
	}
	b = r.Scores.append(b)
	b = codec.AppendText(b, r.Path)
	b = appendURL(b, r.URL)
	b = appendBeside(b, r.Via, r.URL)
	if state&hasVisit != 0 {
		for _, s := range []string{r.Visit.ETag, r.Visit.LastModified, r.visited(), r.Visit.URL} {
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
	if r.Recheck.Interval > 0 { // the first byte has no bit left: what stands behind all others is this
		b = binary.AppendUvarint(b, uint64(r.Recheck.Interval))
		b = binary.AppendVarint(b, r.Recheck.Asked)
	}
	return b
}

// Decode reads what Encode has written. The record keeps nothing of b.
func Decode(b []byte) (Record, error) {
	c := codec.NewCursor(b)
	head, r := decodeState(&c)
	r.Scores = decodeScores(&c)
	r.Path = c.Text()
	var okURL, okVia bool
	r.URL, okURL = decodeURL(&c)
	r.Via, okVia = decodeBeside(&c, r.URL)
	r.decodeOptional(&c, head)
	if !okURL || !okVia || !c.Done() {
		return Record{}, errRecord
	}
	return r, nil
}

// decodeState reads what comes before the scores.
func decodeState(c *codec.Cursor) (head byte, r Record) {
	head = c.Uint8()
	second := c.Uint8()
	switch r.State = State(head & stateBits); r.State {
	case 0:
		r.State = Trapped
		r.Attempts = second
	case Done:
		r.End = End(second)
	default:
		r.Attempts = second
	}
	r.Run = uint32(c.Uvarint())
	switch r.State {
	case Waiting:
		r.Position.Priority = c.Uint16()
		r.Position.Counter = c.Uvarint()
	case Delayed:
		r.Due = c.Varint()
	}
	return head, r
}

// decodeOptional reads what the head says that there is.
func (r *Record) decodeOptional(c *codec.Cursor, head byte) {
	if head&hasVisit != 0 && !c.Bad() {
		r.Visit = crawl.Visit{ETag: c.Text(), LastModified: c.Text(), Digest: c.Text(), URL: c.Text()}
		r.Visit.Date = time.Unix(c.Varint(), 0).UTC()
		r.splitVisited(r.Visit.Digest)
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
	if !c.Done() && !c.Bad() {
		r.Recheck.Interval = int64(min(c.Uvarint(), math.MaxInt64))
		r.Recheck.Asked = c.Varint()
	}
}

// append writes the scores: the count, doubled, and one more if all are one number, as those of a single link; then that number,
// or each.
func (a *Scores) append(b []byte) []byte {
	first := math.Float32bits(a.First)
	all := [...]uint32{first, math.Float32bits(a.Sum), math.Float32bits(a.Max), math.Float32bits(a.Last)}
	if all == [...]uint32{first, first, first, first} {
		b = binary.AppendUvarint(b, uint64(a.Count)<<1|1)
		return binary.BigEndian.AppendUint32(b, first)
	}
	b = binary.AppendUvarint(b, uint64(a.Count)<<1)
	for _, bits := range all {
		b = binary.BigEndian.AppendUint32(b, bits)
	}
	return b
}

func decodeScores(c *codec.Cursor) (a Scores) {
	head := c.Uvarint()
	a.Count, a.First = uint32(head>>1), c.Float32()
	if head&1 != 0 {
		a.Sum, a.Max, a.Last = a.First, a.First, a.First
	} else {
		a.Sum, a.Max, a.Last = c.Float32(), c.Float32(), c.Float32()
	}
	return a
}

// starts are how URLs begin, each before those that it begins with. They are part of the format.
var starts = [...]string{"https://www.", "http://www.", "https://", "http://", ""}

// appendURL writes the number of the start of a URL, and the rest.
func appendURL(b []byte, url string) []byte {
	i := slices.IndexFunc(starts[:], func(start string) bool { return strings.HasPrefix(url, start) })
	return codec.AppendText(append(b, byte(i)), url[len(starts[i]):])
}

func decodeURL(c *codec.Cursor) (url string, ok bool) {
	i := int(c.Uint8())
	rest := c.Bytes(c.Uvarint())
	if i >= len(starts) {
		return "", false
	}
	return starts[i] + string(rest), true
}

// appendBeside writes a text that often begins as another does, which is read before it: how many bytes they share, and the rest.
// Nineteen of twenty links lead to another page of their PLD.
func appendBeside(b []byte, text, other string) []byte {
	n := 0
	for n < min(len(text), len(other)) && text[n] == other[n] {
		n++
	}
	return codec.AppendText(binary.AppendUvarint(b, uint64(n)), text[n:])
}

func decodeBeside(c *codec.Cursor, other string) (text string, ok bool) {
	n := c.Uvarint()
	rest := c.Bytes(c.Uvarint())
	if n > uint64(len(other)) {
		return "", false
	}
	return other[:n] + string(rest), true
}

// What stands behind the payload digest of a visit: before its Shown, and if it is Partial.
const (
	shownBy   = " shown:"
	isPartial = " partial"
)

// visited is the payload digest of the visit with the number of its archive, and with what is known of its opening.
func (r *Record) visited() string {
	text := r.Visit.Digest
	if r.Visit.Partial {
		text += isPartial
	}
	if r.Visit.Shown != 0 {
		text += shownBy + strconv.FormatUint(r.Visit.Shown, 16)
	}
	return Digest(r.Archive, text)
}

func (r *Record) splitVisited(text string) {
	r.Archive, r.Visit.Digest = SplitDigest(text)
	if digest, shown, ok := strings.Cut(r.Visit.Digest, shownBy); ok {
		r.Visit.Digest = digest
		r.Visit.Shown, _ = strconv.ParseUint(shown, 16, 64)
	}
	r.Visit.Digest, r.Visit.Partial = strings.CutSuffix(r.Visit.Digest, isPartial)
}

// Digest is a payload digest with the number of its archive before it. The digests of the first archive stand alone, as
// they did when a crawl had one archive only.
func Digest(archive int, digest string) string {
	if archive == 0 && !strings.Contains(digest, " ") {
		return digest
	}
	return strconv.Itoa(archive) + " " + digest
}

// SplitDigest is the archive and the digest that Digest was made of.
func SplitDigest(text string) (archive int, digest string) {
	number, digest, ok := strings.Cut(text, " ")
	if !ok {
		return 0, text
	}
	archive, _ = strconv.Atoi(number)
	return archive, digest
}

package bleve

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/muninn-archive/muninn/internal/search"
)

// order is what a document's place among others depends on, beside its texts. Documents have it as a value that is read while they are
// collected; the form is ordered by time, and has no byte that bleve takes for the end of a value.
type order struct {
	seconds int64 // date of the capture, since 1970
	score   float64
	url     uint64 // hash of the URL, urlBits long
	tie     uint32 // hash of the ID, which makes the order of all others exact
}

const (
	orderBytes  = 22
	urlBits     = 40
	secondsBias = 1 << 39 // dates before 1970 are positive, too
)

func orderOf(id string, d *search.Document) order {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return order{d.Date.Unix(), d.Score, hashURL(d.URL), h.Sum32()}
}

func hashURL(url string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url))
	return h.Sum64() >> (64 - urlBits)
}

// ordered is base64 with an alphabet in the order of bytes.
var ordered = base64.NewEncoding("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz").WithPadding(base64.NoPadding)

func (o order) encode() string {
	var b [orderBytes]byte
	seconds := uint64(max(0, min(o.seconds+secondsBias, 1<<40-1)))
	binary.BigEndian.PutUint64(b[0:], seconds<<24)
	binary.BigEndian.PutUint32(b[5:], o.tie)
	binary.BigEndian.PutUint64(b[9:], math.Float64bits(o.score))
	b[17] = byte(o.url >> 32)
	binary.BigEndian.PutUint32(b[18:], uint32(o.url))
	return ordered.EncodeToString(b[:])
}

// decodeOrder reads what encode has written.
func decodeOrder(value []byte) (o order, ok bool) {
	var b [orderBytes]byte
	if n, err := ordered.Decode(b[:], value); err != nil || n != orderBytes {
		return o, false
	}
	o.seconds = int64(binary.BigEndian.Uint64(b[0:])>>24) - secondsBias
	o.tie = binary.BigEndian.Uint32(b[5:])
	o.score = math.Float64frombits(binary.BigEndian.Uint64(b[9:]))
	o.url = uint64(b[17])<<32 | uint64(binary.BigEndian.Uint32(b[18:]))
	return o, true
}

package coding

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
)

// Gunzip decodes bodies that lie in memory as one whole gzip member (RFC 1952), as nearly all do that a server zips: it
// takes half the time of a reader, which must be able to stop at any byte. What it does not take, because it is cut off,
// damaged, long or in several members, a reader has to decode. It keeps its tables and is for one body at a time.
type Gunzip struct {
	in       []byte // the body, and padding zeros behind it
	at       int    // in the body, behind what acc holds
	acc      uint64 // bits that are not decoded, the next one lowest; those above n are repeated by the next refill
	n        uint
	out      []byte // the content, with room behind it
	o        int
	literals []step // see table
	offsets  []step
	lengths  [maxLiterals + maxOffsets]uint8
}

// MaxWhole is the longest body that Gunzip takes, in bytes.
const MaxWhole = 1 << 20

const (
	header  = 10
	trailer = 8
	// padding is how far behind the body a refill may read.
	padding = 8
	// slack is how much the loop may write behind the content before it looks: three literals, the longest match, and the
	// rest of a copy of 8 bytes at a time.
	slack = 3 + 258 + 7
	// maxRatio is more than DEFLATE can compress: a length that claims more is a lie.
	maxRatio = 1032
)

// Append appends the content of a body to dst. It returns false, and dst as it was, if the body is not one whole gzip member
// without a name, or if its content is longer than limit bytes.
func (g *Gunzip) Append(dst []byte, body io.Reader, limit int) ([]byte, bool) {
	if !g.read(body) {
		return dst, false
	}
	end := len(g.in) - padding - trailer
	if end < header || string(g.in[:4]) != "\x1f\x8b\x08\x00" {
		return dst, false
	}
	sum, size := binary.LittleEndian.Uint32(g.in[end:]), int(binary.LittleEndian.Uint32(g.in[end+4:]))
	if size > limit || size > maxRatio*end {
		return dst, false
	}
	had := len(dst)
	dst = slices.Grow(dst, size+slack)
	g.out = dst[had : had+size+slack]
	ok := g.inflate(header, end, size) && crc32.ChecksumIEEE(g.out[:size]) == sum
	g.out = nil
	if !ok {
		return dst[:had], false
	}
	return dst[:had+size], true
}

// read reads the body; false if it is too long, or cannot be read.
func (g *Gunzip) read(body io.Reader) bool {
	g.in = g.in[:0]
	for {
		g.in = slices.Grow(g.in, 4<<10)
		n, err := body.Read(g.in[len(g.in):cap(g.in)])
		g.in = g.in[:len(g.in)+n]
		switch {
		case len(g.in) > MaxWhole:
			return false
		case errors.Is(err, io.EOF):
			g.in = append(g.in, make([]byte, padding)...)
			return true
		case err != nil:
			return false
		}
	}
}

// inflate decodes a DEFLATE stream (RFC 1951) that fills the body from start to end, and has size bytes of content.
func (g *Gunzip) inflate(start, end, size int) bool {
	g.at, g.acc, g.n, g.o = start, 0, 0, 0
	for final := false; !final; {
		if !g.refill() {
			return false
		}
		final = g.take(1) == 1
		ok := false
		switch g.take(2) {
		case 0:
			ok = g.stored(end, size)
		case 1:
			ok = g.fixedTables() && g.block(size)
		case 2:
			ok = g.dynamicTables() && g.block(size)
		}
		if !ok {
			return false
		}
	}
	return g.at-int(g.n>>3) == end && g.o == size
}

// refill loads bits until there are 56 at least; false if it would read behind the padding.
func (g *Gunzip) refill() bool {
	if g.at > len(g.in)-8 {
		return false
	}
	g.acc |= binary.LittleEndian.Uint64(g.in[g.at:]) << (g.n & 63)
	g.at += int(63-g.n) >> 3
	g.n |= 56
	return true
}

// take takes some of the bits that are there.
func (g *Gunzip) take(n uint) uint {
	v := uint(g.acc) & (1<<n - 1)
	g.acc >>= n & 63
	g.n -= n
	return v
}

// stored copies a block that is not compressed (RFC 1951 §3.2.4).
func (g *Gunzip) stored(end, size int) bool {
	at := g.at - int(g.n>>3)
	g.acc, g.n = 0, 0
	if at+4 > end {
		return false
	}
	n, check := binary.LittleEndian.Uint16(g.in[at:]), binary.LittleEndian.Uint16(g.in[at+2:])
	at += 4
	if n != ^check || at+int(n) > end || g.o+int(n) > size {
		return false
	}
	copy(g.out[g.o:], g.in[at:at+int(n)])
	g.at, g.o = at+int(n), g.o+int(n)
	return true
}

// block decodes a compressed block by the tables.
func (g *Gunzip) block(size int) bool {
	in, out, o := g.in, g.out, g.o
	at, acc, n := g.at, g.acc, g.n
	literals, offsets := (*[1 << literalBits]step)(g.literals), (*[1 << offsetBits]step)(g.offsets)
	last := len(in) - 8
	for {
		if at > last || o > size {
			return false
		}
		acc |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
		at += int(63-n) >> 3
		n |= 56
		// two literals at most leave 36 bits: enough for a length
		s := literals[acc&(1<<literalBits-1)]
		if s&literal != 0 {
			acc, n = acc>>(s&15), n-uint(s&15)
			out[o] = byte(s >> 16)
			o++
			s = literals[acc&(1<<literalBits-1)]
			if s&literal != 0 {
				acc, n = acc>>(s&15), n-uint(s&15)
				out[o] = byte(s >> 16)
				o++
				s = literals[acc&(1<<literalBits-1)]
			}
		}
		if s&link != 0 {
			s = g.literals[int(s>>16)+int(acc>>literalBits&(1<<(s&15)-1))]
		}
		acc, n = acc>>(s&15), n-uint(s&15)
		if s&literal != 0 {
			out[o] = byte(s >> 16)
			o++
			continue
		}
		if s&(stop|invalid) != 0 {
			g.at, g.acc, g.n, g.o = at, acc, n, o
			return s&stop != 0
		}
		extra := uint(s >> 8 & 15)
		length := int(s>>16) + int(acc&(1<<extra-1))
		acc, n = acc>>extra, n-extra
		if n < 15+13 {
			if at > last {
				return false
			}
			acc |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
			at += int(63-n) >> 3
			n |= 56
		}
		s = offsets[acc&(1<<offsetBits-1)]
		if s&link != 0 {
			s = g.offsets[int(s>>16)+int(acc>>offsetBits&(1<<(s&15)-1))]
		}
		acc, n = acc>>(s&15), n-uint(s&15)
		extra = uint(s >> 8 & 15)
		from := o - int(s>>16) - int(acc&(1<<extra-1))
		acc, n = acc>>extra, n-extra
		if s&invalid != 0 || from < 0 || o+length > size {
			return false
		}
		switch distance := o - from; {
		case distance >= length && length > 32:
			copy(out[o:o+length], out[from:])
		case distance >= 8:
			for i := 0; i < length; i += 8 {
				binary.LittleEndian.PutUint64(out[o+i:], binary.LittleEndian.Uint64(out[from+i:]))
			}
		default: // what is copied is copied again
			for i := range length {
				out[o+i] = out[from+i]
			}
		}
		o += length
	}
}

// A step says what bits mean: a code of so many bits (the lowest 4), what it is, how many further bits it has (bits 8 to
// 11), and the literal, or the length or distance to which these are added (from bit 16 on). Of a link, it says how many
// bits the table behind it has, and where that begins.
type step uint32

const (
	literal step = 1 << (4 + iota)
	link         // the code is longer than the table is wide
	stop         // the end of the block
	invalid
)

const (
	literalBits = 9
	offsetBits  = 8
	maxLiterals = 288
	maxOffsets  = 32
	maxCode     = 15 // bits
)

// table makes the table of a code by the lengths of its words, which meanings[i] is what the i-th means. It looks up so
// many bits at once; behind those steps are the tables of the words that are longer. It returns false if the code is not
// complete: no two words begin alike, and each sequence of bits begins with one.
func table(into []step, width int, lengths []uint8, meanings []step) ([]step, bool) {
	var count, next [maxCode + 2]int
	longest := 0
	for _, n := range lengths {
		count[n]++
		longest = max(longest, int(n))
	}
	count[0] = 0
	code := 0
	for n := 1; n <= longest; n++ {
		next[n] = code
		code = (code + count[n]) << 1
	}
	if code > 2<<longest || code < 2<<longest && longest > 1 {
		return into, false
	}
	into = slices.Grow(into[:0], 1<<width)[:1<<width]
	if code < 2<<longest {
		for i := range into {
			into[i] = invalid | 1
		}
	}
	beyond := max(longest-width, 0)
	if beyond > 0 {
		clear(into)
	}
	for i, l := range lengths {
		if l == 0 {
			continue
		}
		n := int(l)
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		s := meanings[i] | step(n)
		if n <= width {
			for at := reversed; at < 1<<width; at += 1 << n {
				into[at] = s
			}
			continue
		}
		first := &into[reversed&(1<<width-1)]
		if *first == 0 {
			*first = step(len(into))<<16 | link | step(beyond)
			into = append(into, make([]step, 1<<beyond)...)
		}
		start := int(into[reversed&(1<<width-1)] >> 16)
		for at := reversed >> width; at < 1<<beyond; at += 1 << (n - width) {
			into[start+at] = s
		}
	}
	return into, true
}

// fixedTables makes those of RFC 1951 §3.2.6.
func (g *Gunzip) fixedTables() bool {
	lengths := g.lengths[:maxLiterals]
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	for i := range maxOffsets {
		g.lengths[maxLiterals+i] = 5
	}
	return g.tables(maxLiterals, maxOffsets)
}

// tables makes both tables by their lengths, of which the one begins where the other ends.
func (g *Gunzip) tables(literals, offsets int) (ok bool) {
	if g.literals, ok = table(g.literals, literalBits, g.lengths[:literals], literalMeanings[:]); !ok {
		return false
	}
	g.offsets, ok = table(g.offsets, offsetBits, g.lengths[literals:literals+offsets], offsetMeanings[:])
	return ok
}

// codeOrder is the order of the lengths of the code that lengths are written in (RFC 1951 §3.2.7).
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codeBits is the longest word of that code.
const codeBits = 7

// dynamicTables reads the tables of a block (RFC 1951 §3.2.7). 17 bits were refilled for its header at least.
func (g *Gunzip) dynamicTables() bool {
	literals, offsets, codes := int(g.take(5))+257, int(g.take(5))+1, int(g.take(4))+4
	var lengths [19]uint8
	for i := range codes {
		if g.n < 3 && !g.refill() {
			return false
		}
		lengths[codeOrder[i]] = uint8(g.take(3))
	}
	var ok bool
	if g.literals, ok = table(g.literals, codeBits, lengths[:], lengthMeanings[:]); !ok || literals > 286 || offsets > 30 {
		return false
	}
	for i := 0; i < literals+offsets; {
		if g.n < codeBits+7 && !g.refill() {
			return false
		}
		s := g.literals[g.acc&(1<<codeBits-1)]
		g.take(uint(s & 15))
		n, repeat := uint8(0), 1
		switch what := s >> 16; what {
		case 16:
			if repeat = 3 + int(g.take(2)); i == 0 {
				return false
			}
			n = g.lengths[i-1]
		case 17:
			repeat = 3 + int(g.take(3))
		case 18:
			repeat = 11 + int(g.take(7))
		default:
			n = uint8(what)
		}
		if i+repeat > literals+offsets {
			return false
		}
		for range repeat {
			g.lengths[i] = n
			i++
		}
	}
	return g.tables(literals, offsets)
}

// What the words of the codes mean (RFC 1951 §3.2.5).
var (
	literalMeanings = func() (list [maxLiterals]step) {
		for c := range 256 {
			list[c] = step(c)<<16 | literal
		}
		list[256] = stop
		base := 3
		for i := 257; i < 285; i++ {
			extra := max((i-261)/4, 0)
			list[i] = step(base)<<16 | step(extra)<<8
			base += 1 << extra
		}
		list[285] = 258 << 16
		list[286], list[287] = invalid, invalid
		return list
	}()
	offsetMeanings = func() (list [maxOffsets]step) {
		base := 1
		for i := range 30 {
			extra := max(i/2-1, 0)
			list[i] = step(base)<<16 | step(extra)<<8
			base += 1 << extra
		}
		list[30], list[31] = invalid, invalid
		return list
	}()
	lengthMeanings = func() (list [19]step) {
		for i := range list {
			list[i] = step(i) << 16
		}
		return list
	}()
)

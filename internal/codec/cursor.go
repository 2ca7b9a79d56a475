package codec

import (
	"encoding/binary"
	"math"
)

// Cursor reads the parts of a value that was written by hand. After the first fault Done returns false and what is read is
// meaningless, so that a decoder checks once, at its end, and wherever a count that it read bounds a loop.
type Cursor struct {
	rest []byte
	bad  bool
}

// NewCursor reads from the start of a value; Bytes and Text do not outlive it.
func NewCursor(raw []byte) Cursor { return Cursor{rest: raw} }

// Bad reports whether a part was missing or malformed.
func (c *Cursor) Bad() bool { return c.bad }

// Done reports whether all was read, without a fault.
func (c *Cursor) Done() bool { return !c.bad && len(c.rest) == 0 }

// Bytes returns the next n bytes, a part of the value itself; after a fault, as many zero bytes, at most 8.
func (c *Cursor) Bytes(n uint64) []byte {
	if c.bad || n > uint64(len(c.rest)) {
		c.bad = true
		return make([]byte, min(n, 8))
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

// Uvarint reads what binary.AppendUvarint wrote.
func (c *Cursor) Uvarint() uint64 { return varint(c, binary.Uvarint) }

// Varint reads what binary.AppendVarint wrote.
func (c *Cursor) Varint() int64 { return varint(c, binary.Varint) }

func varint[T uint64 | int64](c *Cursor, read func([]byte) (T, int)) T {
	v, n := read(c.rest)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// Uint8 reads a byte.
func (c *Cursor) Uint8() byte { return c.Bytes(1)[0] }

// Uint16, Uint32 and Uint64 read big-endian numbers.
func (c *Cursor) Uint16() uint16 { return binary.BigEndian.Uint16(c.Bytes(2)) }
func (c *Cursor) Uint32() uint32 { return binary.BigEndian.Uint32(c.Bytes(4)) }
func (c *Cursor) Uint64() uint64 { return binary.BigEndian.Uint64(c.Bytes(8)) }

// Float32 reads a big-endian number.
func (c *Cursor) Float32() float32 { return math.Float32frombits(c.Uint32()) }

// LittleUint32, LittleFloat32 and LittleFloat64 read little-endian numbers.
func (c *Cursor) LittleUint32() uint32   { return binary.LittleEndian.Uint32(c.Bytes(4)) }
func (c *Cursor) LittleFloat32() float32 { return math.Float32frombits(c.LittleUint32()) }
func (c *Cursor) LittleFloat64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(c.Bytes(8)))
}

// Text reads what AppendText wrote.
func (c *Cursor) Text() string { return string(c.Bytes(c.Uvarint())) }

// AppendText appends a text with its length before it.
func AppendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// Values are read back unchanged: times to the nanosecond, texts that are not UTF-8, and long lists.
func TestCBOR(t *testing.T) {
	type kept struct {
		At   time.Time
		Text string
		List []int
	}
	was := kept{time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), "caf\xe9", make([]int, 200_000)}
	raw, err := Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	var got kept
	if err := Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if !got.At.Equal(was.At) || got.Text != was.Text || len(got.List) != len(was.List) {
		t.Errorf("%v, %q, %d elements", got.At, got.Text, len(got.List))
	}
}

func TestCursor(t *testing.T) {
	raw := binary.AppendUvarint([]byte{7}, 300)
	raw = binary.AppendVarint(raw, -5)
	raw = binary.BigEndian.AppendUint16(raw, 1)
	raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(0.5))
	raw = binary.BigEndian.AppendUint64(raw, 9)
	raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(0.25))
	raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(0.75))
	raw = AppendText(AppendText(raw, "raven"), []byte("s"))
	read := func(raw []byte) (Cursor, bool) {
		c := NewCursor(raw)
		same := c.Uint8() == 7
		same = c.Uvarint() == 300 && same
		same = c.Varint() == -5 && same
		same = c.Uint16() == 1 && same
		same = c.Float32() == 0.5 && same
		same = c.Uint64() == 9 && same
		same = c.LittleFloat32() == 0.25 && same
		same = c.LittleFloat64() == 0.75 && same
		same = c.Text() == "raven" && same
		return c, bytes.Equal(c.Bytes(c.Uvarint()), []byte("s")) && same
	}
	if c, same := read(raw); !same || !c.Done() || c.Bad() {
		t.Errorf("read back: same %v, done %v, bad %v", same, c.Done(), c.Bad())
	}
	for n := range raw {
		if c, _ := read(raw[:n]); !c.Bad() || c.Done() {
			t.Errorf("cut off after %d bytes it is not bad", n)
		}
	}
	if c, _ := read(append(raw, 0)); c.Done() {
		t.Error("a byte behind the end is not noticed")
	}
}

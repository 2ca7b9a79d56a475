package illustrated

import (
	"bytes"
	"encoding/binary"
)

// font is a TrueType font in which every letter is the same box, with the given advance in thousandths of its size: a text in it has
// another width than in any other font.
func font(advance uint16) []byte {
	glyphs := [][]byte{nil, box(advance)}
	tables := []table{
		{"OS/2", os2(advance)},
		{"cmap", cmap()},
		{"glyf", bytes.Join(glyphs, nil)},
		{"head", head()},
		{"hhea", words(1, 0, 800, 0xff38, 0, advance, 0, 0, advance, 1, 0, 0, 0, 0, 0, 0, 0, 2)},
		{"hmtx", words(advance, 0, advance, 50)},
		{"loca", words(0, 0, uint16(len(glyphs[1])/2))},
		{"maxp", words(1, 0, 2, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"name", words(0, 0, 6)},
		{"post", words(3, 0, 0, 0, 0xff9c, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
	}
	return assemble(tables)
}

type table struct {
	tag  string
	data []byte
}

// words are numbers of two bytes.
func words(list ...uint16) (out []byte) {
	for _, n := range list {
		out = binary.BigEndian.AppendUint16(out, n)
	}
	return out
}

// assemble puts the tables of a font, which are in the order of their tags, behind a directory.
func assemble(tables []table) []byte {
	const entries = 8 // the greatest power of two that is no more than their number
	n := uint16(len(tables))
	out := append([]byte{0, 1, 0, 0}, words(n, entries*16, 3, n*16-entries*16)...)
	at := len(out) + 16*len(tables)
	var data []byte
	for _, t := range tables {
		padded := append(bytes.Clone(t.data), make([]byte, -len(t.data)&3)...)
		out = append(out, t.tag...)
		for _, v := range []uint32{checksum(padded), uint32(at), uint32(len(t.data))} {
			out = binary.BigEndian.AppendUint32(out, v)
		}
		data = append(data, padded...)
		at += len(padded)
	}
	out = append(out, data...)
	i := bytes.Index(out, []byte(headMagic)) - 4
	binary.BigEndian.PutUint32(out[i:], 0xb1b0afba-checksum(out))
	return out
}

func checksum(data []byte) (sum uint32) {
	for ; len(data) >= 4; data = data[4:] {
		sum += binary.BigEndian.Uint32(data)
	}
	return sum
}

const headMagic = "\x5f\x0f\x3c\xf5"

// head has 1,000 units to the size of a letter, and a checksum that is filled in later.
func head() []byte {
	out := append(words(1, 0, 1, 0, 0, 0), headMagic...)
	out = append(out, words(11, 1000)...)
	out = append(out, make([]byte, 16)...) // the times at which it was made and changed
	return append(out, words(0, 0, 1000, 700, 0, 8, 2, 0, 0)...)
}

// box is a glyph of one rectangle.
func box(advance uint16) []byte {
	right := advance - 100
	out := words(1, 50, 0, right, 700, 3, 0) // one contour, its bounds, its last point, no instructions
	out = append(out, 1, 1, 1, 1)            // four points on the curve
	out = append(out, words(50, 0, right-50, 0)...)
	out = append(out, words(0, 700, 0, -700&0xffff)...)
	return append(out, make([]byte, -len(out)&3)...)
}

// cmap gives the printable characters of ASCII the box.
func cmap() []byte {
	const first, last = 0x21, 0x7e
	count := uint16(last - first + 1)
	out := words(0, 1, 3, 1, 0, 12) // one table: Windows, Unicode
	out = append(out, words(4, 32+2*count, 0, 4, 4, 1, 0, last, 0xffff, 0, first, 0xffff, 0, 1, 4, 0)...)
	for range count {
		out = append(out, 0, 1)
	}
	return out
}

func os2(advance uint16) []byte {
	out := words(3, advance, 400, 5, 0, 650, 700, 0, 140, 650, 700, 0, 480, 50, 250, 0)
	out = append(out, make([]byte, 10)...)              // PANOSE
	out = append(out, 0, 0, 0, 1)                       // Latin
	out = append(out, make([]byte, 12)...)              // no other range
	out = append(out, "NONE"...)                        // no vendor
	out = append(out, words(0x40, 0x21, 0x7e, 800)...)  // regular, first and last character, ascender
	out = append(out, words(0xff38, 0, 900, 200, 0)...) // descender, gap, of Windows; the first half of the code pages
	return append(out, words(1, 0, 0, 500, 700, 0, 0x20, 0)...)
}

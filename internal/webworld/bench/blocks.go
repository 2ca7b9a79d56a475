package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/flate"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// block is a part of many pages with its deflate stream. The stream refers to nothing before it and ends at a byte
// boundary, so that streams can be concatenated.
type block struct {
	raw, deflated []byte
}

const (
	benchPool       = 2000 // blocks and titles for each side
	benchParagraphs = 5    // a block
)

// prepare writes the titles and compresses the blocks.
func (be *bench) prepare(b *webworld.Builder) {
	z, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		b.Err = err
		return
	}
	sides := [2][]webworld.Subject{{webworld.Cooking, webworld.TheWorld}, {webworld.Ravens, webworld.Norse}}
	for side, subjects := range sides {
		for i := range benchPool {
			r := webworld.Random(be.seed, fmt.Sprintf("bench %d %d", side, i))
			s := subjects[i%2]
			t := b.Text.Title(r, s)
			be.titles[side] = append(be.titles[side], benchTitle{text: t, slug: webworld.Slug(t)})
			var raw bytes.Buffer
			for j, p := range b.Text.Paragraphs(r, s, benchParagraphs) {
				fmt.Fprintf(&raw, "<p class=\"text\" id=\"p%d-%d\">%s</p>\n", i, j, p)
			}
			be.blocks[side] = append(be.blocks[side], compressed(b, z, raw.Bytes()))
		}
	}
	be.tail = compressed(b, z, []byte("</article>\n<footer><p>Muninn bench world</p></footer>\n</body>\n</html>\n"))
}

// compressed makes a block; an error is the builder's.
func compressed(b *webworld.Builder, z *flate.Writer, raw []byte) block {
	var out bytes.Buffer
	z.Reset(&out)
	_, err := z.Write(raw)
	if err == nil {
		err = z.Flush()
	}
	if err != nil && b.Err == nil {
		b.Err = err
	}
	return block{raw: raw, deflated: out.Bytes()}
}

func plain(head []byte, blocks []block) [][]byte {
	pieces := [][]byte{head}
	for _, b := range blocks {
		pieces = append(pieces, b.raw)
	}
	return pieces
}

// zipped makes the gzip file of a page (RFC 1952). It compresses only head, at a fast level.
func zipped(head []byte, blocks []block) [][]byte {
	start := bytes.NewBuffer(make([]byte, 0, 4<<10))
	start.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
	if err := flate.StatelessDeflate(start, head, false, nil); err != nil {
		return nil // a buffer takes all
	}
	sum, size := crc32.ChecksumIEEE(head), len(head)
	pieces := [][]byte{nil}
	for _, b := range blocks {
		sum = crc32.Update(sum, crc32.IEEETable, b.raw)
		size += len(b.raw)
		pieces = append(pieces, b.deflated)
	}
	pieces[0] = start.Bytes()
	end := []byte{3, 0} // an empty final block
	end = binary.LittleEndian.AppendUint32(end, sum)
	return append(pieces, binary.LittleEndian.AppendUint32(end, uint32(size)))
}

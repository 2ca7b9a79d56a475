package crawl

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unsafe"
)

// Place locates a text in a page, so that the archive can keep the place instead of the text, which the WARC record of the
// page has already. Sum reports whether what a reader finds there is what was extracted.
type Place struct {
	// At is the element that the text is below: a child sequence of the element() scheme of XPointer (W3C Recommendation,
	// 2003), such as /1/2/3, over the tree that the HTML standard's parser builds, scripting disabled; "/" is the whole
	// page. As XPath it is /*[1]/*[2]/*[3].
	At string `json:"at,omitempty"`
	// Without are the elements below At that do not belong to the text.
	Without []string `json:"without,omitempty"`
	// Blocks are the numbers of the text blocks (Page.Blocks) that the text is made of; then At is empty.
	Blocks []int  `json:"blocks,omitempty"`
	Limit  int    `json:"limit"`            // in bytes; text and markup are cut off behind so many
	Bytes  int    `json:"bytes,omitempty"`  // of the text
	Sum    string `json:"sha256,omitempty"` // of the text: see SumOf; empty if there is only markup
}

// SumOf is the first 64 bits of the SHA-256 of a text, in hexadecimal digits.
func SumOf(text string) string {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text))) // it reads; a copy would be as large as the page's text
	return hex.EncodeToString(sum[:8])
}

// Append appends the place as encoding/json would write it.
func (p *Place) Append(b []byte) []byte {
	b = append(b, '{')
	if p.At != "" {
		b = append(AppendString(append(b, "\"at\":"...), p.At), ',')
	}
	if len(p.Without) > 0 {
		b = append(b, "\"without\":["...)
		for _, w := range p.Without {
			b = append(AppendString(b, w), ',')
		}
		b = append(b[:len(b)-1], ']', ',')
	}
	if len(p.Blocks) > 0 {
		b = append(b, "\"blocks\":["...)
		for _, n := range p.Blocks {
			b = append(strconv.AppendInt(b, int64(n), 10), ',')
		}
		b = append(b[:len(b)-1], ']', ',')
	}
	b = strconv.AppendInt(append(b, "\"limit\":"...), int64(p.Limit), 10)
	if p.Bytes != 0 {
		b = strconv.AppendInt(append(b, ",\"bytes\":"...), int64(p.Bytes), 10)
	}
	if p.Sum != "" {
		b = AppendString(append(b, ",\"sha256\":"...), p.Sum)
	}
	return append(b, '}')
}

package robots

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// byteOrderMarks are the byte order marks, the longer ones first.
var byteOrderMarks = []struct {
	mark  string
	coded encoding.Encoding // nil: UTF-8
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"\xef\xbb\xbf", nil},
}

// utf8Text is the text in UTF-8 without its byte order mark.
func utf8Text(body []byte) []byte {
	for _, m := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(body, []byte(m.mark)); ok {
			return decode(rest, m.coded)
		}
	}
	if order, ok := utf16Order(body); ok {
		return decode(body, unicode.UTF16(order, unicode.IgnoreBOM))
	}
	return body
}

func decode(body []byte, from encoding.Encoding) []byte {
	if from == nil {
		return body
	}
	text, err := from.NewDecoder().Bytes(body) // what is no character becomes U+FFFD
	if err != nil {
		return body
	}
	return text
}

// utf16Order detects UTF-16 without a byte order mark: the keys of a robots.txt are ASCII, so that every other byte at its start is
// mostly zero.
func utf16Order(body []byte) (unicode.Endianness, bool) {
	head := body[:min(len(body), 512)&^1]
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	pairs := len(head) / 2
	switch {
	case pairs > 0 && zeros[0]*10 >= pairs*6 && zeros[1]*10 < pairs:
		return unicode.BigEndian, true
	case pairs > 0 && zeros[1]*10 >= pairs*6 && zeros[0]*10 < pairs:
		return unicode.LittleEndian, true
	}
	return unicode.BigEndian, false
}

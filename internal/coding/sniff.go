package coding

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// isGzip knows a gzip member by its first three bytes (RFC 1952 §2.3.1).
func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b\x08")) }

// isZlib knows a zlib header by its method and its check bits (RFC 1950 §2.2). Other servers send deflate without it.
func isZlib(head []byte) bool {
	return len(head) >= 2 && head[0]&0x0f == 8 && binary.BigEndian.Uint16(head)%31 == 0
}

// Field is the Content-Encoding of a body for which the header names none: gzip if it begins like that, as files do
// that are packed on the server's disk.
func Field(head []byte) string {
	if isGzip(head) {
		return "gzip"
	}
	return ""
}

// isText distinguishes plain text from compressed data: it has a byte order mark; or no byte that stands in no text (WHATWG
// MIME Sniffing §3, "binary data byte"), and it is UTF-8 or mostly ASCII. Of compressed data two bytes in five are
// printable ASCII.
func isText(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	ascii := 0
	for _, c := range head {
		switch {
		case c <= 0x08 || c == 0x0b || c >= 0x0e && c <= 0x1a || c >= 0x1c && c <= 0x1f:
			return false
		case c < 0x80:
			ascii++
		}
	}
	return ascii*4 >= len(head)*3 || validUTF8(head)
}

// validUTF8 passes over a last character that is cut off.
func validUTF8(head []byte) bool {
	for i := 0; i < utf8.UTFMax && i < len(head); i++ {
		if utf8.Valid(head[:len(head)-i]) {
			return true
		}
	}
	return false
}

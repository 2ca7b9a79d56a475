package archivecheck

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// message is an HTTP message as it stands on the wire.
type message struct {
	status  int // 0 for a request
	headers Headers
	body    []byte // what follows the header block, transfer coding included
	whole   bool   // the header block has its end
}

// parseResponse reads the head of an HTTP response. Heads come from servers, so lines may end with a
// bare LF and header lines that make no sense are passed over; the status line must be one, but servers may send a status
// that HTTP does not have: 0 if it is not a number of up to three digits.
func parseResponse(block []byte) (message, error) {
	line, rest, _ := bytes.Cut(block, []byte("\n"))
	m := message{}
	version, after, _ := strings.Cut(strings.TrimRight(string(line), "\r"), " ")
	code, _, _ := strings.Cut(after, " ")
	if !isHTTPVersion(version) {
		return m, fmt.Errorf("%q is not an HTTP status line", clip(line))
	}
	if len(code) <= 3 && isDigits(code) {
		m.status, _ = strconv.Atoi(code)
	}
	m.readHead(rest)
	return m, nil
}

// parseRequest reads the head of an HTTP request: method, target, version, header fields.
func parseRequest(block []byte) (message, error) {
	line, rest, _ := bytes.Cut(block, []byte("\n"))
	m := message{}
	parts := strings.Split(strings.TrimRight(string(line), "\r"), " ")
	if len(parts) != 3 || !isToken(parts[0]) || parts[1] == "" || !isHTTPVersion(parts[2]) {
		return m, fmt.Errorf("%q is not an HTTP request line", clip(line))
	}
	m.readHead(rest)
	return m, nil
}

func (m *message) readHead(rest []byte) {
	for len(rest) > 0 && !m.whole {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			m.whole, m.body = true, rest
			break
		}
		_ = m.headers.add(line)
	}
}

// chunked reports whether chunked is the last transfer coding (RFC 9112 §6.1).
func (m *message) chunked() bool {
	codings := strings.Split(strings.Join(m.headers.All("Transfer-Encoding"), ","), ",")
	return strings.EqualFold(strings.TrimSpace(codings[len(codings)-1]), "chunked")
}

// isHTTPVersion accepts "HTTP/1.1" and, as some tools write for HTTP/2, "HTTP/2".
func isHTTPVersion(s string) bool {
	number, ok := strings.CutPrefix(s, "HTTP/")
	major, minor, dotted := strings.Cut(number, ".")
	return ok && len(major) == 1 && isDigits(major) && (!dotted || len(minor) == 1 && isDigits(minor))
}

// dechunk removes the chunked transfer coding (RFC 9112 §7.1). whole is false if the body ends before
// its last chunk or is not well chunked; decoded is then what came before.
func dechunk(body []byte) (decoded []byte, whole bool) {
	for {
		line, rest, ok := bytes.Cut(body, []byte("\n"))
		size, _, _ := strings.Cut(string(line), ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 62)
		if !ok || err != nil {
			return decoded, false
		}
		if n == 0 {
			return decoded, true
		}
		if n > uint64(len(rest)) {
			return append(decoded, rest...), false
		}
		decoded = append(decoded, rest[:n]...)
		body = rest[n:]
		switch {
		case bytes.HasPrefix(body, []byte("\r\n")):
			body = body[2:]
		case bytes.HasPrefix(body, []byte("\n")):
			body = body[1:]
		default:
			return decoded, false
		}
	}
}

package archivecheck

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrRecord is wrapped by errors about a member that does not hold exactly one well-formed record.
var ErrRecord = errors.New("bad WARC record")

// Record is one WARC record as it stands in the file (ISO 28500:2017 §4).
type Record struct {
	Offset  int64  // where the gzip member begins in the file, bytes
	Length  int64  // the size of the gzip member, bytes
	Version string // the version line without its CRLF, such as "WARC/1.1"
	Headers Headers
	Block   []byte // exactly Content-Length bytes
}

// Header is one named field, the value without surrounding white space.
type Header struct{ Name, Value string }

// Headers are the named fields of a record, or the header fields of an HTTP message, in file order.
type Headers []Header

// Get returns the first value of the field, whatever its case, or "".
func (h Headers) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// All returns every value of the field in file order.
func (h Headers) All(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

const recordEnd = "\r\n\r\n"

// parseRecord reads the one record that data must be: version line, named fields, CRLF, a block of
// Content-Length bytes, CRLFCRLF, and nothing more.
func parseRecord(data []byte) (Record, error) {
	var rec Record
	if len(data) == 0 {
		return rec, fmt.Errorf("%w: the member is empty", ErrRecord)
	}
	line, rest, ok := cutLine(data)
	if !ok || !isVersion(line) {
		return rec, fmt.Errorf("%w: it starts with %q, not with a WARC version line", ErrRecord, clip(data))
	}
	rec.Version = string(line)
	for {
		line, rest, ok = cutLine(rest)
		if !ok {
			return rec, fmt.Errorf("%w: the header block has no end", ErrRecord)
		}
		if len(line) == 0 {
			break
		}
		if err := rec.Headers.add(line); err != nil {
			return rec, fmt.Errorf("%w: %w", ErrRecord, err)
		}
	}
	n, err := contentLength(rec.Headers)
	if err != nil {
		return rec, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if int64(len(rest)) < n {
		return rec, fmt.Errorf("%w: Content-Length is %d, but only %d bytes follow the header", ErrRecord, n, len(rest))
	}
	block, end := rest[:n], rest[n:]
	switch {
	case string(end) == recordEnd:
	case bytes.HasPrefix(end, []byte(recordEnd+"WARC/")):
		return rec, fmt.Errorf("%w: the member holds more than one record", ErrRecord)
	case bytes.HasPrefix(end, []byte(recordEnd)):
		return rec, fmt.Errorf("%w: %d bytes follow its end", ErrRecord, len(end)-len(recordEnd))
	case bytes.HasSuffix(end, []byte(recordEnd)):
		return rec, fmt.Errorf("%w: Content-Length is %d, but the block has %d bytes", ErrRecord, n, len(rest)-len(recordEnd))
	default:
		return rec, fmt.Errorf("%w: the block is followed by %q, not by CRLFCRLF", ErrRecord, clip(end))
	}
	rec.Block = block
	return rec, nil
}

// add appends a named field, or joins a line that begins with white space to the field before it.
func (h *Headers) add(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(*h) == 0 {
			return fmt.Errorf("the first header line %q is a continuation", clip(line))
		}
		last := &(*h)[len(*h)-1]
		last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(string(line)))
		return nil
	}
	name, value, ok := strings.Cut(string(line), ":")
	if !ok || !isToken(name) {
		return fmt.Errorf("the header line %q is not a named field", clip(line))
	}
	*h = append(*h, Header{name, strings.TrimSpace(value)})
	return nil
}

// contentLength returns the block's length in bytes: one field, digits only.
func contentLength(h Headers) (int64, error) {
	values := h.All("Content-Length")
	if len(values) != 1 {
		return 0, fmt.Errorf("it has %d Content-Length fields", len(values))
	}
	n, err := strconv.ParseUint(values[0], 10, 62)
	if err != nil {
		return 0, fmt.Errorf("Content-Length %q is not a number", values[0])
	}
	return int64(n), nil
}

// cutLine splits data after the first CRLF; a bare LF does not end a line.
func cutLine(data []byte) (line, rest []byte, ok bool) {
	return bytes.Cut(data, []byte("\r\n"))
}

// isVersion reports whether line is "WARC/" digits "." digits.
func isVersion(line []byte) bool {
	major, minor, ok := strings.Cut(strings.TrimPrefix(string(line), "WARC/"), ".")
	return ok && bytes.HasPrefix(line, []byte("WARC/")) && isDigits(major) && isDigits(minor)
}

// isDigits reports whether s is one or more ASCII digits.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isToken reports whether s is a token (ISO 28500:2017 §4, as RFC 9110 §5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// clip shortens what is quoted in a fault.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }

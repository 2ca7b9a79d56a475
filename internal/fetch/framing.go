package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
)

// Values of head.framing that are not numbers of bytes.
const (
	untilClose = -1
	chunked    = -2
	cutOff     = -3 // there is none: the connection ended within the header
)

// frame finds out where the body ends (RFC 9112 §6.3). Two different lengths are refused: the bytes after the shorter one may be
// meant as another response.
func (h *head) frame() {
	if h.status >= 100 && h.status < 200 || h.status == http.StatusNoContent || h.status == http.StatusNotModified {
		h.framing = 0
		return
	}
	h.framing = untilClose
	if h.isChunked() {
		h.framing = chunked
		return
	}
	list := strings.Split(strings.Join(h.header["Content-Length"], ","), ",")
	if len(h.header["Content-Length"]) == 0 {
		return
	}
	length := int64(untilClose)
	for i, text := range list {
		text = strings.TrimSpace(text)
		if i > 0 && text != strings.TrimSpace(list[0]) {
			h.refused, h.complete = "two unequal values of Content-Length", false
			return
		}
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			h.fault(fmt.Sprintf("Content-Length is %.40q, the body counts up to the end of the connection", text))
			continue
		}
		length = int64(n)
	}
	if len(list) > 1 {
		h.fault("several values of Content-Length")
	}
	h.framing = length
}

// isChunked reports whether the body is chunked. Other transfer codings are not supported; browsers do not support them either.
func (h *head) isChunked() bool {
	list, there := h.header["Transfer-Encoding"]
	if h.http10 || !there { // HTTP/1.0 has none
		return false
	}
	said := strings.Join(list, ",")
	if !strings.EqualFold(said, "chunked") {
		h.fault(fmt.Sprintf("Transfer-Encoding is %.40q", said))
	}
	return slices.ContainsFunc(strings.Split(said, ","), func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "chunked") })
}

// endsConnection reports whether the response is the last of its connection. After status 101 it is: the connection speaks
// another protocol.
func (h *head) endsConnection() bool {
	said := strings.ToLower(strings.Join(h.header["Connection"], ","))
	return h.http10 || h.status < 200 || h.framing == untilClose || len(h.faults) > 0 || strings.Contains(said, "close")
}

// readBody reads the body to its end; the wire keeps it.
func (h *head) readBody(br *bufio.Reader) error {
	switch h.framing {
	case cutOff:
		return io.ErrUnexpectedEOF
	case untilClose:
		_, err := io.Copy(io.Discard, br)
		return err
	case chunked:
		if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(br)); err != nil {
			return err
		}
		_, err := readBlock(br) // the trailer
		return asUnexpectedEOF(err)
	}
	_, err := io.CopyN(io.Discard, br, h.framing)
	return asUnexpectedEOF(err)
}

// asUnexpectedEOF makes io.EOF io.ErrUnexpectedEOF, where more bytes were announced.
func asUnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

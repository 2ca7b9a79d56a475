package faults

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// drip never ends: the crawler has to.
func drip(_ *webworld.Exchange, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	rc := http.NewResponseController(w)
	for webworld.Pause(r.Context(), 100*time.Millisecond) {
		if _, err := io.WriteString(w, "a"); err != nil || rc.Flush() != nil {
			return
		}
	}
}

func flood(_ *webworld.Exchange, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	text := []byte(strings.Repeat("<p>and the river of ravens never ends</p>\n", 800))
	for r.Context().Err() == nil {
		if _, err := w.Write(text); err != nil {
			return
		}
	}
}

// bomb repeats one compressed megabyte of blanks. The checksum at its end is wrong, but no crawler should
// read so far.
func bomb(x *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
	const megabytes = 10 << 10
	var piece bytes.Buffer
	z, err := flate.NewWriter(&piece, 9)
	if err != nil {
		return
	}
	if _, err = z.Write(bytes.Repeat([]byte{' '}, 1<<20)); err != nil || z.Flush() != nil {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html")
	h.Set("Content-Encoding", "gzip")
	if _, err := w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}); err != nil {
		return
	}
	for range megabytes {
		if _, err := w.Write(piece.Bytes()); err != nil {
			return
		}
	}
	x.End(http.StatusOK)
	_, _ = w.Write([]byte{3, 0, 0, 0, 0, 0, 0, 0, 0x80, 2})
}

// bigHeader sends 10.6 MB of header fields, more than net/http takes by default.
func bigHeader(x *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
	hijacked(w, func(c *webworld.Conn, out *bufio.Writer) {
		_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n")
		value := strings.Repeat("v", 1000)
		for i := range 10_400 {
			if _, err := out.WriteString("X-Feather-" + strconv.Itoa(i) + ": " + value + "\r\n"); err != nil {
				return
			}
		}
		if out.Flush() == nil {
			x.End(0)
			_, _ = c.Write([]byte("\r\n"))
		}
	})
}

// reset sends half a body and then RST.
func reset(x *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
	hijacked(w, func(c *webworld.Conn, out *bufio.Writer) {
		_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4000\r\n\r\n" + strings.Repeat("<p>half</p>\n", 160))
		if out.Flush() == nil && c.Reset() == nil {
			x.End(0)
		}
	})
}

// mute waits until the client or the world gives up.
func mute(_ *webworld.Exchange, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// raw sends bytes unchanged and closes the connection.
func raw(text string) webworld.RawAnswer {
	return func(x *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
		hijacked(w, func(c *webworld.Conn, _ *bufio.Writer) {
			x.End(0)
			_, _ = io.WriteString(c, text)
		})
	}
}

// hijacked takes the connection over and closes it at the end.
func hijacked(w http.ResponseWriter, talk func(*webworld.Conn, *bufio.Writer)) {
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer nc.Close()
	if c, ok := nc.(*webworld.Conn); ok {
		talk(c, rw.Writer)
	}
}

// interim sends two 103 responses first (RFC 8297).
func interim(x *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Link", "</style.css>; rel=preload; as=style")
	w.WriteHeader(http.StatusEarlyHints)
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Del("Link")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.End(http.StatusOK)
	_, _ = io.WriteString(w, "<html><head><title>At last</title></head><body><p>The real answer.</p><a href=\"/after\">after</a></body></html>\n")
}

// cutGzip leaves the last third of a gzip stream out.
func cutGzip(x *webworld.Exchange, w http.ResponseWriter, r *http.Request) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for i := range 3000 {
		_, _ = io.WriteString(z, "<p>line "+strconv.Itoa(i*7919)+"</p>\n") // a buffer takes all
	}
	_ = z.Close()
	body := out.Bytes()[:out.Len()*2/3]
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Encoding", "gzip")
	res := &webworld.Resource{Page: webworld.Page{Status: http.StatusOK}, Body: [][]byte{body}}
	webworld.Send(x, w, r, res)
}

// slowRobots takes ten seconds for as many lines.
func slowRobots(x *webworld.Exchange, w http.ResponseWriter, r *http.Request) {
	slowly(r.Context(), x, w, time.Second)
}

func slowly(ctx context.Context, x *webworld.Exchange, w http.ResponseWriter, beat time.Duration) {
	w.Header().Set("Content-Type", "text/plain")
	rc := http.NewResponseController(w)
	for range 10 {
		if _, err := io.WriteString(w, "# patience\n"); err != nil || rc.Flush() != nil || !webworld.Pause(ctx, beat) {
			return
		}
	}
	x.End(http.StatusOK)
	_, _ = io.WriteString(w, "User-agent: *\nDisallow: /hidden\n")
}

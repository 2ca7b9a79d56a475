package fetch

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/robots"
)

// script is a connection that answers any request with the same bytes, then ends.
type script struct {
	net.Conn
	rest io.Reader
}

func (s *script) Read(p []byte) (int, error)       { return s.rest.Read(p) }
func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// FuzzSend: for any answer of a server, the archived part is a piece of it, within the limits, and the
// same from memory and from disk.
func FuzzSend(f *testing.F) {
	for _, seed := range []string{
		page("200 OK", "hello"), "HTTP/1.1 200 OK\r\n\r\nend", "HTTP/1.1 103 Hints\r\n\r\n" + page("404 No", "x") + "junk",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", "HTTP/1.0 200\r\n\r\n", "\x00\xff", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 101 Switch\r\n\r\nx", "HTTP/1.1 200 OK\rX: a\r\rx", "ICY 200 OK\r\n\r\nx", "HTTP/0.1 200 \nTransfer-Encoding: chunked\n\n0\r\n0\n\n", "HTTP/1.1 000\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 200 OK\nno colon\n: x\n a\nX-ö: 1\nContent-Length: 2, 2\n\nok",
		"HTTP/1.1 200 OK\r\n folded\r\nContent-Length: -1\r\nTransfer-Encoding: identity\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, sent []byte) {
		var before []byte
		for _, memory := range []crawl.Bytes{1 << 20, 7} {
			c := &Client{limits: DefaultLimits(), now: time.Now, tempDir: dir}
			c.limits.HeaderBytes, c.limits.MemoryBytes = 4096, memory
			x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: "http://a.example/"}, Request: []byte("GET / HTTP/1.1\r\n\r\n")}
			const limit = 8192
			keep, err := c.send(&connection{Conn: &script{rest: bytes.NewReader(sent)}}, x, time.Minute, limit)
			if err != nil {
				x.Close()
				continue
			}
			kept, err := io.ReadAll(x.Response)
			if err != nil || int64(len(kept)) != x.Size {
				t.Fatalf("%d of %d bytes: %v", len(kept), x.Size, err)
			}
			if !bytes.Contains(sent, kept) {
				t.Fatalf("kept %q of %q", kept, sent)
			}
			if x.HeaderBytes > x.Size || x.Size-x.HeaderBytes > limit+4096 {
				t.Fatalf("header of %d bytes in %d", x.HeaderBytes, x.Size)
			}
			again, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(kept)), nil)
			if x.Fault == "" && (err != nil || again.StatusCode != x.Status) {
				t.Fatalf("what is kept is no response of status %d, and nobody says why: %v", x.Status, err)
			}
			if err == nil && x.Fault == "" && x.Truncated == "" { // the body ends where a strict reader says
				body, errBody := io.ReadAll(again.Body)
				if mine, _ := io.ReadAll(x.wireBody()); errBody == nil && !bytes.Equal(body, mine) {
					t.Fatalf("the body is %q, should be %q", mine, body)
				}
			}
			if (x.refused || x.Fault != "") && keep {
				t.Fatal("a connection with a faulty header is used again")
			}
			if keep && x.Truncated != "" {
				t.Fatal("a connection in the middle of a body is used again")
			}
			if before != nil && !bytes.Equal(before, kept) {
				t.Fatalf("from memory %q, from disk %q", before, kept)
			}
			before = kept
			body, _ := x.robotsText()
			robots.Parse(body, "Muninn")
			x.Close()
		}
	})
}

// wireBody reads the body without its transfer coding.
func (x *Exchange) wireBody() io.Reader {
	if x.Chunked {
		return httputil.NewChunkedReader(x.Body())
	}
	return x.Body()
}

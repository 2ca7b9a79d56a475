package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Exchange is one request and what came back, ready to be kept. Close frees its temporary file.
type Exchange struct {
	crawl.Exchange
	Request  []byte
	Response io.Reader // the final response as it came over the wire; nil if there was none
	Size     int64     // bytes of Response
	Header   http.Header
	refused  bool // Fault says why it is no page
	wire     *wire
	// start is where the final response begins in the wire, and bodyStart and end where its body does and ends.
	start, bodyStart, end int64
}

// Head reads the status line and the header block of the final response as they came, from their start. It may be used until Close.
func (x *Exchange) Head() io.Reader { return x.wire.reader(x.start, x.bodyStart) }

// Body reads the body of the final response as it came, with its encodings, from its start. It may be used until Close.
func (x *Exchange) Body() io.Reader { return x.wire.reader(x.bodyStart, x.end) }

// Close frees what the exchange holds.
func (x *Exchange) Close() {
	if x.wire != nil {
		x.wire.close()
	}
}

// The kinds of failure.
var (
	errStale    = errors.New("the kept-alive connection was closed by the host")
	errProtocol = errors.New("the answer is not HTTP/1.1")
	errConnect  = errors.New("connect")
)

// bufferedReaders are buffered readers, one for an exchange in progress.
var bufferedReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// connection is the one connection of a lane.
type connection struct {
	net.Conn
	origin string
	used   int // requests sent
	last   time.Time
	tls    string
}

// dial opens a connection to an address, if the guard allows it.
func (c *Client) dial(ctx context.Context, u urls.URL, addr netip.Addr) (*connection, error) {
	if err := errors.Join(c.guard.Check(addr), c.guard.CheckPort(u.Port())); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.Connect.D())
	defer cancel()
	raw, err := c.connect(ctx, "tcp", netip.AddrPortFrom(addr, uint16(u.Port())).String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errConnect, err)
	}
	if tcp, ok := raw.(tcpConn); ok {
		raw = socket{tcp}
	}
	conn := &connection{Conn: raw, origin: u.Origin()}
	if u.Scheme() != "https" {
		return conn, nil
	}
	conf := c.tls.Clone()
	conf.ServerName = strings.Trim(u.Host(), "[]")
	secure := tls.Client(raw, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("%w: TLS: %w", errConnect, err)
	}
	state := secure.ConnectionState()
	conn.Conn, conn.tls = secure, tls.VersionName(state.Version)+" "+tls.CipherSuiteName(state.CipherSuite)
	return conn, nil
}

// request writes the bytes of a GET request.
func request(u urls.URL, agent string, t crawl.Target) []byte {
	var b bytes.Buffer
	b.Grow(512)
	line := func(name, value string) {
		if value != "" && !strings.ContainsAny(value, "\r\n") {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	b.WriteString("GET " + u.RequestURI() + " HTTP/1.1\r\n")
	line("Host", u.Authority())
	line("User-Agent", agent)
	line("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	line("Accept-Encoding", "gzip")
	line("If-None-Match", t.Previous.ETag)
	line("If-Modified-Since", t.Previous.LastModified)
	b.WriteString("\r\n")
	return b.Bytes()
}

// send makes one exchange over an open connection. An exchange with a response is returned without
// error even if the response was cut off; keep reports whether the connection may be used again.
func (c *Client) send(conn *connection, x *Exchange, total time.Duration, bodyLimit int64) (keep bool, err error) {
	x.Started = c.now()
	x.TLS = conn.tls
	deadline := x.Started.Add(total)
	_ = conn.SetWriteDeadline(socketTime(total))
	reused := conn.used > 0
	conn.used++
	if _, err := conn.Write(x.Request); err != nil {
		return false, staleOr(reused, fmt.Errorf("send the request: %w", err))
	}
	w := &wire{
		conn: conn, idle: c.limits.FirstByte.D(), deadline: deadline, now: c.now, tmp: c.tempDir,
		memory: int64(c.limits.MemoryBytes), head: headBuffers.Get().(*bytes.Buffer), limit: int64(c.limits.HeaderBytes),
	}
	x.wire = w
	br := bufferedReaders.Get().(*bufio.Reader)
	br.Reset(w)
	defer func() {
		br.Reset(nil)
		bufferedReaders.Put(br)
	}()
	h, start, err := readHead(br, w, lenienceFor(x, reused))
	x.Elapsed = c.now().Sub(x.Started)
	if err != nil {
		if w.size == 0 || errors.Is(err, errProtocol) { // no HTTP: perhaps the rest of the answer before
			return false, staleOr(reused, err)
		}
		return false, err
	}
	x.FirstByte = w.first.Sub(x.Started)
	body := w.size - int64(br.Buffered())
	if h.framing == cutOff {
		body = start // no message of HTTP/1, which a response record must have
	}
	x.describe(h, body-start)
	if x.refused = h.refused != ""; x.refused && !h.complete { // kept as far as it came
		body, err = w.size, nil
		x.setResponse(start, start+x.HeaderBytes, body)
		x.Truncated, x.Elapsed = "unspecified", c.now().Sub(x.Started)
		return false, nil
	}
	w.idle, w.limit = c.limits.Idle.D(), body+bodyLimit
	err = h.readBody(br)
	var disk *storeError
	if errors.As(err, &disk) {
		return false, err
	}
	x.Truncated = truncation(err, c.now().After(deadline))
	x.Elapsed = c.now().Sub(x.Started)
	x.setResponse(start, body, w.size-int64(br.Buffered()))
	conn.last = c.now()
	return x.Truncated == "" && br.Buffered() == 0 && !h.endsConnection(), nil
}

// setResponse sets the response to bytes [start, end) of the wire; its body starts at body.
func (x *Exchange) setResponse(start, body, end int64) {
	x.start, x.bodyStart, x.end = start, body, end
	x.Size = end - start
	x.Response = x.wire.reader(start, end)
}

// lenienceFor says which responses without a complete header block are accepted as pages: those without any header on the default
// ports only, and over TLS none that is cut off. After a first response on a connection, the server speaks HTTP/1.
func lenienceFor(x *Exchange, reused bool) lenience {
	u, err := urls.Trusted(x.URL)
	if err != nil || x.Kind != crawl.ExchangePage {
		return lenience{}
	}
	plain := u.Scheme() == "http"
	return lenience{bare: !reused && (u.Port() == 80 || u.Port() == 443), icy: !reused && plain, cut: plain}
}

func (x *Exchange) describe(r head, headerBytes int64) {
	x.Status = r.status
	x.Header = r.header
	x.HeaderBytes = headerBytes
	x.Chunked = r.framing == chunked
	x.Fault = strings.Join(r.faults, "; ")
	if r.refused != "" {
		x.Fault = r.refused
	}
	x.Encoding = strings.ToLower(strings.TrimSpace(strings.Join(r.header.Values("Content-Encoding"), ",")))
	x.MIME = r.header.Get("Content-Type")
	x.Location = urls.EscapeBytes(r.header.Get("Location"))
	x.Refresh = urls.EscapeBytes(r.header.Get("Refresh"))
	x.RobotsTag = strings.Join(r.header.Values("X-Robots-Tag"), "\n") // each says for whom it is
}

// retryAfter reads a Retry-After header (RFC 9110 §10.2.3): seconds or a date; 0 if there is none. A date is by the host's clock, as
// its Date header is, from which it counts: clocks may differ.
func (x *Exchange) retryAfter(now time.Time) time.Duration {
	value := strings.TrimSpace(x.Header.Get("Retry-After"))
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // beyond 64 bits it is the greatest of them, or the least
		return time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		if date, err := http.ParseTime(x.Header.Get("Date")); err == nil {
			now = date
		}
		return max(at.Sub(now), 0)
	}
	return 0
}

// maxRetryAfter bounds a Retry-After, in seconds; longer ones count as this.
const maxRetryAfter = 1e6

// truncation names the reason why a body was cut off (WARC/1.1 §5.13); empty if it is whole.
func truncation(err error, late bool) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errTooMuch):
		return "length"
	case late:
		return "time"
	}
	return "disconnect"
}

func staleOr(reused bool, err error) error {
	var timeout net.Error
	if reused && !(errors.As(err, &timeout) && timeout.Timeout()) {
		return errStale
	}
	return err
}

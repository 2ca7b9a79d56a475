package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httputil"
	"runtime/debug"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/coding"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
)

// understand makes the page of an exchange; false if there is nothing to understand. mode is the helper's, prints what is
// remembered of the page. The error is a panic on a page that no one has thought of.
func (e *Engine) understand(ctx context.Context, x *Exchange, mode string, prints []byte) (p crawl.Parsed, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, ok, err = crawl.Parsed{}, false, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	switch {
	case x.Kind != crawl.ExchangePage || x.Status == 0 || x.Outcome.Kind == crawl.OutcomeFailed:
		return p, false, nil
	case x.Status >= 300 && x.Status < 400 && x.Location != "":
		p.Page, ok = page.Redirect(x.URL, x.Status, x.Location)
		return p, ok, nil
	case x.Status < 200 || x.Status >= 300:
		return p, false, nil
	}
	buffer := bodies.Get().(*[]byte)
	body := decodedBody(x, int64(e.limits.DecodedBytes), (*buffer)[:0])
	defer func() {
		if cap(body) <= maxPooled {
			*buffer = body
			bodies.Put(buffer)
		}
	}()
	end, err := e.reading.begin(ctx, len(body))
	if err != nil {
		return p, false, err
	}
	defer end()
	d := page.Parse(page.Input{URL: x.URL, MIME: x.MIME, RobotsTag: x.RobotsTag, Refresh: x.Refresh, Body: body}, e.limits)
	if e.Helper != nil {
		head, err := io.ReadAll(x.Header())
		if err != nil {
			return p, false, err
		}
		p.Findings = e.Helper.Apply(d, aah.Input{Head: head, Mode: mode, Before: prints})
		for i := range p.Objects {
			p.Objects[i].Release()
		}
	}
	p.Page = d.Page
	p.Status = x.Status
	return p, true, nil
}

// bodies are buffers for decoded bodies; larger ones than maxPooled bytes are not kept.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 4 << 20

// unzippers and wholes are decoders, which are costly to make: of streams, and of bodies that are there as a whole.
var (
	unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	wholes    = sync.Pool{New: func() any { return new(coding.Gunzip) }}
)

// decodedBody takes off the transfer and content encodings, up to a limit of bytes. What breaks off gives what stood before.
// The result lies in the memory of out, if that is large enough.
func decodedBody(x *Exchange, limit int64, out []byte) []byte {
	body := func() io.Reader {
		if x.Chunked {
			return httputil.NewChunkedReader(x.Body())
		}
		return x.Body()
	}
	if x.Encoding != "gzip" && x.Encoding != "x-gzip" {
		return readAll(body(), limit, out)
	}
	whole := wholes.Get().(*coding.Gunzip)
	defer wholes.Put(whole)
	out, ok := whole.Append(out, body(), int(limit))
	if ok {
		return out
	}
	z := unzippers.Get().(*gzip.Reader)
	defer unzippers.Put(z)
	if err := z.Reset(body()); err != nil {
		return nil
	}
	return readAll(z, limit, out)
}

// readAll appends what a reader gives before it ends or breaks off.
func readAll(r io.Reader, limit int64, out []byte) []byte {
	buffer := bytes.NewBuffer(out)
	_, _ = io.Copy(buffer, io.LimitReader(r, limit))
	return buffer.Bytes()
}

package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/traps"
)

// Understand makes the page of an exchange; false if there is nothing to understand. mode is the helper's, prints what is
// remembered of the page. The error is a panic on a page that no one has thought of. It needs no frontier.
func (e *Engine) Understand(ctx context.Context, x *Exchange, mode string, prints []byte) (p crawl.Parsed, ok bool, err error) {
	return e.understand(ctx, x, mode, prints, nil)
}

// understand is Understand; look sees the document, unless it is nil.
func (e *Engine) understand(ctx context.Context, x *Exchange, mode string, prints []byte, look func(*page.Document)) (p crawl.Parsed, ok bool, err error) {
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
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPooled {
			buffer.Reset()
			bodies.Put(buffer)
		}
	}()
	end, err := e.readBody(ctx, x, buffer)
	if err != nil {
		return p, false, err
	}
	defer end()
	head, err := io.ReadAll(x.Header())
	if err != nil {
		return p, false, err
	}
	in := page.Input{Link: headerFields(head, "link"), URL: x.URL, MIME: x.MIME, RobotsTag: x.RobotsTag, Robot: robots.Token(x.Agent), Refresh: x.Refresh, Via: x.Via, Body: buffer.Bytes()}
	if e.PDF != nil {
		in.PDF = func(file []byte, textBytes int) (page.Paper, error) { return e.PDF.Read(ctx, file, textBytes) }
	}
	d := page.Parse(in, e.limits)
	if d.Fault != nil {
		e.log(ctx).Warn("a document is archived, and not wholly read", "url", x.URL, "error", d.Fault)
	}
	p.Print = traps.PrintOf(&d.Page) // now: when the batch is archived, its text must be fetched from memory again
	if look != nil {
		look(d)
	}
	if e.Helper != nil {
		p.Findings = e.Helper.Apply(d, aah.Input{Head: head, Mode: mode, Before: prints})
		for i := range p.Objects {
			p.Objects[i].Release()
		}
	}
	p.Page = d.Page
	p.Status = x.Status
	return p, true, nil
}

// headerFields are the values of the fields of a name in lower case, joined by commas.
func headerFields(head []byte, name string) (values string) {
	for line := range bytes.Lines(head) {
		if len(line) <= len(name) || line[len(name)] != ':' || !bytes.EqualFold(line[:len(name)], []byte(name)) {
			continue
		}
		if values != "" {
			values += ","
		}
		values += string(bytes.TrimSpace(line[len(name)+1:]))
	}
	return values
}

// bodies are buffers for decoded bodies; larger ones than maxPooled bytes are not kept.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 4 << 20

// unzippers are gzip readers, which are costly to make.
var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// readBody reads the body of an exchange without its transfer and content encodings into a buffer, when there is room for it. What breaks off gives what stood before.
func (e *Engine) readBody(ctx context.Context, x *Exchange, out *bytes.Buffer) (end func(), err error) {
	r, free := decoding(x)
	defer free()
	limit := int64(e.limits.DecodedBytes)
	most, _ := io.Copy(out, io.LimitReader(r, min(unweighed, limit)))
	more := most == unweighed
	if more {
		most = limit
	}
	return e.reading.begin(ctx, int(most), func() int {
		if more {
			_, _ = io.Copy(out, io.LimitReader(r, limit-unweighed))
		}
		return out.Len()
	})
}

// decoding takes off the transfer and content encodings. free is called when nothing is read any more.
func decoding(x *Exchange) (r io.Reader, free func()) {
	free = func() {}
	switch x.Encoding {
	case "":
		return unchunked(&x.Exchange, x.Body()), free
	case "gzip", "x-gzip": // what is asked for
		z := unzippers.Get().(*gzip.Reader)
		free = func() { unzippers.Put(z) }
		if z.Reset(unchunked(&x.Exchange, x.Body())) == nil {
			return z, free
		}
	default:
		if decoded, err := decodedReader(&x.Exchange, x.Body()); err == nil {
			return decoded, func() { _ = decoded.Close() }
		}
	}
	return strings.NewReader(""), free
}

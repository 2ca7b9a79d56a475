package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/coding"
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
	case x.Kind != crawl.ExchangePage && x.Kind != crawl.ExchangeLoaded || x.Status == 0 || x.Outcome.Kind == crawl.OutcomeFailed:
		return p, false, nil
	case x.Status >= 300 && x.Status < 400 && x.Location != "":
		p.Page, ok = page.Redirect(x.URL, x.Status, x.Location)
		return p, ok, nil
	case x.Status < 200 || x.Status >= 300:
		return p, false, nil
	case crawl.IsRequisite(x.Path) && strings.HasSuffix(x.URL, crawl.IconPath): // many hosts answer with a page that they have, which nobody sees
		return p, false, nil
	}
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPooled {
			buffer.Reset()
			bodies.Put(buffer)
		}
	}()
	end, fault, err := e.readBody(ctx, x, buffer)
	if err != nil {
		return p, false, err
	}
	defer end()
	head, err := io.ReadAll(x.Header())
	if err != nil {
		return p, false, err
	}
	in := page.Input{Link: headerFields(head, "link"), URL: x.URL, MIME: x.MIME, RobotsTag: x.RobotsTag, Robot: robots.Token(x.Agent), Refresh: x.Refresh, Via: x.Via, Body: buffer.Bytes(), Icon: crawl.ClassOf(x.Path) == crawl.ClassPage}
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
	p.Status, p.Undecoded = x.Status, undecoded(x, fault)
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

// readBody reads the body of an exchange without its transfer and content encodings into a buffer, when there is room for it. What breaks off gives what stood before;
// fault says why.
func (e *Engine) readBody(ctx context.Context, x *Exchange, out *bytes.Buffer) (end func(), fault, err error) {
	r, fault := decodedReader(&x.Exchange, x.Body())
	if fault != nil {
		return func() {}, fault, nil
	}
	defer func() { _ = r.Close() }()
	limit := int64(e.limits.DecodedBytes)
	most, fault := io.Copy(out, io.LimitReader(r, min(unweighed, limit)))
	more := most == unweighed
	if more {
		most = limit
	}
	end, err = e.reading.begin(ctx, int(most), func() int {
		if more {
			_, fault = io.Copy(out, io.LimitReader(r, limit-unweighed))
		}
		return out.Len()
	})
	return end, fault, err
}

// undecoded says why the content coding of a body could not be taken off it, or not to its end; empty if it could. Of a body that is cut off its coding is too, and
// WARC-Truncated says so.
func undecoded(x *Exchange, fault error) string {
	var broken *coding.Error
	if !errors.As(fault, &broken) || x.Truncated != "" && errors.Is(fault, io.ErrUnexpectedEOF) {
		return ""
	}
	return broken.Error()
}

package derive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
)

// ErrRevisit says that a capture is a revisit, and that its body is not in its segment: it is that of the capture that Original names.
var ErrRevisit = errors.New("the capture is a revisit: its body is that of its original")

// Original is the capture that a revisit refers to.
type Original struct {
	URL  string
	Date time.Time
}

// Capture is a capture of a segment, as steps see it: a line of the index, what its metadata record says of it, its body and its web objects. It is valid until the function that was
// called with it returns.
type Capture struct {
	Crawl   string
	Run     uint32 // 0 if the segment does not name it
	Segment string
	archive.Indexed
	Title    string
	Language string // ISO 639-1
	Level    string // of the page, in its application
	Path     string // hop letters from the seed on, as hopsFromSeed of the metadata record has them
	Via      string // the page that it was found on
	Original *Original
	// Shown says that a browser has opened the page: its body is the final document of that, in place of what came over the wire, also of a revisit.
	Shown bool

	reader  *Reader
	body    member
	objects []archive.WebObject // with their places
	parsed  *page.Document
	mime    string
	decoded []byte
	read    bool  // the body was read
	fault   error // why there is no body
}

// Body is the body of the capture without its transfer and content codings, at most as many bytes as the limits of pages say; of one that breaks off, what stood before. Steps share it,
// and do not change it. It is ErrRevisit of a revisit whose original is not known to the reader.
func (c *Capture) Body(ctx context.Context) ([]byte, error) {
	if !c.read {
		c.decoded, c.mime, c.fault = c.reader.body(ctx, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.read = true
	}
	return c.decoded, c.fault
}

// Page is the body as a page, parsed once for all steps.
func (c *Capture) Page(ctx context.Context) (*page.Document, error) {
	if c.parsed != nil {
		return c.parsed, nil
	}
	body, err := c.Body(ctx)
	if err != nil {
		return nil, err
	}
	in := page.Input{URL: c.URL, MIME: c.mime, Body: body}
	if c.reader.PDF != nil {
		in.PDF = func(file []byte, textBytes int) (page.Paper, error) { return c.reader.PDF(ctx, file, textBytes) }
	}
	c.parsed = page.Parse(in, c.reader.limits())
	return c.parsed, ctx.Err()
}

// HasObjects reports whether the page has web objects, without reading it.
func (c *Capture) HasObjects() bool { return len(c.objects) > 0 }

// Objects are the web objects of the page with their texts, which are cut out of the page. Of one whose text cannot be read, fault is called with the reason, if it is not nil,
// and the object has the place of its text instead.
func (c *Capture) Objects(ctx context.Context, fault func(archive.WebObject, error)) ([]archive.WebObject, error) {
	list := make([]archive.WebObject, len(c.objects))
	for i, o := range c.objects {
		var err error
		if o.Placed() {
			var d *page.Document
			if d, err = c.Page(ctx); err == nil {
				err = extract.Fill(d, &o.Object)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if err != nil && fault != nil {
			fault(o, err)
		}
		list[i] = o
	}
	return list, nil
}

// member is a record of a WARC object.
type member struct {
	key            string // of the WARC object; empty: there is no such record
	offset, length int64
}

// body reads the body of a capture, and its Content-Type.
func (r *Reader) body(ctx context.Context, c *Capture) (body []byte, mime string, err error) {
	at := c.body
	if c.Revisit && !c.Shown {
		if at = (member{}); r.Originals != nil {
			at.key, at.offset, at.length = r.Originals(c.Digest)
		}
		if at.key == "" {
			return nil, "", ErrRevisit
		}
	}
	if at.key != r.key {
		packed, err := r.Store.GetRange(ctx, at.key, at.offset, at.length)
		if err != nil {
			return nil, "", err
		}
		defer func() { _ = packed.Close() }()
		raw, err := io.ReadAll(io.LimitReader(packed, at.length))
		if err != nil {
			return nil, "", err
		}
		return r.recordBody(bytes.NewReader(raw), 0, at.length)
	}
	return r.recordBody(r.file, at.offset, at.offset+at.length)
}

// recordBody reads the body that the record at from has.
func (r *Reader) recordBody(file io.ReaderAt, from, to int64) (body []byte, mime string, err error) {
	found := false
	limit := int64(r.limits().DecodedBytes)
	err = archive.ReadMembers(file, from, to, func(rec archive.Member) (bool, error) {
		found = true
		if rec.Kind == "resource" {
			mime = rec.Type
			body, err = io.ReadAll(io.LimitReader(rec.Block, limit))
			return false, err
		}
		answer, err := rec.Answer()
		if err != nil {
			return false, fmt.Errorf("read the response: %w", err)
		}
		defer func() { _ = answer.Body.Close() }()
		mime = answer.Header.Get("Content-Type")
		body, _ = io.ReadAll(io.LimitReader(answer.Body, limit)) // a body that breaks off is read up to there
		return false, nil
	})
	if err == nil && !found {
		err = errors.New("there is no record at the offset that the index gives")
	}
	return body, mime, err
}

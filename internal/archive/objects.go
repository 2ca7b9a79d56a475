package archive

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// WebObject is a line of the objects sidecar: a web object, the capture it stood in, and who says so.
type WebObject struct {
	URL         string    `json:"url"`  // of the page
	Date        time.Time `json:"date"` // WARC-Date of the capture
	N           int       `json:"n"`    // its place among the page's objects, from 0
	Application string    `json:"application,omitempty"`
	Version     string    `json:"version,omitempty"`
	Level       string    `json:"level,omitempty"`
	Base        string    `json:"kb,omitempty"` // checksum of the knowledge base
	crawl.Object
}

// addObjects writes a page's web objects into the sidecar.
func (s *Segment) addObjects(c Capture) error {
	if c.Page == nil {
		return nil
	}
	p := c.Page
	for i := range p.Objects {
		s.objects.line = appendObject(s.objects.line[:0], c, i)
		if err := s.objects.put(); err != nil {
			return fmt.Errorf("write objects of %s: %w", c.URL, err)
		}
	}
	s.counts.Objects += len(p.Objects)
	return nil
}

// appendObject appends a WebObject as encoding/json would write it.
func appendObject(b []byte, c Capture, n int) []byte {
	p, o := c.Page, &c.Page.Objects[n]
	b = appendText(append(b, '{'), "\"url\":", c.URL)
	b = c.Started.UTC().AppendFormat(append(b, ",\"date\":\""...), time.RFC3339Nano)
	b = strconv.AppendInt(append(b, "\",\"n\":"...), int64(n), 10)
	b = appendSome(b, ",\"application\":", p.Application)
	b = appendSome(b, ",\"version\":", p.Version)
	b = appendSome(b, ",\"level\":", p.Level)
	b = appendSome(b, ",\"kb\":", p.Base)
	b = appendText(b, ",\"type\":", o.Type)
	b = o.Properties.AppendPlaced(append(b, ",\"properties\":"...))
	b = appendSome(b, ",\"rule\":", o.Rule)
	if o.Confidence != 0 {
		b = appendNumber(b, ",\"confidence\":", o.Confidence)
	}
	return append(b, '}', '\n')
}

// ReadObjects calls fn with each web object of a sidecar.
func ReadObjects(ctx context.Context, store Store, key string, fn func(WebObject) error) error {
	return readSidecar(ctx, store, key, func(o *WebObject) error { return fn(*o) })
}

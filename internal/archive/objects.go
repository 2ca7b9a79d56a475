package archive

import (
	"context"
	"encoding/json"
	"fmt"
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
	for i, o := range p.Objects {
		raw, err := json.Marshal(WebObject{
			URL: c.URL, Date: c.Started.UTC(), N: i, Application: p.Application, Version: p.Version, Level: p.Level, Base: p.Base, Object: o,
		})
		if err != nil {
			return fmt.Errorf("write objects of %s: %w", c.URL, err)
		}
		s.objects.line = append(append(s.objects.line[:0], raw...), '\n')
		if err := s.objects.put(); err != nil {
			return fmt.Errorf("write objects of %s: %w", c.URL, err)
		}
	}
	s.counts.Objects += len(p.Objects)
	return nil
}

// ReadObjects calls fn with each web object of a sidecar.
func ReadObjects(ctx context.Context, store Store, key string, fn func(WebObject) error) error {
	return readSidecar(ctx, store, key, func(o *WebObject) error { return fn(*o) })
}

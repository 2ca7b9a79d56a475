package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Link is a line of the links sidecar: an outlink and where it stood.
type Link struct {
	Source string `json:"source"`
	Path   string `json:"path"` // hop letters of the source
	crawl.Outlink
	HopLetter string `json:"hop"`
	Paragraph string `json:"paragraph,omitempty"`
	Language  string `json:"language,omitempty"` // of the source
}

// addLinks writes a page's outlinks into the sidecar.
func (s *Segment) addLinks(c Capture) error {
	if c.Page == nil {
		return nil
	}
	enc := json.NewEncoder(s.zip)
	for _, l := range c.Page.Links {
		line := Link{Source: c.URL, Path: c.Path, Outlink: l, HopLetter: string(rune(l.Hop)), Language: c.Page.Language}
		if l.Block >= 0 && l.Block < len(c.Page.Blocks) {
			line.Paragraph = c.Page.Blocks[l.Block]
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write links of %s: %w", c.URL, err)
		}
	}
	s.counts.Links += len(c.Page.Links)
	return nil
}

// ReadLinks calls fn with each outlink of a sidecar.
func ReadLinks(ctx context.Context, store Store, key string, fn func(Link) error) error {
	r, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	defer z.Close()
	for dec := json.NewDecoder(z); ; {
		var l Link
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		if l.HopLetter != "" {
			l.Hop = l.HopLetter[0]
		}
		if err := fn(l); err != nil {
			return err
		}
	}
}

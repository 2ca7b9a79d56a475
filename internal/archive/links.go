package archive

import (
	"context"
	"fmt"
	"strconv"

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
	NoFollow  bool   `json:"nofollow,omitempty"` // the source asks robots not to follow its links
}

// addLinks writes a page's outlinks into the sidecar.
func (s *Segment) addLinks(c Capture) error {
	if c.Page == nil {
		return nil
	}
	block, paragraph := -1, []byte(nil) // the last paragraph, escaped: links stand in it together
	for i := range c.Page.Links {
		l := &c.Page.Links[i]
		if l.Block != block {
			block, paragraph = l.Block, paragraph[:0]
			if block >= 0 && block < len(c.Page.Blocks) {
				paragraph = appendText(paragraph, ",\"paragraph\":", c.Page.Blocks[block])
			}
		}
		s.links.line = appendLink(s.links.line[:0], c, l, paragraph)
		if err := s.links.put(); err != nil {
			return fmt.Errorf("write links of %s: %w", c.URL, err)
		}
	}
	s.counts.Links += len(c.Page.Links)
	return nil
}

// appendLink appends a Link as encoding/json would write it, for a third of the cost: a page has some
// dozens.
func appendLink(b []byte, c Capture, l *crawl.Outlink, paragraph []byte) []byte {
	b = appendText(append(b, '{'), "\"source\":", c.URL)
	b = appendText(b, ",\"path\":", c.Path)
	b = appendText(b, ",\"url\":", l.URL)
	b = appendSome(b, ",\"context\":", l.Context)
	b = appendSome(b, ",\"anchor\":", l.Anchor)
	b = strconv.AppendInt(append(b, ",\"block\":"...), int64(l.Block), 10)
	b = appendSome(b, ",\"tag_path\":", l.TagPath)
	b = appendSome(b, ",\"rel\":", l.Rel)
	b = appendSome(b, ",\"level\":", l.Level)
	if l.Prior != 0 {
		b = appendNumber(b, ",\"prior\":", l.Prior)
	}
	b = appendNumber(b, ",\"score\":", l.Score)
	if len(l.Parts) > 0 {
		b = l.Parts.Append(append(b, ",\"parts\":"...))
	}
	b = appendText(b, ",\"hop\":", string(rune(l.Hop)))
	b = append(b, paragraph...)
	b = appendSome(b, ",\"language\":", c.Page.Language)
	if c.Page.NoFollow {
		b = append(b, ",\"nofollow\":true"...)
	}
	return append(b, '}', '\n')
}

// ReadLinks calls fn with each outlink of a sidecar; without a key, as of a segment without responses, with none.
func ReadLinks(ctx context.Context, store Store, key string, fn func(Link) error) error {
	if key == "" {
		return nil
	}
	return readSidecar(ctx, store, key, func(l *Link) error {
		if l.HopLetter != "" {
			l.Hop = l.HopLetter[0]
		}
		return fn(*l)
	})
}

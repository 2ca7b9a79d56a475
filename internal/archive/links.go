package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Link is an outlink, and where it stood. Former versions wrote a line of the links sidecar for each, in this form.
type Link struct {
	Source string `json:"source"`
	Path   string `json:"path"` // hop letters of the source
	crawl.Outlink
	crawl.LinkVerdict
	HopLetter string `json:"hop"`
	Paragraph string `json:"paragraph,omitempty"`
	Language  string `json:"language,omitempty"` // of the source
	NoFollow  bool   `json:"nofollow,omitempty"` // the source asks robots not to follow its links
}

// LinkOf is the ith outlink of a page, as ReadLinks returns it when the page is archived. path are the hop letters of the page.
func LinkOf(p *crawl.Judged, path string, i int) Link {
	l := Link{
		Source: p.URL, Path: path, Outlink: p.Links[i], LinkVerdict: p.Verdict.Links[i], HopLetter: p.Links[i].Hop.String(),
		Language: p.Language, NoFollow: p.NoFollow,
	}
	if l.Block >= 0 && l.Block < len(p.Blocks) {
		l.Paragraph = p.Blocks[l.Block]
	}
	return l
}

// addLinks writes a page's outlinks into the sidecar.
func (s *Segment) addLinks(c Capture) error {
	if c.Page == nil || len(c.Page.Links) == 0 {
		return nil
	}
	s.links.line = s.linked.append(s.links.line[:0], c)
	if err := s.links.put(); err != nil {
		return fmt.Errorf("write links of %s: %w", c.URL, err)
	}
	s.counts.Links += len(c.Page.Links)
	return nil
}

// linkPage is a line of the links sidecar: a page and its outlinks, column by column. Of a column whose values are all the
// same there is one value alone; what is empty is left out.
type linkPage struct {
	Page       string         `json:"page"` // the first member: it distinguishes the line from one of a Link
	Path       string         `json:"path"`
	Language   string         `json:"language"`
	NoFollow   bool           `json:"nofollow"`
	Paragraphs map[int]string `json:"paragraphs"` // the text blocks that links stand in, by their numbers

	Contexts []string `json:"contexts"` // the dictionaries of the columns of like names
	TagPaths []string `json:"tag_paths"`
	Rels     []string `json:"rels"`
	Levels   []string `json:"levels"`

	URL     []string                            `json:"url"` // without the origin of the page where it begins with /
	Hop     column[string]                      `json:"hop"`
	Block   column[int]                         `json:"block"`  // the text block; −1: none
	Anchor  column[*string]                     `json:"anchor"` // null: it is the whole text block
	Context column[int]                         `json:"context"`
	TagPath column[int]                         `json:"tag_path"`
	Rel     column[int]                         `json:"rel"`
	Level   column[int]                         `json:"level"`
	Prior   column[float64]                     `json:"prior"`
	Score   column[float64]                     `json:"score"`
	Parts   map[crawl.PartName]column[*float64] `json:"parts"` // null: the analyser said nothing
}

// column are the values of a column: of all links, or one for all.
type column[T any] []T

// UnmarshalJSON reads a list, or a value alone.
func (c *column[T]) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]T)(c))
	}
	*c = make([]T, 1)
	return json.Unmarshal(raw, &(*c)[0])
}

// of returns the value of a link; the zero value if the column was left out.
func (c column[T]) of(link int) (value T) {
	switch {
	case len(c) == 1:
		value = c[0]
	case link < len(c):
		value = c[link]
	}
	return value
}

// lookUp looks a link's value up in the dictionary of a column.
func lookUp(dictionary []string, c column[int], link int) string {
	if at := c.of(link); at >= 0 && at < len(dictionary) {
		return dictionary[at]
	}
	return ""
}

// links makes the links of the line.
func (p *linkPage) links() []Link {
	origin := originOf(p.Page)
	names := make([]crawl.PartName, 0, len(p.Parts))
	for name := range p.Parts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b crawl.PartName) int {
		if d := slices.Index(crawl.PartNames, a) - slices.Index(crawl.PartNames, b); d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
	list := make([]Link, len(p.URL))
	for i, url := range p.URL {
		l := &list[i]
		l.Source, l.Path, l.Language, l.NoFollow = p.Page, p.Path, p.Language, p.NoFollow
		if l.URL = url; strings.HasPrefix(url, "/") {
			l.URL = origin + url
		}
		l.HopLetter, l.Block, l.Prior, l.Score = p.Hop.of(i), p.Block.of(i), p.Prior.of(i), p.Score.of(i)
		l.Context, l.TagPath, l.Rel, l.Level = lookUp(p.Contexts, p.Context, i), lookUp(p.TagPaths, p.TagPath, i), lookUp(p.Rels, p.Rel, i), lookUp(p.Levels, p.Level, i)
		l.Paragraph = p.Paragraphs[l.Block]
		switch text := p.Anchor.of(i); {
		case text != nil:
			l.Anchor = *text
		case len(p.Anchor) > 0:
			l.Anchor = l.Paragraph
		}
		for _, name := range names {
			if score := p.Parts[name].of(i); score != nil {
				l.Parts = append(l.Parts, crawl.Part{Name: name, Score: *score})
			}
		}
	}
	return list
}

// originOf is what an absolute URL begins with: scheme, host and port.
func originOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return url[:len(scheme)+len("://")+len(host)]
}

// ReadLinks calls fn with each outlink of a sidecar, of this or a former form; without a key, as of a segment without
// responses, with none.
func ReadLinks(ctx context.Context, store Store, key string, fn func(Link) error) error {
	if key == "" {
		return nil
	}
	return readSidecar(ctx, store, key, func(line *json.RawMessage) error {
		list := make([]Link, 1)
		if bytes.HasPrefix(*line, []byte(`{"page":`)) {
			var p linkPage
			if err := json.Unmarshal(*line, &p); err != nil {
				return fmt.Errorf("read %s: %w", key, err)
			}
			list = p.links()
		} else if err := json.Unmarshal(*line, &list[0]); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		for i := range list {
			if l := &list[i]; l.HopLetter != "" {
				l.Hop = crawl.Hop(l.HopLetter[0])
			}
			if err := fn(list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The lines of a links sidecar. Of a column whose values are all the same there is one value alone; what is empty is left out. The first
// member of a line distinguishes its kind.

// linkSources is the first line of a sidecar with links that lead away from the PLD of their pages: these pages.
type linkSources struct {
	Pages     []string       `json:"pages"` // URLs
	Paths     column[string] `json:"paths"`
	Languages column[string] `json:"languages"`
	NoFollow  column[bool]   `json:"nofollow"` // of archives of earlier versions it says nothing of pages that the scope rejects
	Embeds    column[bool]   `json:"embeds"`   // … but for what the page embeds
}

// linkLine has links: of one page to its own PLD, or of several pages to other PLDs.
type linkLine struct {
	Page     string         `json:"page"`
	Path     string         `json:"path"`
	Language string         `json:"language"`
	NoFollow bool           `json:"nofollow"`
	Embeds   bool           `json:"embeds"`
	Blocks   map[int]string `json:"paragraphs"` // the text blocks that links stand in, by their numbers

	From       column[int] `json:"from"` // links of several pages: their pages, by their places in linkSources
	Paragraphs []string    `json:"texts"`
	Paragraph  column[int] `json:"text"` // the text block, in Paragraphs

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
	Keep    column[features]                    `json:"keep"`  // what the order wants to have again when the link is followed
}

// column are the values of a column: of all links, or one for all.
type column[T any] []T

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

// features are what an order keeps with a link, in hexadecimal: zstd finds what features have in common, where base64 would hide it.
type features []byte

func (s *lineScanner) features() features {
	return read(s, func() (features, error) {
		raw, err := s.json.StrBytes()
		if err != nil || len(raw) == 0 {
			return nil, err
		}
		return hex.AppendDecode(nil, raw)
	})
}

// read reads a line.
func (p *linkSources) read(line []byte) error {
	return scan(line, func(s *lineScanner, name []byte) {
		switch string(name) {
		case "pages":
			p.Pages = listOf(s, s.text, 0)
		case "paths":
			p.Paths = columnOf(s, s.text)
		case "languages":
			p.Languages = columnOf(s, s.text)
		case "nofollow":
			p.NoFollow = columnOf(s, s.flag)
		case "embeds":
			p.Embeds = columnOf(s, s.flag)
		default:
			s.skip()
		}
	})
}

// read reads a line.
func (p *linkLine) read(line []byte) error {
	return scan(line, func(s *lineScanner, name []byte) {
		switch string(name) {
		case "page":
			p.Page = s.text()
		case "path":
			p.Path = s.text()
		case "language":
			p.Language = s.text()
		case "nofollow":
			p.NoFollow = s.flag()
		case "embeds":
			p.Embeds = s.flag()
		case "paragraphs":
			p.Blocks = map[int]string{}
			s.object(func(number []byte) {
				n, err := strconv.Atoi(string(number))
				if p.Blocks[n] = s.text(); err != nil {
					s.err = err
				}
			})
		default:
			p.readColumn(s, name)
		}
	})
}

// readColumn reads a column, or the dictionary of one.
func (p *linkLine) readColumn(s *lineScanner, name []byte) {
	switch string(name) {
	case "from":
		p.From = columnOf(s, s.integer)
	case "texts":
		p.Paragraphs = listOf(s, s.text, 0)
	case "text":
		p.Paragraph = columnOf(s, s.integer)
	case "contexts":
		p.Contexts = listOf(s, s.text, 0)
	case "tag_paths":
		p.TagPaths = listOf(s, s.text, 0)
	case "rels":
		p.Rels = listOf(s, s.text, 0)
	case "levels":
		p.Levels = listOf(s, s.text, 0)
	case "url":
		p.URL = listOf(s, s.text, s.n)
	case "hop":
		p.Hop = columnOf(s, s.text)
	case "block":
		p.Block = columnOf(s, s.integer)
	case "anchor":
		p.Anchor = columnOf(s, maybe(s, s.text))
	case "context":
		p.Context = columnOf(s, s.integer)
	case "tag_path":
		p.TagPath = columnOf(s, s.integer)
	case "rel":
		p.Rel = columnOf(s, s.integer)
	case "level":
		p.Level = columnOf(s, s.integer)
	case "prior":
		p.Prior = columnOf(s, s.number)
	case "score":
		p.Score = columnOf(s, s.number)
	case "parts":
		p.Parts = map[crawl.PartName]column[*float64]{}
		s.object(func(name []byte) { p.Parts[crawl.PartName(name)] = columnOf(s, maybe(s, s.number)) })
	case "keep":
		p.Keep = columnOf(s, s.features)
	default:
		s.skip()
	}
}

var embedLetter = crawl.HopEmbed.String()

// links makes the links of the line.
func (p *linkLine) links(sources *linkSources) ([]Link, error) {
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
	for i := range list {
		l := &list[i]
		embeds := p.Embeds
		l.Source, l.Path, l.Language, l.NoFollow = p.Page, p.Path, p.Language, p.NoFollow
		if p.From != nil {
			n := p.From.of(i)
			if n < 0 || n >= len(sources.Pages) {
				return nil, fmt.Errorf("link %q is of page %d, and there are %d", p.URL[i], n, len(sources.Pages))
			}
			l.Source, l.Path, l.Language, l.NoFollow = sources.Pages[n], sources.Paths.of(n), sources.Languages.of(n), sources.NoFollow.of(n)
			embeds = sources.Embeds.of(n)
		}
		if l.URL = p.URL[i]; strings.HasPrefix(l.URL, "/") {
			l.URL = originOf(l.Source) + l.URL
		}
		l.NoFollow = l.NoFollow && !(embeds && p.Hop.of(i) == embedLetter)
		l.HopLetter, l.Block, l.Prior, l.Score = p.Hop.of(i), p.Block.of(i), p.Prior.of(i), p.Score.of(i)
		l.Context, l.TagPath, l.Rel, l.Level = lookUp(p.Contexts, p.Context, i), lookUp(p.TagPaths, p.TagPath, i), lookUp(p.Rels, p.Rel, i), lookUp(p.Levels, p.Level, i)
		l.Paragraph = p.Blocks[l.Block]
		if p.From != nil {
			l.Paragraph = lookUp(p.Paragraphs, p.Paragraph, i)
		}
		switch text := p.Anchor.of(i); {
		case text != nil:
			l.Anchor = *text
		case len(p.Anchor) > 0:
			l.Anchor = l.Paragraph
		}
		for _, name := range names {
			if score := p.Parts[name].of(i); score != nil {
				if l.Parts == nil {
					l.Parts = make(crawl.Parts, 0, len(names))
				}
				l.Parts = append(l.Parts, crawl.Part{Name: name, Score: *score})
			}
		}
		l.LinkFeatures = p.Keep.of(i)
	}
	return list, nil
}

// linkLines reads the lines of a sidecar, or of some of its frames with the first among them.
type linkLines struct{ sources linkSources }

// take calls fn with the links of a line, of this form or of a former one.
func (r *linkLines) take(line []byte, fn func(Link) error) error {
	var list []Link
	switch {
	case bytes.HasPrefix(line, []byte(`{"pages":`)):
		r.sources = linkSources{}
		return r.sources.read(line)
	case bytes.HasPrefix(line, []byte(`{"source":`)): // of a former version, a line for each link
		list = make([]Link, 1)
		if err := json.Unmarshal(line, &list[0]); err != nil {
			return err
		}
	default:
		var p linkLine
		err := p.read(line)
		if err == nil {
			list, err = p.links(&r.sources)
		}
		if err != nil {
			return err
		}
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
}

// ReadLinks calls fn with each outlink of a sidecar, of this or a former form; without a key, as of a segment without
// responses, with none. The links of a page do not stand side by side.
func ReadLinks(ctx context.Context, store Store, key string, fn func(Link) error) error {
	if key == "" {
		return nil
	}
	var lines linkLines
	return readTexts(ctx, store, key, func(text []byte) error { return lines.read(key, text, fn) })
}

// read is take; of its errors those that are not fn's say where they are from.
func (r *linkLines) read(key string, line []byte, fn func(Link) error) error {
	var own error
	err := r.take(line, func(l Link) error {
		own = fn(l)
		return own
	})
	if err != nil && own == nil {
		return damaged(fmt.Errorf("read %s: %w", key, err))
	}
	return err
}

// ReadLinksTo calls fn with those outlinks of a sidecar that lead to some partitions of the frontier. Of a sidecar with a footer only
// the frames that have some of them are read.
func ReadLinksTo(ctx context.Context, store Store, of Stored, to func(partition int) bool, fn func(Link) error) error {
	if of.Key == "" {
		return nil
	}
	filter := places{}
	only := func(l Link) error {
		if !to(filter.of(l.URL).partition) {
			return nil
		}
		return fn(l)
	}
	footer, err := readFooter(ctx, store, of)
	if err != nil {
		return err
	}
	if footer == nil { // of a former version
		return ReadLinks(ctx, store, of.Key, only)
	}
	var lines linkLines
	for _, r := range footer.rangesTo(to) {
		if err := lines.readRange(ctx, store, of.Key, r, only); err != nil {
			return err
		}
	}
	return nil
}

// readRange reads the lines of frames that stand side by side.
func (r *linkLines) readRange(ctx context.Context, store Store, key string, at byteRange, fn func(Link) error) error {
	raw, err := store.GetRange(ctx, key, at.from, at.to-at.from)
	if err != nil {
		return err
	}
	return readLines(raw, key, func(text []byte) error { return r.read(key, text, fn) })
}

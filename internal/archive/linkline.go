package archive

import (
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// linkWriter writes the lines of the links sidecar. What it holds is for short use.
type linkWriter struct {
	words  map[string]int   // the dictionary of a column
	index  []int            // of each link in it
	blocks map[int]bool     // whose texts are written
	names  []crawl.PartName // of the analysers that spoke
}

// append appends a line: a [linkPage], as encoding/json would write it but for its escapes. The links of a page have most
// in common: a line for each took three to five times as many bytes before compression.
func (w *linkWriter) append(b []byte, c Capture) []byte {
	p, links, verdicts := c.Page, c.Page.Links, c.Page.Verdict.Links
	b = appendText(append(b, '{'), `"page":`, c.URL)
	b = appendText(b, `,"path":`, c.Path)
	b = appendSome(b, `,"language":`, p.Language)
	if p.NoFollow {
		b = append(b, `,"nofollow":true`...)
	}
	b = w.paragraphs(b, links, p.Blocks)
	b = w.dictionary(b, links, "context", func(l *crawl.Outlink) string { return l.Context })
	b = w.dictionary(b, links, "tag_path", func(l *crawl.Outlink) string { return l.TagPath })
	b = w.dictionary(b, links, "rel", func(l *crawl.Outlink) string { return l.Rel })
	b = w.dictionary(b, links, "level", func(l *crawl.Outlink) string { return l.Level })
	origin := originOf(c.URL)
	b = append(b, `,"url":[`...)
	for i := range links {
		b = append(crawl.AppendString(b, withoutOrigin(links[i].URL, origin)), ',')
	}
	b[len(b)-1] = ']'
	b = appendColumn(b, "hop", len(links), func(i int) crawl.Hop { return links[i].Hop }, func(b []byte, hop crawl.Hop) []byte {
		return crawl.AppendString(b, hop.String())
	})
	b = appendColumn(b, "block", len(links), func(i int) int { return links[i].Block }, appendInt)
	b = appendColumn(b, "anchor", len(links), func(i int) anchor { return anchorOf(&links[i], p.Blocks) }, appendAnchor)
	b = appendColumn(b, "prior", len(links), func(i int) float64 { return links[i].Prior }, appendScore)
	b = appendColumn(b, "score", len(links), func(i int) float64 { return verdicts[i].Score }, appendScore)
	return append(w.parts(b, verdicts), '}', '\n')
}

// paragraphs appends the text blocks that links stand in.
func (w *linkWriter) paragraphs(b []byte, links []crawl.Outlink, blocks []string) []byte {
	clear(w.blocks)
	for i := range links {
		n := links[i].Block
		if n < 0 || n >= len(blocks) || w.blocks[n] {
			continue
		}
		if len(w.blocks) == 0 {
			b = append(b, `,"paragraphs":{`...)
		} else {
			b = append(b, ',')
		}
		w.blocks[n] = true
		b = strconv.AppendInt(append(b, '"'), int64(n), 10)
		b = crawl.AppendString(append(b, '"', ':'), blocks[n])
	}
	if len(w.blocks) > 0 {
		b = append(b, '}')
	}
	return b
}

// dictionary appends the values of a column, each once, and the column of their indexes.
func (w *linkWriter) dictionary(b []byte, links []crawl.Outlink, name string, of func(*crawl.Outlink) string) []byte {
	clear(w.words)
	w.index = w.index[:0]
	start, last := len(b), 0
	b = append(append(append(b, ',', '"'), name...), `s":[`...)
	for i := range links {
		value := of(&links[i])
		if i > 0 && value == of(&links[i-1]) {
			w.index = append(w.index, last)
			continue
		}
		at, known := w.words[value]
		if !known {
			at = len(w.words)
			w.words[value] = at
			b = append(crawl.AppendString(b, value), ',')
		}
		w.index, last = append(w.index, at), at
	}
	if _, empty := w.words[""]; empty && len(w.words) == 1 {
		return b[:start]
	}
	b[len(b)-1] = ']'
	return appendColumn(b, string(name), len(links), func(i int) int { return w.index[i] }, appendInt)
}

// analyserScore is the score of an analyser, if it gave one.
type analyserScore struct {
	score   float64
	present bool
}

// parts appends a column for each analyser.
func (w *linkWriter) parts(b []byte, links []crawl.LinkVerdict) []byte {
	w.names = w.names[:0]
	for i := range links {
		for j := range links[i].Parts {
			if name := links[i].Parts[j].Name; !slices.Contains(w.names, name) {
				w.names = append(w.names, name)
			}
		}
	}
	if len(w.names) == 0 {
		return b
	}
	b = append(b, `,"parts":{`...)
	for n, name := range w.names {
		column := appendColumn(b, string(name), len(links), func(i int) analyserScore {
			score, is := links[i].Parts.Of(name)
			return analyserScore{score, is}
		}, func(b []byte, s analyserScore) []byte {
			if !s.present {
				return append(b, "null"...)
			}
			return appendScore(b, s.score)
		})
		if n == 0 { // no comma before the first
			column = append(column[:len(b)], column[len(b)+1:]...)
		}
		b = column
	}
	return append(b, '}')
}

// anchor is the text of a link; whole: it is the whole text of its block.
type anchor struct {
	text  string
	whole bool
}

func anchorOf(l *crawl.Outlink, blocks []string) anchor {
	if l.Block >= 0 && l.Block < len(blocks) && l.Anchor == blocks[l.Block] {
		return anchor{whole: true}
	}
	return anchor{text: l.Anchor}
}

func appendAnchor(b []byte, a anchor) []byte {
	if a.whole {
		return append(b, "null"...)
	}
	return crawl.AppendString(b, a.text)
}

// appendColumn appends the values of n links: one if they are all the same, none if they are all empty.
func appendColumn[T comparable](b []byte, name string, n int, of func(int) T, put func([]byte, T) []byte) []byte {
	first, same := of(0), true
	for i := 1; i < n && same; i++ {
		same = of(i) == first
	}
	var empty T
	if same && first == empty {
		return b
	}
	b = append(append(append(b, ',', '"'), name...), '"', ':')
	if same {
		return put(b, first)
	}
	b = append(b, '[')
	for i := range n {
		b = append(put(b, of(i)), ',')
	}
	b[len(b)-1] = ']'
	return b
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// withoutOrigin leaves out what a URL begins with, if it is of the page's own host and what is left begins with one slash: a
// reference that leads to the URL from the page (RFC 3986, §5).
func withoutOrigin(url, origin string) string {
	rest, own := strings.CutPrefix(url, origin)
	if origin == "" || !own || !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") {
		return url
	}
	return rest
}

package archive

import (
	"bytes"
	"encoding/hex"
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

// linkingPage is a page with outlinks.
type linkingPage struct {
	url, path string
	*crawl.Judged
}

// paragraph is the text block that a link stands in; empty if there is none.
func (p *linkingPage) paragraph(l *crawl.Outlink) string {
	if l.Block < 0 || l.Block >= len(p.Blocks) {
		return ""
	}
	return p.Blocks[l.Block]
}

// embedsAlone reports whether what the page embeds is followed, and no other link of it.
func (p *linkingPage) embedsAlone() bool {
	return p.Follows(crawl.HopEmbed) && !p.Follows(crawl.HopLink)
}

// outlink is a link of a page that was added to a sidecar.
type outlink struct {
	page int  // its number
	away bool // of another PLD than its page
	*crawl.Outlink
	verdict *crawl.LinkVerdict
}

// appendSources appends a line: a [linkSources].
func (w *linkWriter) appendSources(b []byte, pages []linkingPage) []byte {
	b = append(b, `{"pages":[`...)
	for i := range pages {
		b = append(crawl.AppendString(b, pages[i].url), ',')
	}
	b[len(b)-1] = ']'
	b = appendColumn(b, "paths", len(pages), func(i int) string { return pages[i].path }, crawl.AppendString)
	b = appendColumn(b, "languages", len(pages), func(i int) string { return pages[i].Language }, crawl.AppendString)
	b = appendColumn(b, "nofollow", len(pages), func(i int) bool { return !pages[i].Follows(crawl.HopLink) }, strconv.AppendBool)
	b = appendColumn(b, "embeds", len(pages), func(i int) bool { return pages[i].embedsAlone() }, strconv.AppendBool)
	return append(b, '}', '\n')
}

// appendHome appends a line: a [linkLine] of links of a page to its own PLD, as encoding/json would write it but for its escapes. The
// links of a page have most in common: a line for each took three to five times as many bytes before compression.
func (w *linkWriter) appendHome(b []byte, p *linkingPage, links []outlink) []byte {
	b = appendText(append(b, '{'), `"page":`, p.url)
	b = appendText(b, `,"path":`, p.path)
	b = appendSome(b, `,"language":`, p.Language)
	if !p.Follows(crawl.HopLink) {
		b = append(b, `,"nofollow":true`...)
	}
	if p.embedsAlone() {
		b = append(b, `,"embeds":true`...)
	}
	b = w.paragraphs(b, links, p.Blocks)
	return w.columns(b, links, func(*outlink) *linkingPage { return p })
}

// appendAway appends a line: a [linkLine] of links of several pages to other PLDs.
func (w *linkWriter) appendAway(b []byte, pages []linkingPage, links []outlink) []byte {
	of := func(l *outlink) *linkingPage { return &pages[l.page] }
	// Always a list: of is what distinguishes the line.
	b = append(b, `{"from":[`...)
	for i := range links {
		b = append(appendInt(b, links[i].page), ',')
	}
	b[len(b)-1] = ']'
	b = w.dictionary(b, links, "text", func(l *outlink) string { return of(l).paragraph(l.Outlink) })
	return w.columns(b, links, of)
}

// columns appends what the links of a line have, and ends it.
func (w *linkWriter) columns(b []byte, links []outlink, of func(*outlink) *linkingPage) []byte {
	b = w.dictionary(b, links, "context", func(l *outlink) string { return l.Context })
	b = w.dictionary(b, links, "tag_path", func(l *outlink) string { return l.TagPath })
	b = w.dictionary(b, links, "rel", func(l *outlink) string { return l.Rel })
	b = w.dictionary(b, links, "level", func(l *outlink) string { return l.Level })
	b = append(b, `,"url":[`...)
	origin, page := "", -1
	for i := range links {
		if l := &links[i]; l.page != page {
			origin, page = originOf(of(l).url), l.page
		}
		b = append(crawl.AppendString(b, withoutOrigin(links[i].URL, origin)), ',')
	}
	b[len(b)-1] = ']'
	b = appendColumn(b, "hop", len(links), func(i int) crawl.Hop { return links[i].Hop }, func(b []byte, hop crawl.Hop) []byte {
		return crawl.AppendString(b, hop.String())
	})
	b = appendColumn(b, "block", len(links), func(i int) int { return links[i].Block }, appendInt)
	b = appendColumn(b, "anchor", len(links), func(i int) anchor { return anchorOf(&links[i], of(&links[i])) }, appendAnchor)
	b = appendColumn(b, "prior", len(links), func(i int) float64 { return links[i].Prior }, appendScore)
	b = appendColumn(b, "score", len(links), func(i int) float64 { return links[i].verdict.Score }, appendExactScore)
	return append(w.keep(w.parts(b, links), links), '}', '\n')
}

// keep appends what the order keeps: with links to other PLDs, which another worker may have to queue, and what is the same for all. These
// features take some 15 bytes a link, compressed: with those of all links, sidecars would take 24 % of what the WARC takes. Links within a
// PLD are judged again where a lost frontier is restored.
func (w *linkWriter) keep(b []byte, links []outlink) []byte {
	same := true
	for i := range links {
		same = same && bytes.Equal(links[i].verdict.LinkFeatures, links[0].verdict.LinkFeatures)
	}
	return appendColumn(b, "keep", len(links), func(i int) string {
		if same || links[i].away {
			return string(links[i].verdict.LinkFeatures)
		}
		return ""
	}, func(b []byte, kept string) []byte {
		return append(hex.AppendEncode(append(b, '"'), []byte(kept)), '"')
	})
}

// paragraphs appends the text blocks that links stand in.
func (w *linkWriter) paragraphs(b []byte, links []outlink, blocks []string) []byte {
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
func (w *linkWriter) dictionary(b []byte, links []outlink, name string, of func(*outlink) string) []byte {
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
func (w *linkWriter) parts(b []byte, links []outlink) []byte {
	w.names = w.names[:0]
	for i := range links {
		for j := range links[i].verdict.Parts {
			if name := links[i].verdict.Parts[j].Name; !slices.Contains(w.names, name) {
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
			score, is := links[i].verdict.Parts.Of(name)
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

func anchorOf(l *outlink, p *linkingPage) anchor {
	if l.Block >= 0 && l.Block < len(p.Blocks) && l.Anchor == p.Blocks[l.Block] {
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

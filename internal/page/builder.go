package page

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// builder collects the parts of a page while its tree is walked.
type builder struct {
	doc         *Document
	limits      Limits
	base        urls.Resolver
	valid       bool   // base is a URL
	based       bool   // a base element was seen
	text        []byte // of the current block
	fold        []byte // for short use
	textSize    int
	lang        string
	resolved    map[string]string // reference → canonical URL, "" if it is none
	seen        map[seenLink]int
	pending     int        // first link that stands in the current block
	inAnchor    int        // link of the anchor that is open, −1 if none is
	node        *html.Node // the text node that is read, nil without a tree
	start       *html.Node // the one that the current block begins in
	styled      int        // bytes of style sheets that were read
	marked      int        // elements and attributes that were looked at
	mute        int        // > 0: what is walked has links to take, and no text
	scripted    int        // bytes of scripts that were searched
	speculative int        // links of that kind
	absolute    int        // > 0: there is no base, so that only absolute URLs are links
	robot       string     // product token of the crawler, in lower case
	icon        bool       // the page names one
	joined      bool       // the words of two lines are not separated: see JoinedBlocks
	frames      int        // documents in srcdoc attributes that are walked, one in the other
}

type seenLink struct {
	url string
	hop crawl.Hop
}

func newBuilder(d *Document, base string, limits Limits) *builder {
	b := &builder{doc: d, limits: limits, resolved: map[string]string{}, seen: map[seenLink]int{}, inAnchor: -1}
	r, err := urls.NewResolver(base)
	b.base, b.valid = r, err == nil
	return b
}

// expect makes room for so many links, in case that they are taken.
func (b *builder) expect(links int) {
	links = min(links, b.limits.Links)
	b.doc.Links = slices.Grow(b.doc.Links, links)
	if len(b.seen) == 0 && len(b.resolved) == 0 {
		b.resolved, b.seen = make(map[string]string, links), make(map[seenLink]int, links)
	}
}

func (b *builder) setBase(ref string) {
	if b.based || !b.valid {
		return
	}
	b.based = true
	if u, err := b.base.Resolve(ref); err == nil {
		clear(b.resolved)
		base, err := urls.NewResolver(u.String())
		b.base, b.valid = base.In(b.base.Encoding()), err == nil
	}
}

// write adds text to the current block with its white space folded.
func (b *builder) write(s string) {
	for s != "" && b.mute == 0 && b.textSize+len(b.text) < int(b.limits.TextBytes) {
		piece := s[:b.split(s)]
		s = s[len(piece):]
		if len(b.text) == 0 {
			b.start = b.node
		}
		b.text = Fold(b.text, piece)
		if s != "" || len(b.text) >= b.limits.BlockBytes {
			b.breakBlock()
		}
	}
}

// endLine separates the words of two lines of the current block (br, HTML §4.5.27).
func (b *builder) endLine() {
	if b.mute == 0 && !b.joined {
		b.text = appendSpace(b.text)
	}
}

// split reports how much of s the current block has room for: up to a space if there is one, else nothing; at least a
// rune of a new block.
func (b *builder) split(s string) int {
	room := b.limits.BlockBytes - len(b.text)
	if len(s) <= room {
		return len(s)
	}
	if at := strings.LastIndexAny(s[:max(room, 0)], " \n\t"); at >= 0 {
		return at + 1
	}
	if len(b.text) > 0 {
		return 0
	}
	if n := len(cut(s, room)); n > 0 {
		return n
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// breakBlock ends the current text block.
func (b *builder) breakBlock() {
	text := bytes.TrimSpace(b.text)
	b.text = b.text[:0]
	if len(text) == 0 {
		b.noBlock()
		return
	}
	s := ""
	if b.start != nil {
		s = shared(text, b.start.Data)
	} else {
		s = string(text)
	}
	b.pending = len(b.doc.Links)
	b.textSize += len(s)
	b.doc.Blocks = append(b.doc.Blocks, s)
	if b.start != nil {
		b.doc.Starts = append(b.doc.Starts, b.start)
	}
}

// shared is a text as a string that shares the memory of what it was folded from, if nothing but space at the ends was to be
// folded, as in most pages. It shares no memory that would be kept for less than half of it.
func shared(text []byte, from string) string {
	if s := strings.TrimSpace(from); string(text) == s && 2*len(s) >= len(from) {
		return s
	}
	return string(text)
}

// noBlock notes for the links since the last block that there is no text around them. The text of an
// anchor that is still open may come yet, in a block inside of it.
func (b *builder) noBlock() {
	for i := b.pending; i < len(b.doc.Links); i++ {
		if i != b.inAnchor {
			b.doc.Links[i].Block = -1
		}
	}
	b.pending = len(b.doc.Links)
	if b.inAnchor >= 0 && b.inAnchor < b.pending && b.doc.Links[b.inAnchor].Block == len(b.doc.Blocks) {
		b.pending = b.inAnchor
	}
}

// resolve makes a reference absolute, "" if it leads nowhere.
func (b *builder) resolve(ref string) string {
	if !b.valid {
		return ""
	}
	target, known := b.resolved[ref]
	if !known {
		u, err := b.base.Resolve(ref)
		switch {
		case err == nil:
			target = u.String()
		case errors.Is(err, urls.ErrTooLong) && mayLead(ref):
			b.doc.LinksCut++
		}
		if len(b.resolved) > maxResolved*b.limits.Links {
			clear(b.resolved)
		}
		b.resolved[ref] = target
	}
	return target
}

// mayLead reports whether a reference may lead to a page, as far as its scheme says; "data:" leads nowhere.
func mayLead(ref string) bool {
	ref = strings.TrimLeft(ref, " \t\r\n")
	if end := strings.IndexAny(ref, ":/?#"); end >= 0 && ref[end] == ':' {
		scheme := ref[:end]
		return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	}
	return true
}

// full reports whether the page may have no more links.
func (b *builder) full() bool { return len(b.doc.Links) >= b.limits.Links }

// maxResolved is how many references are remembered for each link that a page may have: a million of them may lead to one
// page.
const maxResolved = 2

// link adds an outlink that stands in the current block; it returns its index, −1 if it was not taken.
func (b *builder) link(ref string, hop crawl.Hop, context, tagPath, rel string) int {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' || !b.valid || b.absolute > 0 && !strings.HasPrefix(ref, "http:") && !strings.HasPrefix(ref, "https:") {
		return -1
	}
	if _, known := b.resolved[ref]; !known && b.full() { // nor is it resolved
		b.doc.LinksCut++
		return -1
	}
	target := b.resolve(ref)
	if target == "" || target == b.doc.URL && hop != crawl.HopRedirect {
		return -1
	}
	key := seenLink{target, hop}
	if at, twice := b.seen[key]; twice {
		return at
	}
	if hop == crawl.HopSpeculative || hop == crawl.HopEmbed {
		if at, done := b.asPart(target, hop); done {
			return at
		}
	}
	if long := len(target) > urls.MaxPage && hop != crawl.HopEmbed; long || b.full() {
		if b.doc.LinksCut++; long { // counts once
			b.seen[key] = -1
		}
		return -1
	}
	b.seen[key] = len(b.doc.Links)
	b.doc.Links = append(b.doc.Links, crawl.Outlink{
		URL: target, Hop: hop, Context: context, TagPath: tagPath, Rel: rel, Block: len(b.doc.Blocks),
	})
	return len(b.doc.Links) - 1
}

// asPart returns the link of a part of the page that is known already: what is sure counts, whichever comes first. It counts
// what is speculative.
func (b *builder) asPart(target string, hop crawl.Hop) (at int, done bool) {
	if b.speculative == 0 && hop == crawl.HopEmbed {
		return 0, false
	}
	if hop == crawl.HopSpeculative {
		if at, known := b.seen[seenLink{target, crawl.HopEmbed}]; known {
			return at, true
		}
		b.speculative++
		return -1, false
	}
	at, known := b.seen[seenLink{target, crawl.HopSpeculative}]
	if known = known && at >= 0; known { // else it was too long for that
		b.doc.Links[at].Hop = hop
		b.seen[seenLink{target, hop}] = at
	}
	return at, known
}

// anchor gives a link its text; the first one that says something counts.
func (b *builder) anchor(at int, text string) {
	if at < 0 || b.doc.Links[at].Anchor != "" {
		return
	}
	b.fold = Fold(b.fold[:0], text)
	b.doc.Links[at].Anchor = cut(shared(bytes.TrimSpace(b.fold), text), b.limits.AnchorBytes)
}

func (b *builder) finish() {
	b.breakBlock()
	for i := range b.doc.Links {
		if b.doc.Links[i].Block >= len(b.doc.Blocks) {
			b.doc.Links[i].Block = -1
		}
	}
	b.doc.Language = language(b.lang, b.doc.Blocks)
}

// cut shortens s to at most n bytes at a rune's edge.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func validUTF8(b []byte) bool { return utf8.Valid(b) }

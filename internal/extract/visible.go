package extract

import (
	"iter"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/dates"
)

// What is looked at for a date or a name that readers see.
const (
	maxDated     = 160 // bytes of a text block with a word that says what its date is
	maxDateAlone = 80  // and of one without
	maxDateWords = 10  // words of the latter
)

// dated is a date that a reader sees.
type dated struct {
	at       time.Time
	text     string // RFC 3339
	kind     label
	distance int
	size     int // of the block that it stands in, in bytes; 0 of one that is meant for programs
}

// cost is how unlikely a date is that of the page; the least counts.
func (d *dated) cost() int {
	cost := 4*d.distance + d.size/4
	switch {
	case d.kind == published:
		cost -= 40
	case d.size == 0:
		cost -= 20
	}
	return cost
}

// visibleDates supplies the dates of an object that nothing else gives: from its address, and from what readers see near its heading and its
// text; else from what says of itself that it is a date, wherever it stands, and from the data of scripts.
func (p *Page) visibleDates(o *crawl.Object, w window) {
	if at := dateOfURL(p.Doc.URL); at != "" {
		set(o, "published", at)
		return
	}
	if isFront(p.Doc.URL) {
		return
	}
	found := p.datesIn(&w)
	var best, change *dated
	for i := range found {
		switch d := &found[i]; {
		case d.kind == updated:
			if change == nil || d.cost() < change.cost() {
				change = d
			}
		case d.kind != published && o.Type == "product": // the day of a review, or from which it is sold
		case best == nil || d.cost() < best.cost():
			best = d
		}
	}
	if change != nil {
		p.supply(o, "modified", change.text)
	}
	if p.descends(found) {
		return
	}
	for _, other := range []func(*window) *dated{p.leadingDate, p.markedDate, p.onlyDate, p.scriptDate} {
		if best != nil || o.Type == "product" {
			break
		}
		best = other(&w)
	}
	if best == nil || later(best.at, o.Properties.Get("modified")) {
		return
	}
	set(o, "published", best.text)
}

// later reports whether a date is more than two days after that of a change.
func later(at time.Time, change string) bool {
	changed, _, ok := dates.Read(change, time.Time{})
	return ok && at.Sub(changed) > 48*time.Hour
}

// descends reports whether three days or more stand there, each before the one above it, as in a list of articles.
func (p *Page) descends(found []dated) bool {
	steps := 0
	for i := 1; i < len(found); i++ {
		switch a, b := found[i-1].at, found[i].at; {
		case found[i].kind == updated || found[i-1].kind == updated || a.Sub(b).Abs() < 24*time.Hour:
		case a.Before(b):
			return false
		default:
			steps++
		}
	}
	return steps >= 2
}

// datesIn are the dates in a window, in the order of the page.
func (p *Page) datesIn(w *window) (found []dated) {
	l, tree := p.layout(), p.Eval.Tree
	dayFirst := p.dayFirst()
	var spans [maxSpans + 1]span
	for i, text := range p.Doc.Blocks {
		distance, ok := w.holds(i)
		if !ok || p.apart(w, i) {
			continue
		}
		list, before := []span(nil), p.labelBefore(i)
		if len(text) <= maxDated {
			list = spansOf(text, spans[:0])
		}
		found = timesIn(found, l.elements(tree, i), list, before, distance, dayFirst)
		if len(text) > maxDated || !mayHoldDate(text) {
			continue
		}
		at := len(found)
		if found = readDates(found, text, list, before, distance, dayFirst); len(found) == at && len(text) <= maxPiece {
			found = appendDate(found, p.pieces(i), before, distance, maxPiece)
		}
		if len(found) == at {
			found = partsOf(found, l.elements(tree, i), len(text), before, distance)
		}
	}
	return found
}

// partsOf are the dates that elements of a text are all of: in a row of parts without spaces between them.
func partsOf(found []dated, elements iter.Seq[*html.Node], size int, before label, distance int) []dated {
	for n := range elements {
		text := strings.TrimSpace(briefText(n, maxPart+1))
		if len(text) <= maxPart && len(text) < size && mayHoldDate(text) && fields(text) <= maxPartWords {
			found = appendDate(found, text, before, distance, len(text))
		}
	}
	return found
}

// Bounds of an element that is a date and nothing else.
const (
	maxPart      = 40 // bytes
	maxPartWords = 5
)

// mayHoldDate reports whether a text has a digit of some script.
func mayHoldDate(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c), c == 0xD9, c == 0xDB, c == 0xE0, c == 0xEF:
			return true
		}
	}
	return false
}

// labelBefore is what the block before a block says of a date in it, if it says nothing else: the label in a cell of its own.
func (p *Page) labelBefore(i int) label {
	if i == 0 || len(p.Doc.Blocks[i-1]) > maxPiece+maxPiece || mayHoldDate(p.Doc.Blocks[i-1]) {
		return noLabel
	}
	var buf [maxSpans + 1]span
	list := spansOf(p.Doc.Blocks[i-1], buf[:0])
	if len(list) == 0 {
		return noLabel
	}
	switch last := list[len(list)-1]; {
	case last.kind == noLabel || last.kind == byAuthor || fields(strings.Trim(last.text, " :：")) > 1:
		return noLabel
	default:
		return last.kind
	}
}

// maxPiece bounds a block that is a part of a date alone, in bytes.
const maxPiece = 20

// pieces is the text of up to three short blocks from one on, each of which is part of a date: day, month and year in boxes of their own.
func (p *Page) pieces(i int) string {
	text := p.Doc.Blocks[i]
	for k := i + 1; k < len(p.Doc.Blocks) && k < i+3 && len(p.Doc.Blocks[k]) <= maxPiece; k++ {
		text += " " + p.Doc.Blocks[k]
		if _, precision, ok := dates.Read(text, time.Time{}); ok && precision == dates.Day && fields(text) <= 4 {
			return text
		}
	}
	return ""
}

// onlyDate is the date that the short texts of the page say is that of its publication; nil if they say more than one day.
func (p *Page) onlyDate(w *window) *dated {
	dayFirst := p.dayFirst()
	var only *dated
	var spans [maxSpans + 1]span
	var list [maxSpans + 1]dated
	for i, text := range p.Doc.Blocks {
		if len(text) > maxDateAlone || !mayHoldDate(text) || p.apart(w, i) {
			continue
		}
		for _, d := range readDates(list[:0], text, spansOf(text, spans[:0]), p.labelBefore(i), 0, dayFirst) {
			if d.kind != published {
				continue
			}
			if only != nil && only.at.Sub(d.at).Abs() >= 24*time.Hour {
				return nil
			}
			if only == nil {
				only = &d
			}
		}
	}
	return only
}

// readDates reads the dates of a text that is cut at its labels; before is what the text before it says. Without a label only a short text
// counts; of a span of time none does.
func readDates(found []dated, text string, spans []span, before label, distance int, dayFirst bool) []dated {
	for k, s := range spans {
		kind := s.kind
		if k == 0 && kind == noLabel {
			kind = before
		}
		if kind == foreign || strings.Count(s.text, "20")+strings.Count(s.text, "19") > 3 {
			continue
		}
		if kind == noLabel && k+1 < len(spans) && spans[k+1].kind == updated && !strings.ContainsAny(spans[k+1].text, "0123456789") {
			kind = updated // the word comes after the date
		}
		if kind == byAuthor { // a name and a date; a date alone is one until which something is to be done
			if beginsWithDate(s.text) {
				continue
			}
			kind = published
		}
		if kind == noLabel && (len(text) > maxDateAlone || namedWords(text) > maxDateWords || isSentence(text) || k+1 < len(spans) && spans[k+1].kind == foreign) {
			continue
		}
		part := s.text
		if dayFirst {
			part = withCentury(dotted(part))
		}
		found = appendDate(found, part, kind, distance, len(text))
	}
	return found
}

// namedWords counts the words of a text that have a letter or a digit.
func namedWords(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// isSentence reports whether a short text is one: what it is about has the date, not the page.
func isSentence(text string) bool {
	return fields(text) > maxPhraseWords && strings.ContainsAny(text[len(text)-1:], ".!?")
}

// fields counts what stands between white space. The bounds of dates and names are such counts: a Chinese or Japanese line of author and date
// is one field or a few, though countWords counts many words in it.
func fields(text string) (n int) {
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

// maxPhraseWords bounds a text with a date and a full stop that is no sentence.
const maxPhraseWords = 6

// beginsWithDate reports whether a text begins with a number or the name of a month, or has nothing.
func beginsWithDate(text string) bool {
	text = strings.TrimLeft(text, " :：")
	if text == "" || isDigit(text[0]) {
		return true
	}
	word, _, _ := strings.Cut(text, " ")
	return isMonth(word)
}

// isMonth reports whether a word is the name of a month, or short for one.
func isMonth(word string) bool {
	_, precision, ok := dates.Read(strings.Trim(word, ",.")+" 5, 2020", time.Time{})
	return ok && precision == dates.Day
}

func appendDate(found []dated, text string, kind label, distance, size int) []dated {
	at, precision, ok := dates.Read(text, time.Time{})
	if !ok || precision < dates.Day {
		return found
	}
	return append(found, dated{at: at, text: at.Format(time.RFC3339), kind: kind, distance: distance, size: size})
}

package page

import "bytes"

// formats are the elements of formatting that may be in the parser's list of active ones: those of the run, which began
// since the last tag that may hide elements from their end tags (a cell, a table, an object), and the frozen ones before it.
// Of these it is not known which end tag closes which, so none does: that counts too much, never too little.
type formats struct {
	run, frozen []format
	weight      int // nodes and attributes of all of them
	largest     int // … of the largest that there was
	growing     int // how many of them are of tags whose end was not read yet

	others   [][]byte // names of elements without a meaning of their own that began in the run
	specials int      // how many special elements have begun (HTML §13.2.4.2)
	pops     int      // how many tags may have closed elements that were there before them
	ghosts   bool     // elements of formatting may be open that are not in the list: an end tag may close one of them instead
}

type format struct {
	name, tag []byte // tag is nil if its end is not known
	size      int    // nodes and attributes
	specials  int    // formats.specials when it began
	pops      int    // formats.pops
	others    int    // len(formats.others)
}

// Bounds of HTML §13.2.4.3 ("Noah's Ark") and §13.2.6.4.7 (the adoption agency algorithm).
const (
	maxAlike  = 3 // like elements in the list
	maxRounds = 8 // in each of which an end tag makes an element of formatting again that has special ones in it, and …
	maxInner  = 3 // … so many others between them
)

// start counts what a start tag makes beside its own element: what is open is made again before it, or in the text after it.
func (f *formats) start(m *meter, name []byte, class class, tag []byte, size int) {
	switch class {
	case formatting, anchor, nobr:
		switch class {
		case anchor: // it closes one before it
			f.endFormat(m, name)
		case nobr: // so it does, after what is open was made again
			m.nodes += f.weight
			f.endFormat(m, name)
		}
		m.nodes += f.weight
		f.open(name, tag, size)
		return
	case special, raw:
		f.specials++
		f.pop()
	case popper:
		f.pop()
	case barrier, table, column:
		f.specials += 3 // with a row and its group
		f.freeze()
	case other, foreign:
		if len(f.run) > 0 && tag != nil && tag[len(tag)-2] != '/' {
			f.others = append(f.others, name)
		}
	}
	m.nodes += f.weight
}

// end counts what an end tag makes, and takes out what it closes.
func (f *formats) end(m *meter, name []byte, class class) {
	switch class {
	case formatting, anchor, nobr:
		f.endFormat(m, name)
	case special, raw, popper:
		f.pop()
	case barrier, table, column:
		f.freeze()
	case other, foreign:
		f.endOther(name)
	}
	m.nodes += f.weight
}

func (f *formats) endFormat(m *meter, name []byte) {
	switch i := last(f.run, name); {
	case i >= 0 && f.close(m, i):
	case i >= 0 || last(f.frozen, name) >= 0:
		f.adopt(m)
	default:
		f.pop()
	}
}

// endOther keeps it in mind that what began in the run was closed, and nothing else.
func (f *formats) endOther(name []byte) {
	for i := len(f.others) - 1; i >= 0; i-- {
		if bytes.EqualFold(f.others[i], name) {
			f.others = f.others[:i]
			return
		}
	}
	f.pop()
}

func (f *formats) pop() {
	f.pops++
	f.others = f.others[:0]
}

// open adds an element.
func (f *formats) open(name, tag []byte, size int) {
	named, alike := 0, 0
	for _, list := range [][]format{f.frozen, f.run} {
		alike = 0
		for i := range list {
			if bytes.EqualFold(list[i].name, name) {
				named++
			}
			if tag != nil && bytes.Equal(list[i].tag, tag) {
				alike++
			}
		}
	}
	f.ghosts = f.ghosts || named >= maxAlike // the first of them may leave the list, and stay open
	f.largest = max(f.largest, size)
	if alike >= maxAlike {
		return // the one that leaves stands for it
	}
	if tag == nil {
		f.growing++
	}
	f.weight += size
	f.run = append(f.run, format{name, tag, size, f.specials, f.pops, len(f.others)})
}

func last(list []format, name []byte) int {
	for i := len(list) - 1; i >= 0; i-- {
		if bytes.EqualFold(list[i].name, name) {
			return i
		}
	}
	return -1
}

// close takes an element of the run out, if its end tag surely takes it out of the parser's list. The tag finds the last
// element of its name in the list. It takes that out, unless
//   - a cell, a table and the like is between them, of which there is none in the run;
//   - an element of that name which is not in the list is the innermost one: not if the element is open itself;
//   - special elements are in it, more than can be taken out of it in maxRounds. For each of them the element is made again.
//     Other elements of formatting may leave the list on the way and stay open, of which there is none if it is the last one.
func (f *formats) close(m *meter, i int) bool {
	e := &f.run[i]
	inside, innermost := f.specials-e.specials, i == len(f.run)-1
	stands := inside == 0 && e.pops == f.pops
	if e.tag == nil || !stands && (f.ghosts || inside >= maxRounds || inside > 0 && !innermost) {
		return false
	}
	m.nodes += inside * e.size
	f.weight -= e.size
	f.others = f.others[:min(len(f.others), e.others)]
	if inside > 0 || !innermost {
		f.pop()
	}
	f.run = append(f.run[:i], f.run[i+1:]...)
	return true
}

// adopt counts what an end tag may make again where it is not known what it finds.
func (f *formats) adopt(m *meter) {
	m.nodes += min(maxRounds, f.specials) * min((1+maxInner)*f.largest, f.weight)
	f.ghosts = true
	f.freeze()
}

// freeze leaves the elements of the run open for good. As no more than maxAlike like ones are made again, more need not be kept.
func (f *formats) freeze() {
	for _, e := range f.run {
		alike := 0
		for i := range f.frozen {
			if e.tag != nil && bytes.Equal(f.frozen[i].tag, e.tag) {
				alike++
			}
		}
		if alike >= maxAlike {
			f.weight -= e.size
			continue
		}
		f.frozen = append(f.frozen, e)
	}
	f.run = f.run[:0]
	f.pop()
}

// grow counts attributes of tags whose end was not known.
func (f *formats) grow(attributes int, ended bool) {
	f.weight += attributes * f.growing
	f.largest += attributes
	if ended {
		f.growing = 0
	}
}

// class is what a tag means for the list of active formatting elements, by its name.
type class uint8

const (
	other      class = iota // nothing but itself: no special element, closed by its own end tag
	void                    // an element without content that closes nothing
	popper                  // may close elements before it, and is not special
	special                 // HTML §13.2.4.2, closing elements before it
	raw                     // special, of text alone
	formatting              // HTML §13.2.4.3
	anchor                  // a
	nobr
	foreign // svg, math
	leaf    // elements of svg and math whose content is HTML
	barrier // hides elements of formatting from end tags in it
	table   // … with perhaps a row and its group made for it
	column  // … and a group of columns
)

// implied are the nodes that a tag may make beside its own.
var implied = [...]int{table: 2, column: 3}

// longest is the longest name with a meaning.
const longest = len("annotation-xml")

func classOf(name []byte) class {
	if len(name) > longest {
		return other
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			var low [longest]byte
			copy(low[:], name)
			for ; i < len(name); i++ {
				if low[i] >= 'A' && low[i] <= 'Z' {
					low[i] |= 0x20
				}
			}
			return classOfLow(low[:len(name)])
		}
	}
	return classOfLow(name)
}

func classOfLow(name []byte) class {
	switch string(name) {
	case "a":
		return anchor
	case "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
		return formatting
	case "area", "base", "basefont", "bgsound", "br", "embed", "image", "img", "keygen", "link", "meta", "param", "source", "track", "wbr":
		return void
	case "dialog", "hr", "input", "optgroup", "option", "rb", "rp", "rt", "rtc", "ruby", "search":
		return popper
	case "address", "article", "aside", "blockquote", "button", "center", "dd", "details", "dir", "div", "dl", "dt", "fieldset", "figcaption",
		"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "li", "listing", "main", "menu", "nav", "noscript",
		"ol", "p", "pre", "section", "summary", "ul":
		return special
	case "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp":
		return raw
	case "svg", "math":
		return foreign
	case "desc", "mi", "mn", "mo", "ms", "mtext":
		return leaf
	case "caption", "colgroup", "table", "tbody", "tfoot", "thead":
		return table
	case "col":
		return column
	case "annotation-xml", "applet", "body", "foreignobject", "frame", "frameset", "head", "html", "marquee", "object", "select", "td",
		"template", "th", "tr":
		return barrier
	case "nobr":
		return nobr
	}
	return other
}

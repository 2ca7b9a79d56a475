package page

import (
	"bytes"
	"slices"
)

// markupBound returns how much of a page's markup is read so that the tree made of it has about limit nodes and
// attributes at most: len(text), or the place of the tag that would be one too many. A node takes some hundred
// bytes, so that 16 MB of "<p>" would take 600 MB.
//
// Every "<" counts, in a comment, a script or a quoted value too: where these end depends on the tree, and what is
// passed over here and read there would not be bounded.
//
// An element of formatting that is not closed counts again for each tag after it: the HTML algorithm makes it anew in
// the blocks that follow (HTML §13.2.4.3, the list of active formatting elements), and a small page may so
// have a very large tree.
func markupBound(text []byte, limit int) int {
	nodes, in, open, hidden := 0, inside(0), formats{}, hiding{}
	for i := 0; i < len(text); {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			break
		}
		at += i
		name, closing := tagName(text[at+1:])
		sure := in == 0 && hidden.at(text, at, name, closing)
		in, _ = in.step('<')
		i = at + 1
		if closing {
			in, _ = in.step('/')
			i++
		}
		if len(name) > 0 {
			in |= inName
		}
		for ; i < len(text) && in != 0 && text[i] != '<'; i++ {
			var attribute bool
			if in, attribute = in.step(text[i]); attribute {
				nodes++
			}
		}
		var tag []byte // nil if its end is not known
		if in == 0 {
			tag = text[at:i]
		}
		if !closing {
			open.start(name, tag)
		} else if sure {
			open.end(name)
		}
		if nodes += 1 + len(open); nodes > limit {
			return at
		}
	}
	return len(text)
}

// inside is the set of places in tags where the reader may be. Beside them it may always be outside of all tags: which
// "<" begins a tag depends on what is before it. So an attribute of the tree is one of some place of the set.
type inside uint8

const (
	inName inside = 1 << iota
	beforeKey
	inKey
	afterKey
	beforeValue
	unquoted
	quoted  // "
	aquoted // '
)

// step goes one byte on, and tells whether an attribute begins with it.
func (in inside) step(c byte) (next inside, attribute bool) {
	k := kinds[c]
	return steps[k][in], in&begins[k] != 0
}

// The kinds of byte that a tag is made of, and the places at which an attribute begins with one.
const (
	letter = iota // or anything else
	blank
	slash
	equals
	double
	single
	ends
)

var (
	kinds = [256]uint8{
		' ': blank, '\n': blank, '\t': blank, '\r': blank, '\f': blank,
		'/': slash, '=': equals, '"': double, '\'': single, '>': ends,
	}
	begins = [...]inside{letter: beforeKey | afterKey, equals: beforeKey, double: beforeKey | afterKey, single: beforeKey | afterKey, ends: 0}
	steps  = allSteps()
)

func allSteps() (all [ends + 1][256]inside) {
	for k := range all {
		for in := range all[k] {
			all[k][in] = inside(in).after(k)
		}
	}
	return all
}

// after tells where a byte of a kind leads to (HTML §13.2.5.8 and §13.2.5.32-40).
func (in inside) after(kind int) inside {
	next := in & (quoted | aquoted)
	switch kind {
	case ends:
		return next
	case blank:
		next |= in & (beforeKey | afterKey | beforeValue)
		return next | in.to(inName|unquoted, beforeKey) | in.to(inKey, afterKey)
	case slash:
		return next | in.to(inName|beforeKey|inKey|afterKey, beforeKey) | in.to(beforeValue|unquoted, unquoted)
	case equals:
		return next | in&inName | in.to(beforeKey, inKey) | in.to(inKey|afterKey, beforeValue) | in.to(beforeValue|unquoted, unquoted)
	case double:
		next = in&aquoted | in.to(quoted, beforeKey) | in.to(beforeValue, quoted)
	case single:
		next = in&quoted | in.to(aquoted, beforeKey) | in.to(beforeValue, aquoted)
	case letter:
		next |= in.to(beforeValue, unquoted)
	}
	return next | in&(inName|unquoted) | in.to(beforeKey|inKey|afterKey, inKey)
}

// to is the place to which the reader goes from some others, if it may be at one of them.
func (in inside) to(from, place inside) inside {
	if in&from != 0 {
		return place
	}
	return 0
}

// hiding tells where an end tag may be trusted to be one: not in a comment, nor in an element of text alone.
type hiding struct {
	from int    // where the comment ends
	text string // the element of text
}

func (h *hiding) at(text []byte, at int, name []byte, closing bool) bool {
	switch {
	case at < h.from:
		return false
	case len(name) == 0:
		return h.comment(text, at)
	}
	if h.text == "" && !closing {
		h.text = textAlone(name)
	} else if h.text != "" && closing && h.text == textAlone(name) {
		h.text = ""
	}
	return h.text == ""
}

func (h *hiding) comment(text []byte, at int) bool {
	for _, c := range [...]struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<!", ">"}, {"<?", ">"}, {"</", ">"}} {
		if bytes.HasPrefix(text[at:], []byte(c.begin)) {
			h.from = len(text)
			if end := bytes.Index(text[at+2:], []byte(c.end)); end >= 0 {
				h.from = at + 2 + end
			}
			break
		}
	}
	return false
}

// textAlone names the elements in which there are no other tags (HTML §13.2.6.4.4 and §13.2.6.4.7), else "".
func textAlone(name []byte) string {
	var low [longest]byte
	for i, c := range name {
		low[i] = c | 0x20
	}
	switch s := string(low[:len(name)]); s {
	case "iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp":
		return s
	}
	return ""
}

// formats are the elements of formatting that are open, by their start tags. Every tag counts as many nodes as there
// are of them, which bounds their number, and the time that a look at each takes.
type formats [][]byte

// maxAlike is how many like elements are made anew (HTML §13.2.4.3, "Noah's Ark").
const maxAlike = 3

// start opens an element. Of a tag whose end is not known it is not known what it is like: nil.
func (f *formats) start(name, tag []byte) {
	if !isFormatting(name) {
		return
	}
	alike := 0
	for _, other := range *f {
		if tag != nil && bytes.Equal(other, tag) {
			alike++
		}
	}
	if alike < maxAlike {
		if tag == nil {
			tag = append([]byte{'<'}, name...)
		}
		*f = append(*f, tag)
	}
}

// end closes the last element of that name, and no other.
func (f *formats) end(name []byte) {
	if len(*f) == 0 || !isFormatting(name) {
		return
	}
	for i := len(*f) - 1; i >= 0; i-- {
		if own, _ := tagName((*f)[i][1:]); bytes.EqualFold(own, name) {
			*f = slices.Delete(*f, i, i+1)
			return
		}
	}
}

// longest is how many letters of a tag's name are read; longer names are none that count here.
const longest = 10

// tagName is the name at the beginning of a tag.
func tagName(tag []byte) (name []byte, closing bool) {
	if len(tag) > 0 && tag[0] == '/' {
		tag, closing = tag[1:], true
	}
	n := 0
	for n < len(tag) && n < longest && (tag[n]|0x20 >= 'a' && tag[n]|0x20 <= 'z') {
		n++
	}
	return tag[:n], closing
}

// isFormatting knows the elements that are made anew in later blocks until they are closed (HTML §13.2.4.3), but for a
// and nobr, of which one closes the one before.
func isFormatting(name []byte) bool {
	if len(name) == 0 || len(name) > len("strike") {
		return false
	}
	var low [6]byte
	for i, c := range name {
		low[i] = c | 0x20
	}
	switch string(low[:len(name)]) {
	case "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

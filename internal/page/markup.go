package page

import "bytes"

// bound returns how much of a page's markup is read so that the tree made of it has limit nodes and attributes at
// most, texts and the html, head and body that every page has apart: len(text), or the place of the tag that would be one
// too many. A node takes some hundred bytes, so that 16 MB of "<p>" would take 600 MB.
func (m *meter) bound(limit int) int {
	for i := 0; i < len(m.text); {
		at := bytes.IndexByte(m.text[i:], '<')
		if at < 0 {
			break
		}
		at += i
		if i = m.read(at); m.nodes > limit {
			return at
		}
	}
	return len(m.text)
}

// meter counts, from above, what golang.org/x/net/html makes of markup. It knows no tree. What it knows is where tags
// begin and end, as long as that does not depend on the tree (see lose), and which elements of formatting may be open: the
// HTML algorithm makes these again in the blocks that follow until they are closed (HTML §13.2.4.3, the list of active
// formatting elements), with their attributes, so that a small page may have a very large tree.
//
// Invariant: at each tag, weight is at least the nodes and attributes of all that is in that list. So an element is taken
// out only if its end tag surely takes it out there (see formats.end), and each tag counts as many nodes as weight.
type meter struct {
	text    []byte
	nodes   int
	anchors int // start tags of links; some are missing once lost
	formats

	foreign int    // svg or math elements that are open
	root    []byte // … of which name, the one or the other
	doubt   bool   // … or that perhaps are
	lost    bool   // any "<" may be a tag, and none is surely one
	in      inside
}

// read takes the "<" at a place, and returns how far it has read: up to another "<", or before one.
func (m *meter) read(at int) int {
	m.nodes++
	rest := m.text[at+1:]
	switch {
	case len(rest) == 0:
		return at + 1
	case m.lost:
		return m.loose(at)
	case rest[0] == '!' || rest[0] == '?':
		return m.comment(at)
	case rest[0] == '/':
		if len(rest) > 1 && isLetter(rest[1]) {
			return m.tag(at, 2)
		}
		return m.after(at+2, ">")
	case isLetter(rest[0]):
		return m.tag(at, 1)
	}
	return at + 1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// after is the place behind the next of some bytes.
func (m *meter) after(from int, end string) int {
	if n := bytes.Index(m.text[min(from, len(m.text)):], []byte(end)); n >= 0 {
		return from + n + len(end)
	}
	return len(m.text)
}

// comment passes over a comment, a doctype or a processing instruction (HTML §13.2.5.42-53).
func (m *meter) comment(at int) int {
	rest := m.text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		end := m.after(at+2, "-->")
		if n := bytes.Index(m.text[at:end], []byte("--!>")); n >= 0 {
			end = at + n + len("--!>")
		}
		return end
	case bytes.HasPrefix(rest, []byte("<![CDATA[")) && (m.doubt || m.foreign > 0):
		return m.lose(at + 1)
	}
	return m.after(at+2, ">")
}

// tag reads a tag whose name begins n bytes behind its "<".
func (m *meter) tag(at, n int) int {
	nameAt := at + n
	i := nameAt + 1
	for i < len(m.text) && !endsName[m.text[i]] {
		i++
	}
	name, attributes, in := m.text[nameAt:i], 0, inName
	if i < len(m.text) && m.text[i] == '>' {
		i, in = i+1, 0
	}
	for ; i < len(m.text) && in != 0; i++ {
		if q := in & (quoted | aquoted); q != 0 { // nothing in a value counts
			quote := byte('"')
			if q == aquoted {
				quote = '\''
			}
			if n := bytes.IndexByte(m.text[i:], quote); n > 0 {
				i += n
			} else if n < 0 {
				i = len(m.text)
				break
			}
		}
		var attribute bool
		if in, attribute = in.step(m.text[i]); attribute {
			attributes++
		}
	}
	class := classOf(name)
	if n == 2 {
		m.endTag(name, class)
		return i
	}
	m.nodes += attributes
	return m.startTag(name, class, m.text[at:i], attributes, i)
}

// startTag counts a start tag that ends at next, and returns where to continue.
func (m *meter) startTag(name []byte, class class, tag []byte, attributes, next int) int {
	m.nodes += implied[class]
	if len(name) == 1 && name[0]|0x20 == 'a' {
		m.anchors++
	}
	if class == leaf && m.foreign == 0 {
		class = other
	}
	textual := class == leaf || class == raw
	switch {
	case class == foreign && !selfClosing(tag):
		if m.foreign > 0 && !bytes.EqualFold(name, m.root) {
			m.wonder()
		}
		m.foreign++
		m.root = name
	case m.foreign > 0 && !textual && class != other && class != void && class != foreign:
		m.wonder()
	}
	if !textual {
		m.start(m, name, class, tag, 1+attributes)
		return next
	}
	end, plain := m.plain(name, next)
	if !plain && m.foreign > 0 {
		m.wonder()
	}
	if m.foreign > 0 && plain {
		class = other
	}
	m.start(m, name, class, tag, 1+attributes)
	switch {
	case plain:
		return end
	case class == leaf:
		return next
	case m.doubt:
		return m.lose(next)
	case bytes.EqualFold(name, []byte("plaintext")):
		return len(m.text)
	case bytes.EqualFold(name, []byte("script")):
		return next + endOfScript(m.text[next:])
	}
	return next + endOf(m.text[next:], name)
}

// plain reports whether the next "<" is that of an element's end tag: so it is read alike in HTML, in svg and in math.
func (m *meter) plain(name []byte, from int) (end int, ok bool) {
	n := bytes.IndexByte(m.text[from:], '<')
	if n < 0 {
		return len(m.text), false
	}
	rest := m.text[from+n+1:]
	return from + n, len(rest) > len(name)+1 && rest[0] == '/' && endsName[rest[len(name)+1]] && bytes.EqualFold(rest[1:len(name)+1], name)
}

// endOf is the place of the end tag of an element of raw text, or len(text).
func endOf(text, name []byte) int {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte("</"))
		if n < 0 {
			return len(text)
		}
		i += n + 2
		if end := i + len(name); end < len(text) && endsName[text[end]] && bytes.EqualFold(text[i:end], name) {
			return i - 2
		}
	}
}

// endOfScript is the place of the end tag of a script, or len(text). In a comment in it, an end tag belongs to the start tag of
// a script before it (HTML §13.2.5.17-31, as golang.org/x/net/html reads it).
func endOfScript(text []byte) int {
	const name = "script"
	named := func(i int) bool {
		end := i + len(name)
		return end < len(text) && endsName[text[end]] && bytes.EqualFold(text[i:end], []byte(name))
	}
	escaped, dashes := 0, 0 // in no comment, in one, in a script in one
	for i := 0; i < len(text); i++ {
		if escaped == 0 {
			n := bytes.IndexByte(text[i:], '<')
			if n < 0 {
				break
			}
			i += n
		}
		c, after := text[i], text[i+1:]
		switch {
		case c == '-':
			dashes++
			continue
		case c == '>' && dashes >= 2:
			escaped = 0
		case c != '<' || len(after) == 0:
		case after[0] == '/' && named(i+2):
			if escaped < 2 {
				return i
			}
			escaped = 1
			i += len("</") + len(name)
		case escaped == 0 && bytes.HasPrefix(after, []byte("!--")):
			escaped, dashes = 1, 2
			i += len("!--")
			continue
		case escaped == 1 && isLetter(after[0]):
			if named(i + 1) {
				escaped = 2
				i += 1 + len(name)
			}
		case escaped == 1 && after[0] != '/':
			escaped = 0
		}
		dashes = 0
	}
	return len(text)
}

// wonder says that svg or math may be open from now on, whatever closes it: a tag may be one of theirs and mean nothing in
// HTML.
func (m *meter) wonder() {
	m.doubt, m.ghosts = true, true
	m.freeze()
}

// selfClosing reports whether a tag ends with a "/" that belongs to no value.
func selfClosing(tag []byte) bool {
	at, last := inName, inside(0)
	for _, c := range tag[1:] {
		if c == '/' {
			last = at
		}
		at, _ = at.step(c)
	}
	return len(tag) > 2 && tag[len(tag)-2] == '/' && last&(unquoted|beforeValue) == 0
}

// endTag counts an end tag. In svg and math (HTML §13.2.6.5) elements of formatting are none, and those of raw text may have
// tags in them: what is open is known there only as long as all that they hold means nothing in HTML.
func (m *meter) endTag(name []byte, class class) {
	m.nodes += implied[class]
	switch {
	case m.foreign == 0:
		if class == leaf {
			class = other
		}
	case class == foreign:
		if !bytes.EqualFold(name, m.root) {
			m.wonder()
		}
		m.foreign--
	case class == leaf || class == raw:
		class = other
	case class != other && class != void:
		m.wonder()
	}
	m.end(m, name, class)
}

// lose says that from a place on it is not known what is a tag, and what is text.
func (m *meter) lose(from int) int {
	m.lost, m.in = true, 0
	m.freeze()
	return from
}

// loose takes a "<" that may be one of a tag or not: then all "<" count, and attributes by the places where the reader may be.
func (m *meter) loose(at int) int {
	in, _ := m.in.step('<')
	i := at + 1
	closing := m.text[i] == '/'
	if closing {
		in, _ = in.step('/')
		i++
	}
	n := i
	for n < len(m.text) && !endsName[m.text[n]] && m.text[n] != '<' {
		n++
	}
	name, attributes := m.text[i:n], 0
	if len(name) > 0 && isLetter(name[0]) {
		in |= inName
	}
	for ; i < len(m.text) && in != 0 && m.text[i] != '<'; i++ {
		var attribute bool
		if in, attribute = in.step(m.text[i]); attribute {
			attributes++
		}
	}
	m.in = in
	m.nodes += attributes
	m.grow(attributes, in == 0)
	class := classOf(name)
	m.nodes += implied[class]
	switch {
	case closing:
		m.end(m, name, class)
	case in == 0:
		m.start(m, name, class, m.text[at:i], 1+attributes)
	default: // its end is not known
		m.start(m, name, class, nil, 1+attributes)
	}
	m.freeze()
	return i
}

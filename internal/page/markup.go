package page

import "bytes"

// markupBound returns how much of a page's markup is read so that the tree made of it has about limit nodes and
// attributes at most: len(text), or the place of the tag that would be one too many. A node takes some hundred
// bytes, so that 16 MB of "<p>" would take 600 MB.
//
// An element of formatting that is not closed counts again for each tag after it: the HTML algorithm makes it anew in
// the blocks that follow (HTML §13.2.4.3, the list of active formatting elements), and a small page may so
// have a very large tree.
func markupBound(text []byte, limit int) int {
	nodes, open := 0, formats{}
	for i := 0; i < len(text); {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			break
		}
		at += i
		name, closing := tagName(text[at+1:])
		i = at + 1 + len(name)
		if len(name) > 0 {
			var attributes int
			attributes, i = tagEnd(text, i, limit-nodes)
			nodes += attributes
		}
		open.take(name, closing, text[at:i])
		if nodes += 1 + open.count; nodes > limit {
			return at
		}
	}
	return len(text)
}

// formats counts the elements of formatting that are open, of like ones at most three (HTML §13.2.4.3, "Noah's Ark").
type formats struct {
	count int
	tags  map[string]int
}

const (
	maxAlike   = 3
	maxFormats = 1000 // different tags that are told apart
)

func (f *formats) take(name []byte, closing bool, tag []byte) {
	if !isFormatting(name) {
		return
	}
	if closing {
		f.count = max(f.count-1, 0)
		return
	}
	if f.tags == nil {
		f.tags = map[string]int{}
	}
	n, known := f.tags[string(tag)]
	if n >= maxAlike {
		return
	}
	if known || len(f.tags) < maxFormats {
		f.tags[string(tag)] = n + 1
	}
	f.count++
}

// tagName is the name at the beginning of a tag, at most eight letters of it; longer ones are none of formatting.
func tagName(tag []byte) (name []byte, closing bool) {
	if len(tag) > 0 && tag[0] == '/' {
		tag, closing = tag[1:], true
	}
	n := 0
	for n < len(tag) && n < 8 && (tag[n]|0x20 >= 'a' && tag[n]|0x20 <= 'z') {
		n++
	}
	return tag[:n], closing
}

// tagEnd counts the attributes of a tag, up to a number, and tells where it ends.
func tagEnd(text []byte, from, most int) (attributes, end int) {
	blank := false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '>':
			return attributes, i + 1
		case c == '"' || c == '\'':
			if i > 0 && text[i-1] == '=' {
				length := bytes.IndexByte(text[i+1:], c)
				if length < 0 {
					return attributes, len(text)
				}
				i += 1 + length
			}
			blank = false
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '/':
			blank = true
		case blank:
			blank = false
			if attributes++; attributes > most {
				return attributes, i
			}
		}
	}
	return attributes, len(text)
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

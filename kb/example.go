package kb

import (
	"slices"
	"strconv"
	"strings"
)

// MaxExample bounds the page of an example, in bytes.
const MaxExample = 64 << 10

func (p *fileParser) example(e *element) Example {
	p.attrs(e, "url", "level?", "version?")
	x := Example{URL: e.attrs["url"], Level: e.attrs["level"], Version: e.attrs["version"], Rule: p.rule(e)}
	p.oneOf(e, "level", x.Level, Levels)
	for _, c := range e.children {
		switch c.name {
		case "page":
			x.Page += strings.TrimSpace(c.text)
			p.attrs(c)
		case "headers":
			for line := range strings.Lines(c.text) {
				if line = strings.TrimSpace(line); line != "" {
					x.Headers += line + "\r\n"
				}
			}
			p.attrs(c)
		case "has":
			x.Has = append(x.Has, p.has(c))
		default:
			p.unknown(e, c, "page, headers, has")
		}
	}
	if x.Page == "" {
		p.fault(e, "element example lacks an element page")
	}
	if len(x.Page) > MaxExample {
		p.fault(e, "the page of an example may have %d bytes", MaxExample)
	}
	return x
}

func (p *fileParser) has(e *element) Has {
	h := Has{Object: e.attrs["object"], Link: e.attrs["link"], Dropped: e.attrs["dropped"], Properties: map[string]string{}, Rule: p.rule(e)}
	kinds := 0
	for _, s := range []string{h.Object, h.Link, h.Dropped} {
		if s != "" {
			kinds++
		}
	}
	if kinds != 1 {
		p.fault(e, "element has must have exactly one of object, link and dropped")
	}
	p.oneOf(e, "object type", h.Object, names(ObjectTypes))
	for name, value := range e.attrs {
		switch {
		case name == "object" || name == "link" || name == "dropped":
		case name == "level" && h.Link != "":
			h.Level = value
			p.oneOf(e, "level", value, Levels)
		case name == "count" && h.Object != "":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				p.fault(e, "count %q must be a whole number above 0", value)
			}
			h.Count = n
		case h.Object != "" && slices.Contains(names(Properties), name):
			h.Properties[name] = value
		default:
			p.fault(e, "element has has unknown attribute %s", name)
		}
	}
	return h
}

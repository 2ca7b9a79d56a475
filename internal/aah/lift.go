package aah

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// lift extracts the web objects of a level. Of several rules for a type the first that finds something
// counts.
func (v *view) lift(level *kb.Level) {
	found := map[string]bool{}
	for i := range level.Objects {
		o := &level.Objects[i]
		if found[o.Type] {
			continue
		}
		for _, at := range v.selected(o.Each, o.Needs, v.eval.Tree.Root(), v.limits.Objects-len(v.doc.Objects)) {
			if object, lifted, ok := v.object(o, at); ok {
				v.doc.Objects, v.lifted = append(v.doc.Objects, object), append(v.lifted, lifted)
				found[o.Type] = true
			}
		}
		if len(v.doc.Objects) >= v.limits.Objects {
			return
		}
	}
}

// object lifts one object; of several rules for a property the first that finds something counts.
func (v *view) object(o *kb.Object, at xpath.Ref) (object crawl.Object, lifted adapt.Lifted, ok bool) {
	lifted.Type, lifted.At = o.Type, at
	object = crawl.Object{Type: o.Type, Rule: o.Rule, Confidence: v.doc.Confidence}
	var unread crawl.Properties // dates as they stand there, which no rule could read
	for i := range o.Properties {
		p := &o.Properties[i]
		if object.Properties.Get(p.Name) != "" {
			continue
		}
		limit := 1
		if p.Many {
			limit = maxValues
		}
		for _, r := range v.selected(p.XPath, p.Needs, at, limit) {
			out, skip := v.leaveOut(p, r)
			value := v.value(p, r, skip)
			whole := false
			if value == "" && p.Without != nil { // nothing else is there
				value = v.value(p, r, nil)
				whole = value != ""
			}
			if value == "" && p.As == "dateTime" {
				if p.Match != nil && !p.Match.MatchString(v.text(r, nil)) {
					continue // that is no date at all
				}
				if text := v.text(r, nil); text != "" && len(text) <= maxDate && unread.Get(p.Name) == "" {
					unread = append(unread, crawl.Property{Name: p.Name, Value: shorten(text, v.limits.PropertyBytes)})
				}
				continue
			}
			if value == "" && (p.Name != "body" || !v.picture(r)) {
				continue
			}
			part := adapt.Part{Name: p.Name, At: r, Out: out, Text: -1, Markup: -1, Whole: whole}
			element := p.Name == "body" && r.Attr < 0 && v.eval.Tree.Node(r).Type != html.TextNode
			if value != "" {
				if element && p.Match == nil && p.As == "" {
					part.Text = len(object.Properties)
				}
				object.Properties = append(object.Properties, crawl.Property{Name: p.Name, Value: value})
			}
			if element { // its place is noted once it is known that the object stays: see locate
				part.Markup = len(object.Properties)
				object.Properties = append(object.Properties, crawl.Property{Name: crawl.Markup})
			}
			lifted.Parts = append(lifted.Parts, part)
		}
	}
	for _, u := range unread {
		if object.Properties.Get(u.Name) == "" {
			object.Properties = append(object.Properties, u)
		}
	}
	return object, lifted, len(object.Properties) > 0
}

// maxLeftOut bounds the parts that are left out of one value.
const maxLeftOut = 1000

// leaveOut finds the parts of a node that do not belong to a value.
func (v *view) leaveOut(p *kb.Property, r xpath.Ref) (refs []xpath.Ref, skip skipSet) {
	if p.Without == nil || r.Attr >= 0 {
		return nil, nil
	}
	for _, ref := range v.selected(p.Without, nil, r, maxLeftOut) {
		if n := v.eval.Tree.Node(ref); ref.Attr < 0 && ref.ID != r.ID && v.eval.Tree.Within(ref, r) {
			if skip == nil {
				skip = skipSet{}
			}
			refs = append(refs, ref)
			skip[n] = true
		}
	}
	return refs, skip
}

// picture tells of bodies that show something instead of saying it.
func (v *view) picture(r xpath.Ref) bool {
	if r.Attr >= 0 {
		return false
	}
	for id := r.ID; id < v.eval.Tree.End(r); id++ {
		switch v.eval.Tree.At(id).DataAtom {
		case atom.Img, atom.Video, atom.Iframe, atom.Audio, atom.Object, atom.Embed:
			return true
		}
	}
	return false
}

// maxValues bounds the values of one property of an object.
const maxValues = 100

// value is what a property's node says, without the elements to skip.
func (v *view) value(p *kb.Property, r xpath.Ref, skip skipSet) string {
	value := v.text(r, skip)
	if p.Match != nil {
		groups := p.Match.FindStringSubmatch(value)
		if groups == nil {
			return ""
		}
		value = strings.TrimSpace(groups[1])
	}
	switch p.As {
	case "url":
		value = v.address(value)
	case "dateTime":
		if value = dateTime(value); value == "" {
			return "" // the next rule may know where a date stands
		}
	case "number":
		value = number(value)
	}
	return shorten(value, v.limits.PropertyBytes)
}

// text is what a node says, its white space folded.
func (v *view) text(r xpath.Ref, skip skipSet) string {
	n := v.eval.Tree.Node(r)
	if r.Attr >= 0 {
		return strings.Join(strings.Fields(n.Attr[r.Attr].Val), " ")
	}
	text := textOf(n, skip, v.limits.PropertyBytes)
	v.eval.Pay(len(text)/64 + int(v.eval.Tree.End(r)-r.ID))
	return text
}

// address makes a reference absolute and keeps its fragment: it is what tells the posts of a page from each other.
func (v *view) address(ref string) string {
	plain, fragment, found := strings.Cut(strings.TrimSpace(ref), "#")
	url := v.doc.URL
	if plain != "" {
		url = v.doc.Resolve(plain)
	}
	if url == "" || !found || fragment == "" {
		return url
	}
	return url + "#" + fragment
}

// number keeps the first number of a text, without what groups its digits: "1,234 views" is 1234, "2.8K" is 2800.
func number(s string) string {
	at := strings.IndexAny(s, "0123456789")
	if at < 0 {
		return ""
	}
	out := []byte{}
	if at > 0 && s[at-1] == '-' {
		out = append(out, '-')
	}
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c >= '0' && c <= '9':
			out = append(out, c)
		case (c == ',' || c == '.' || c == ' ' || c == '\'') && thousands(s[at+1:]):
		case c == '.' && at+1 < len(s) && s[at+1] >= '0' && s[at+1] <= '9' && !bytes.ContainsRune(out, '.'):
			out = append(out, c)
		default:
			return times(string(out), c)
		}
	}
	return string(out)
}

// times multiplies by a letter that stands for thousands or millions.
func times(number string, letter byte) string {
	by := 0.0
	switch letter {
	case 'k', 'K':
		by = 1e3
	case 'M':
		by = 1e6
	}
	x, err := strconv.ParseFloat(number, 64)
	if by == 0 || err != nil {
		return number
	}
	return strconv.FormatFloat(math.Round(x*by), 'f', -1, 64)
}

// thousands tells whether a text begins with three digits and no fourth.
func thousands(s string) bool {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n == 3
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

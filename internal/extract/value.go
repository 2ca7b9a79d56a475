package extract

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/dates"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// MaxValues bounds the values of one property of an object.
const MaxValues = 100

// value is what a property's node says, without the elements to skip.
func (p *Page) value(q *kb.Property, r xpath.Ref, skip skipSet) string {
	value := p.text(r, skip)
	if q.Match != nil {
		whole := value
		if value = matched(q.Match, value); value == "" {
			return ""
		}
		if q.As == "dateTime" {
			return p.dateIn(whole, value)
		}
	}
	return p.typed(q.As, value)
}

// dateIn is the date of a part of a text. The rest may know which of two numbers is the day: "le 05/03/2015".
func (p *Page) dateIn(whole, part string) string {
	value := p.typed("dateTime", part)
	if value == "" || len(whole) > MaxDate || strings.IndexByte(part, '/') < 0 || p.dayFirst() {
		return value // of a page whose dates begin with the day it is read so already
	}
	a, _, _ := dates.Read(value, time.Time{})
	if b, _, ok := dates.Read(whole, time.Time{}); ok && a.Year() == b.Year() && a.Day() == int(b.Month()) && b.Day() == int(a.Month()) {
		return p.typed("dateTime", strings.Replace(value, a.Format("-01-02"), b.Format("-01-02"), 1))
	}
	return value
}

// matched is what the first group of a pattern holds of a text, "" if it does not match; without a pattern it is the text.
func matched(pattern *regexp.Regexp, text string) string {
	if pattern == nil {
		return text
	}
	groups := pattern.FindStringSubmatch(text)
	if groups == nil {
		return ""
	}
	return strings.TrimSpace(groups[1])
}

// typed is a value in the form of its type, "" if it has not that form.
func (p *Page) typed(as, value string) string {
	switch as {
	case "url":
		value = p.address(value)
	case "dateTime":
		if strings.IndexByte(value, '/') > 0 && p.dayFirst() {
			value = dotted(value)
		}
		if value = dateTime(value); value == "" {
			return "" // the next rule may know where a date stands
		}
	case "number":
		value = number(value)
	}
	return shorten(value, p.Limits.PropertyBytes)
}

// text is what a node says, its white space folded.
func (p *Page) text(r xpath.Ref, skip skipSet) string {
	n := p.Eval.Tree.Node(r)
	if r.Attr >= 0 {
		return strings.Join(strings.Fields(n.Attr[r.Attr].Val), " ")
	}
	text := textOf(n, skip, p.Limits.PropertyBytes)
	p.Eval.Pay(len(text)/64 + int(p.Eval.Tree.End(r)-r.ID))
	return text
}

// address makes a reference absolute and keeps its fragment: it is what distinguishes the posts of a page from each other.
func (p *Page) address(ref string) string {
	plain, fragment, found := strings.Cut(strings.TrimSpace(ref), "#")
	url := p.Doc.URL
	if plain != "" {
		url = p.Doc.Resolve(plain)
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

// thousands reports whether a text begins with three digits and no fourth.
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

// valueTypes are the properties whose values have a type.
var valueTypes = map[string]string{
	"published": "dateTime", "modified": "dateTime", "start": "dateTime", "permalink": "url", "image": "url", "media": "url", "reply-to": "url",
	"container": "url", "score": "number", "replies": "number", "views": "number", "number": "number", "price": "number",
}

// ValueType is the type of a property's value in JSON-LD and in learned rules: "dateTime", "url", "number" or "".
func ValueType(property string) string { return valueTypes[property] }

package extract

import (
	"regexp"
	"testing"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{"1,234 views": "1234", "Replies: 7": "7", "3.5": "3.5", "1.234.567": "1234567", "-12 points": "-12", "none": "", "12, 13": "12", "2 000": "2000", "2.8K views": "2800", "3M": "3000000", "3 km": "3"} {
		if got := number(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDateTime(t *testing.T) {
	for value, want := range map[string]string{
		"2026-11-21T08:00:00+01:00": "2026-11-21T08:00:00+01:00", "2026-11-21": "2026-11-21T00:00:00Z", "Sat, 21 Nov 2026 08:00:00 GMT": "2026-11-21T08:00:00Z",
		"Posted: Thu Dec 17, 2009 1:44 pm Post subject: x": "2009-12-17T13:44:00Z", "on December 17, 2009": "2009-12-17T00:00:00Z", "17 Dec 2009, 13:44": "2009-12-17T13:44:00Z",
		"yesterday": "", "": "", "May 99, 2009": "",
	} {
		if got := dateTime(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// TestDateIn: the pattern of a rule leaves a part of a text. What else stands there, and the language of the page, say which number is the day.
func TestDateIn(t *testing.T) {
	for _, c := range []struct{ name, lang, text, want string }{
		{"a page in German", "de", "am 05/03/2015 von Hugo", "2015-03-05T00:00:00Z"},
		{"another day in German", "de", "Raben 05/03/2015", "2015-03-05T00:00:00Z"},
		{"an English page", "en", "Ravens 05/03/2015", "2015-05-03T00:00:00Z"},
		{"a French word on an English page", "en", "le 05/03/2015", "2015-03-05T00:00:00Z"},
	} {
		p := pageAt(t, "http://a.test/ravens", `<html lang="`+c.lang+`"><p>`+c.text+`</p>`)
		q := &kb.Property{Name: "published", As: "dateTime", Match: regexp.MustCompile(`(\d\d/\d\d/\d{4})`)}
		for id := int32(0); int(id) < p.Eval.Tree.Len(); id++ {
			if p.Eval.Tree.At(id).DataAtom != atom.P {
				continue
			}
			if got := p.value(q, xpath.Ref{ID: id, Attr: -1}, nil); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}

package memento

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// host is that of a request as it may stand in an answer.
var host = regexp.MustCompile(`^[A-Za-z0-9.\-_\[\]:]+$`)

// base is what the URLs of an answer begin with.
func (s *server) base(r *http.Request) string {
	switch {
	case s.Base != "":
		return s.Base
	case !host.MatchString(r.Host):
		return ""
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (s *server) gateOf(r *http.Request, url string) string { return s.base(r) + Prefix + url }

func (s *server) mapOf(r *http.Request, format, url string) string {
	return s.base(r) + Prefix + "timemap/" + format + "/" + url
}

func (s *server) mementoOf(r *http.Request, e *catalogue.Entry) string {
	return s.base(r) + Prefix + e.Date.UTC().Format(catalogue.Timestamp) + raw + "/" + e.URL
}

// link is a link-value of RFC 8288, with its attributes as name and value. A URL that was not canonical in the archive may have characters that would end it.
func link(url string, attributes ...string) string {
	var b strings.Builder
	b.WriteByte('<')
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('>')
	for i := 0; i+1 < len(attributes); i += 2 {
		b.WriteString("; " + attributes[i] + `="` + attributes[i+1] + `"`)
	}
	return b.String()
}

// httpTime is the form of times in Memento: RFC 1123, in GMT (RFC 7089 §2.1.1).
func httpTime(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// related are the links that every answer about a URL has (RFC 7089 §4), with the mementos that are known.
func (s *server) related(r *http.Request, original string, mementos map[string]*catalogue.Entry) string {
	links := []string{
		link(original, "rel", "original"),
		link(s.gateOf(r, original), "rel", "timegate"),
		link(s.mapOf(r, formatLink, original), "rel", "timemap", "type", "application/link-format"),
	}
	for _, rel := range []string{"first last", "first", "", "last"} {
		if e := mementos[rel]; e != nil {
			links = append(links, link(s.mementoOf(r, e), "rel", strings.TrimSpace(rel+" memento"), "datetime", httpTime(e.Date)))
		}
	}
	return strings.Join(links, ", ")
}

// around are the first and the last memento of a URL, and one between them, by the relations in which they stand. Those that are the same are one.
func around(first, it, last *catalogue.Entry) map[string]*catalogue.Entry {
	same := func(a, b *catalogue.Entry) bool { return a.Date.Equal(b.Date) && a.URL == b.URL }
	if same(first, last) {
		return map[string]*catalogue.Entry{"first last": first}
	}
	out := map[string]*catalogue.Entry{"first": first, "last": last}
	if it != nil && !same(first, it) && !same(last, it) {
		out[""] = it
	}
	return out
}

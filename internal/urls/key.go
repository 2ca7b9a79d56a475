package urls

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var wwwPrefix = regexp.MustCompile(`^www\d*\.`)

// ASP.NET puts session IDs into the path; the others come in the query. The expressions are those of
// the Internet Archive's canonicaliser, oddities included: a key is of use only if others make the
// same.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$`),
		regexp.MustCompile(`^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`),
	}
)

// Key returns the CDXJ key of the URL: the SURT as the Internet Archive's canonicaliser makes it and
// pywb looks it up (www. and the default port stripped, escapes taken off as often as there are any
// and put back only where they must be, lower case, double slashes and session IDs stripped, query
// sorted). Unlike SURT it reverses IPv4 addresses too.
func (u URL) Key() string {
	host := reversed(wwwPrefix.ReplaceAllString(strings.Trim(u.host, "[]"), ""))
	path, query, _ := strings.Cut(u.RequestURI(), "?")
	path = strings.ToLower(escape(collapse(unescape(path))))
	path = without(path, pathSessions)
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	query = strings.ToLower(escape(unescape(query)))
	query = sorted(without(query, querySessions))
	if query != "" {
		query = "?" + query
	}
	return host + u.portSuffix() + ")" + path + query
}

func without(s string, sessions []*regexp.Regexp) string {
	for _, expr := range sessions {
		s = expr.ReplaceAllString(s, "$1$2")
	}
	return s
}

// sorted orders the arguments by name, then by value; an argument without '=' comes first.
func sorted(query string) string {
	args := strings.Split(query, "&")
	slices.SortStableFunc(args, func(a, b string) int {
		nameA, valueA, pairA := strings.Cut(a, "=")
		nameB, valueB, pairB := strings.Cut(b, "=")
		if nameA == nameB && pairA != pairB {
			return len(a) - len(b)
		}
		return cmp.Or(cmp.Compare(nameA, nameB), cmp.Compare(valueA, valueB))
	})
	return strings.Join(args, "&")
}

// collapse drops empty segments and resolves the dots that unescaping may have brought to light.
func collapse(path string) string {
	var kept []string
	for i, segment := range strings.Split(path, "/") {
		switch {
		case i == 0 || segment == ".":
		case segment == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	last := len(kept) - 1
	inner := slices.DeleteFunc(slices.Clone(kept[:last]), func(s string) bool { return s == "" })
	return "/" + strings.Join(append(inner, kept[last]), "/")
}

// unescape takes percent-escapes off until there are none. An escape can appear only where the one
// before it was taken off, so going back two octets after each does it in one pass.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%' && isHex(out[n-2]) && isHex(out[n-1]); n = len(out) {
			out = append(out[:n-3], unhex(out[n-2])<<4|unhex(out[n-1]))
		}
	}
	return string(out)
}

// escape escapes what may not stand in a line of an index: all but the visible ASCII characters, and
// '#' and '%'.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && c != '#' && c != '%' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

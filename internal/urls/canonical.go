package urls

import (
	"slices"
	"strings"
)

// Form makes canonical forms: URLs that differ only in parameters that it drops have one. The zero Form drops none. It is safe for concurrent use.
type Form struct {
	query, path names
	sessions    sessions
}

// names are names of parameters in lower case; with an asterisk at their end, of all that begin so.
type names struct {
	whole    map[string]bool
	prefixes []string
}

// NewForm makes a form that drops parameters of the query, and of the names of the path (";jsessionid=…"), whatever they say, and those of sessions from the
// query if they have the form of one: 32 hexadecimal digits, for phpsessid 22 to 48 letters, digits, commas and hyphens. Upper and lower case are the same.
func NewForm(query, path, sessions []string) *Form {
	return &Form{newNames(query), newNames(path), newSessions(sessions)}
}

func newNames(list []string) names {
	n := names{whole: map[string]bool{}}
	for _, name := range list {
		if prefix, ok := strings.CutSuffix(strings.ToLower(name), "*"); ok {
			n.prefixes = append(n.prefixes, prefix)
		} else {
			n.whole[strings.ToLower(name)] = true
		}
	}
	return n
}

func (n names) empty() bool { return len(n.whole)+len(n.prefixes) == 0 }

// has reports whether the name before '=' is one of the names.
func (n names) has(parameter string) bool {
	name, _, _ := strings.Cut(parameter, "=")
	name = strings.ToLower(name)
	if n.whole[name] {
		return true
	}
	for _, p := range n.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Of is the canonical form of a URL: itself, if it has no parameter that is dropped.
func (f *Form) Of(u URL) URL {
	path, query, hasQuery := strings.Cut(u.RequestURI(), "?")
	inPath := !f.path.empty() && strings.IndexByte(path, ';') >= 0
	if !inPath && !hasQuery {
		return u
	}
	if inPath {
		path = f.path.without(path)
	}
	kept := f.sessions.without(query)
	if !f.query.empty() {
		kept = f.query.withoutArguments(kept)
	}
	if kept != "" {
		path += "?" + kept
	}
	if path == u.RequestURI() {
		return u
	}
	u.text = u.Origin() + path
	return u
}

// withoutArguments drops arguments of a query.
func (n names) withoutArguments(query string) string {
	for argument := range strings.SplitSeq(query, "&") {
		if n.has(argument) {
			list := strings.Split(query, "&")
			return strings.Join(slices.DeleteFunc(list, n.has), "&")
		}
	}
	return query
}

// without drops parameters of the names of a path.
func (n names) without(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, rest, has := strings.Cut(segment, ";")
		if !has {
			continue
		}
		for parameter := range strings.SplitSeq(rest, ";") {
			if !n.has(parameter) {
				name += ";" + parameter
			}
		}
		segments[i] = name
	}
	return strings.Join(segments, "/")
}

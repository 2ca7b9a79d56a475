package urls

import (
	"strconv"
	"strings"
)

// Nine of ten references of the web are made of letters, digits and slashes: they need no parser to be
// resolved, which takes twenty times as long. quick takes those of which it is sure what the parser would
// make of them, and refuses all others.
func (r Resolver) quick(ref string) (URL, bool) {
	if r.plain.text == "" || ref == "" {
		return URL{}, false
	}
	path, colon, ok := plainPath(ref)
	if !ok {
		return URL{}, false
	}
	switch {
	case path == "" || path[0] == '.' || strings.Contains(path, "/.") || strings.HasPrefix(path, "//"):
		return URL{}, false
	case path[0] == '/':
		return join(r.plain, r.plain.Origin(), ref)
	case colon >= 0:
		return quickAbsolute(ref)
	}
	dir := r.plain.text
	if at := strings.IndexByte(dir, '?'); at >= 0 {
		dir = dir[:at]
	}
	return join(r.plain, dir[:strings.LastIndexByte(dir, '/')+1], ref)
}

// quickParse takes an absolute URL of which it is sure that it is in canonical form.
func quickParse(raw string) (URL, bool) {
	if _, colon, ok := plainPath(raw); !ok || colon < 0 {
		return URL{}, false
	}
	return quickAbsolute(raw)
}

// plainPath returns what stands before the query, and where a colon stands in it, −1 if none does; false if
// there is anything that the parser may change.
func plainPath(ref string) (path string, colon int, ok bool) {
	colon = -1
	query := -1
	for i := range len(ref) {
		switch kinds[ref[i]] {
		case other:
			return "", 0, false
		case isColon:
			if colon < 0 && query < 0 {
				colon = i
			}
		case isQuestion:
			if query >= 0 {
				return "", 0, false
			}
			query = i
		}
	}
	if query < 0 {
		return ref, colon, true
	}
	n := len(ref) - query - 1
	return ref[:query], colon, n > 0 && n < sessionLength // an empty query goes, and so may a session
}

// join makes the URL of a beginning, with at least its origin, and the rest.
func join(base URL, begin, rest string) (URL, bool) {
	if len(begin)+len(rest) > MaxLength {
		return URL{}, false
	}
	base.text = begin + rest
	return base, true
}

// quickAbsolute takes "http://host:port/path" of a plain lower-case host.
func quickAbsolute(ref string) (URL, bool) {
	u := URL{text: ref, scheme: "http", port: 80}
	rest, ok := strings.CutPrefix(ref, "http://")
	if !ok {
		if rest, ok = strings.CutPrefix(ref, "https://"); !ok {
			return URL{}, false
		}
		u.scheme, u.port = "https", 443
	}
	slash := strings.IndexByte(rest, '/')
	if slash <= 0 || len(ref) > MaxLength {
		return URL{}, false
	}
	host, port, ported := strings.Cut(rest[:slash], ":")
	if ported {
		n, err := strconv.Atoi(port)
		if err != nil || n == u.port || n <= 0 || n > 65535 || port[0] == '0' || port[0] == '+' {
			return URL{}, false
		}
		u.port = n
	}
	u.host, u.path = host, len(ref)-len(rest)+slash
	path, _, _ := strings.Cut(rest[slash:], "?")
	return u, plainHost(host) && !strings.Contains(path, "/.")
}

// plainHost tells whether a host is made of lower-case labels, of which the last one has a letter first:
// neither an address nor a name in another script.
func plainHost(host string) bool {
	label := 0
	for i := range len(host) {
		c := host[i]
		switch {
		case c >= 'a' && c <= 'z':
		case c >= '0' && c <= '9':
		case c == '-' && i > label && i+1 < len(host) && host[i+1] != '-' && host[i+1] != '.':
		case c == '.' && i > label:
			label = i + 1
		default:
			return false
		}
	}
	return label < len(host) && host[label] >= 'a' && host[label] <= 'z'
}

// sessionLength is the length of the shortest query that may hold a session parameter.
const sessionLength = 34

// The kinds of bytes in a reference.
const (
	other = iota // that the parser may change, or that have a meaning
	letter
	isColon
	isQuestion
)

var kinds = func() (t [256]byte) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&()*+,;=@" {
		t[c] = letter
	}
	t[':'], t['?'] = isColon, isQuestion
	return t
}()

package urls

import (
	"strconv"
	"strings"
)

// Nine of ten references of the web need no parser to be resolved, which takes twenty times as long: they are made of letters,
// digits and slashes, perhaps with escapes, a query, a fragment, or dots at the beginning. quick takes those of which it is sure what the parser would
// make of them, and refuses all others.
func (r Resolver) quick(ref string) (URL, bool) {
	if r.plain.text == "" {
		return URL{}, false
	}
	ref, _, _ = strings.Cut(ref, "#") // canonical URLs have no fragment
	path, colon, ok := plainPath(ref)
	switch {
	case !ok || ref == "" || strings.Contains(path, "/.") && path[0] != '.':
		return URL{}, false
	case path == "":
		return join(r.plain, r.plain.withoutQuery(), ref)
	case strings.HasPrefix(path, "//"):
		return quickAbsolute(r.plain.scheme + ":" + ref)
	case path[0] == '/':
		return join(r.plain, r.plain.Origin(), ref)
	case path[0] == '.':
		return r.quickDots(ref, path)
	case colon >= 0:
		return quickAbsolute(ref)
	}
	dir := r.plain.withoutQuery()
	return join(r.plain, dir[:strings.LastIndexByte(dir, '/')+1], ref)
}

// quickDots takes references with "./" or "../" at the beginning, and no dots behind.
func (r Resolver) quickDots(ref, path string) (URL, bool) {
	dir := r.plain.withoutQuery()
	dir = dir[:strings.LastIndexByte(dir, '/')+1]
	root := r.plain.path + 1 // of the path's first slash
	for strings.HasPrefix(path, ".") {
		switch {
		case strings.HasPrefix(path, "./"):
			ref, path = ref[2:], path[2:]
		case strings.HasPrefix(path, "../"):
			ref, path = ref[3:], path[3:]
			if len(dir) > root {
				dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
			}
		default:
			return URL{}, false
		}
	}
	if strings.HasPrefix(path, "/") || strings.Contains(path, "/.") {
		return URL{}, false
	}
	return join(r.plain, dir, ref)
}

// withoutQuery is the URL up to its query.
func (u URL) withoutQuery() string {
	before, _, _ := strings.Cut(u.text, "?")
	return before
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
	for i := 0; i < len(ref); i++ {
		switch kinds[ref[i]] {
		case other:
			return "", 0, false
		case isPercent:
			if !plainEscape(ref[i:]) {
				return "", 0, false
			}
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
	return ref[:query], colon, query+1 < len(ref) // an empty query goes
}

// plainEscape reports whether a text begins with an escape that stays as it is: in upper case, of a character that must be
// escaped.
func plainEscape(s string) bool {
	if len(s) < 3 || !isUpperHex(s[1]) || !isUpperHex(s[2]) {
		return false
	}
	return !unreserved(unhex(s[1])<<4 | unhex(s[2]))
}

func isUpperHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

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
	if slash < 0 && !strings.Contains(rest, "?") { // the path of a host alone
		rest, ref, slash = rest+"/", ref+"/", len(rest)
		u.text = ref
	}
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

// plainHost reports whether a host is made of lower-case labels, of which the last one has a letter first:
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

// The kinds of bytes in a reference.
const (
	other = iota // that the parser may change, or that have a meaning
	letter
	isColon
	isQuestion
	isPercent
)

var kinds = func() (t [256]byte) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&()*+,;=@" {
		t[c] = letter
	}
	t[':'], t['?'], t['%'] = isColon, isQuestion, isPercent
	return t
}()

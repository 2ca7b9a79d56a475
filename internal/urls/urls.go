// Package urls gives URLs their one canonical form, their SURT and their pay-level domain.
// Parsing follows the WHATWG URL standard, as browsers do.
package urls

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/encoding"
)

// The longest URLs that are taken, in bytes.
const (
	MaxLength = 8 << 10 // of what a page needs: that of signed images is long, and few servers take longer ones
	MaxPage   = 2083    // of a page: longer ones are nearly always traps
	maxRaw    = 4 * MaxPage
)

// The reasons for which a URL is not taken.
var (
	ErrScheme  = errors.New("not http or https")
	ErrNoHost  = errors.New("has no host")
	ErrTooLong = fmt.Errorf("is longer than %d bytes", MaxLength)
	ErrLong    = fmt.Errorf("is longer than %d bytes, the most for a page", MaxPage)
)

// URL is an http or https URL in canonical form: WHATWG serialisation without fragment and user
// information, percent-escapes in upper case, lone percent signs escaped, unreserved characters
// unescaped, no empty query.
type URL struct {
	text   string // the whole
	scheme string
	host   string // lower-case ASCII; IPv6 in brackets
	port   int
	path   int // index of the path in text
}

var parser = whatwg.NewParser(whatwg.WithPercentEncodeSinglePercentSign())

// Parse makes the canonical URL of an absolute URL as people and pages write it.
func Parse(raw string) (URL, error) {
	if u, ok := quickParse(raw); ok {
		return u, nil
	}
	return parseWhole(raw)
}

// parseWhole makes it by the parser.
func parseWhole(raw string) (URL, error) {
	if len(raw) > maxRaw {
		return URL{}, ErrTooLong
	}
	u, err := parser.Parse(strings.TrimSpace(raw))
	if err != nil {
		return URL{}, &SyntaxError{err}
	}
	return canonical(u)
}

// SyntaxError says why a text is no URL, without the text: that may be long, or what must not get into a log.
type SyntaxError struct{ err error }

func (e *SyntaxError) Error() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(e.err.Error(), "Error: "), " Url: '")
	if strings.Contains(text, "missing a scheme") {
		return "it does not begin with http:// or https://"
	}
	return strings.ToLower(text[:min(1, len(text))]) + strings.TrimSuffix(text[min(1, len(text)):], ".")
}

// Resolver resolves the references of one document.
type Resolver struct {
	base  *whatwg.Url // nil if the text is as good
	text  string
	plain URL               // the base in canonical form; zero if it has none
	coded encoding.Encoding // see In
}

// NewResolver takes the document's base URL.
func NewResolver(base string) (Resolver, error) {
	if u, ok := quickParse(base); ok {
		return Resolver{text: base, plain: u}, nil // references that need the parser pay for the base too
	}
	u, err := parser.Parse(base)
	if err != nil {
		return Resolver{}, fmt.Errorf("parse base URL: %w", err)
	}
	r := Resolver{base: u}
	if plain, err := canonical(u); err == nil {
		r.plain = plain
	}
	return r, nil
}

// Resolve makes the canonical URL of a reference.
func (r Resolver) Resolve(ref string) (URL, error) {
	if len(ref) > maxRaw {
		return URL{}, ErrTooLong
	}
	if u, ok := r.quick(ref); ok {
		return u, nil
	}
	u, err := r.parse(r.encodeQuery(strings.TrimSpace(ref)))
	if err != nil {
		return URL{}, fmt.Errorf("resolve URL: %w", err)
	}
	return canonical(u)
}

// parse resolves by the parser.
func (r Resolver) parse(ref string) (*whatwg.Url, error) {
	if r.base == nil {
		return parser.ParseRef(r.text, ref)
	}
	return r.base.Parse(ref)
}

func canonical(u *whatwg.Url) (URL, error) {
	scheme := u.Scheme()
	if scheme != "http" && scheme != "https" {
		return URL{}, ErrScheme
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if host == "" || host[len(host)-1] == '.' { // what is left of "1.2.." would read as an address the next time
		return URL{}, ErrNoHost
	}
	port := 80
	if scheme == "https" {
		port = 443
	}
	var b strings.Builder
	b.Grow(len(host) + 64)
	b.WriteString(scheme)
	b.WriteString("://")
	b.WriteString(host)
	if p := u.Port(); p != "" {
		b.WriteByte(':')
		b.WriteString(p)
		port, _ = strconv.Atoi(p)
	}
	start := b.Len()
	path := u.Pathname()
	if path == "" {
		path = "/"
	}
	writeEscaped(&b, path)
	if q := u.Query(); q != "" {
		b.WriteByte('?')
		writeEscaped(&b, q)
	}
	if b.Len() > MaxLength {
		return URL{}, ErrTooLong
	}
	return URL{text: b.String(), scheme: scheme, host: host, port: port, path: start}, nil
}

// writeEscaped unescapes unreserved characters, puts the other escapes into upper case (RFC 3986
// §6.2.2) and escapes the percent signs that begin none, so that "%4%31" does not become an escape.
func writeEscaped(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			b.WriteString("%25")
			continue
		}
		v := unhex(s[i+1])<<4 | unhex(s[i+2])
		if unreserved(v) {
			b.WriteByte(v)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex(s[i+1]))
			b.WriteByte(upperHex(s[i+2]))
		}
		i += 2
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func upperHex(c byte) byte {
	if c >= 'a' {
		return c - 32
	}
	return c
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return upperHex(c) - 'A' + 10
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// String returns the canonical form.
func (u URL) String() string { return u.text }

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Host is the host in lower-case ASCII, IPv6 addresses in brackets, without port.
func (u URL) Host() string { return u.host }

// AuthorityOf cuts the host with its port, if that is not the scheme's, out of a canonical URL.
func AuthorityOf(canonical string) string {
	_, rest, _ := strings.Cut(canonical, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return authority
}

// HostOf cuts the host out of a canonical URL, for a tenth of what parsing it costs.
func HostOf(canonical string) string {
	host := AuthorityOf(canonical)
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		host = host[:at]
	}
	return host
}

// Port is the port, the scheme's default if none was written.
func (u URL) Port() int { return u.port }

// RequestURI is path and query, as they go into a request line.
func (u URL) RequestURI() string { return u.text[u.path:] }

// Origin is scheme, host and, if it is not the default, port.
func (u URL) Origin() string { return u.text[:u.path] }

// Authority is the value of the Host header.
func (u URL) Authority() string { return u.text[len(u.scheme)+3 : u.path] }

// PLD is the URL's pay-level domain.
func (u URL) PLD() string { return PLD(u.host) }

// PLD returns a host's pay-level domain: public suffix plus one label. An IP address and a host
// without a known suffix are their own.
func PLD(host string) string {
	if strings.HasPrefix(host, "[") || mayBeAddress(host) && net.ParseIP(host) != nil {
		return host
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	if !icann && strings.IndexByte(suffix, '.') < 0 {
		return host // the list's rule "*": nothing is known of the suffix
	}
	// As publicsuffix.EffectiveTLDPlusOne does, which looks the suffix up again.
	at := len(host) - len(suffix) - 1
	if at < 0 || host[at] != '.' || host[0] == '.' || host[len(host)-1] == '.' || strings.Contains(host, "..") {
		return host // the host is itself a public suffix
	}
	return host[1+strings.LastIndexByte(host[:at], '.'):]
}

// mayBeAddress reports whether a host has the look of an IP address: the error of a name that is parsed as one costs more than to
// look at it.
func mayBeAddress(host string) bool {
	last := len(host) - 1
	return last >= 0 && host[last] >= '0' && host[last] <= '9' || strings.IndexByte(host, ':') >= 0
}

// Address returns the IP address that a host literally is.
func Address(host string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return a, err == nil
}

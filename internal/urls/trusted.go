package urls

import (
	"strconv"
	"strings"
)

// Trusted takes a URL apart that Parse or Resolve has made canonical before, without parsing it again:
// a page has many links, and each is looked at more than once. What does not look canonical is parsed.
func Trusted(text string) (URL, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return Parse(text)
	}
	slash := strings.IndexByte(rest, '/')
	if slash <= 0 || len(text) > MaxLength {
		return Parse(text)
	}
	u := URL{text: text, scheme: scheme, host: rest[:slash], port: 80, path: len(text) - len(rest) + slash}
	if scheme == "https" {
		u.port = 443
	}
	if colon := strings.LastIndexByte(u.host, ':'); colon >= 0 && !strings.HasSuffix(u.host, "]") {
		port, err := strconv.Atoi(u.host[colon+1:])
		if err != nil {
			return Parse(text)
		}
		u.host, u.port = u.host[:colon], port
	}
	for i := range len(u.host) {
		c := u.host[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(".-_[]:", c) >= 0) {
			return Parse(text)
		}
	}
	return u, nil
}

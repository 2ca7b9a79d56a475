// Package robots reads robots.txt as RFC 9309 says. It has no regular expressions: a URL is judged in time linear in
// its length and in the number of rules with wildcards, whatever a hostile file says.
//
// Where Google's parser and the RFC differ, the RFC counts; on 4,231 real files this is nearly always the stricter reading:
//
//   - A rule without a leading slash ("Disallow: a.b/") is read as if it had one. To Google it matches nothing.
//   - Patterns and URLs are escaped alike before they are compared (§2.2.2): a blank, '|', '^', '{' and what is not ASCII match their escapes, escapes of unreserved
//     characters match the characters, and the case of hexadecimal digits does not matter.
//   - "index.html" in an allowing rule does not stand for its folder, which is Google's own rule.
//
// It is laxer in one thing: of a file only the first 500 KiB count, the RFC's minimum.
package robots

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// Limits of robots.txt (RFC 9309 §2.3.1.2, §2.4, §2.5).
const (
	MaxBytes     = 500 << 10
	MaxRedirects = 5
	MaxAge       = 24 * time.Hour
)

// Rules are one host's rules for one user agent. The zero value allows everything.
type Rules struct {
	set  *set
	deny bool
}

// AllowAll are the rules of a host without robots.txt (RFC 9309 §2.3.1.3: 4xx).
func AllowAll() Rules { return Rules{} }

// DenyAll are the rules of a host whose robots.txt cannot be reached (RFC 9309 §2.3.1.4: 5xx).
func DenyAll() Rules { return Rules{deny: true} }

// FromStatus gives the rules that an HTTP status alone decides; ok is false for a success, whose
// body decides.
func FromStatus(status int) (rules Rules, ok bool) {
	switch {
	case status >= 200 && status < 300:
		return Rules{}, false
	case status >= 300 && status < 500: // a redirect here is beyond MaxRedirects: as unavailable (§2.3.1.2)
		return AllowAll(), true
	}
	return DenyAll(), true
}

// Parse reads the first MaxBytes of a robots.txt for the product token of a user agent: the groups of that name, or
// else those of "*" (§2.2.1). What cannot be parsed is skipped line by line (§2.3.1.5). UTF-16 and UTF-32 are read, though
// the RFC wants UTF-8 (§2.3): to skip their lines would be to allow what they forbid.
func Parse(body []byte, agent string) Rules {
	body = utf8Text(body)
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		if cut := bytes.LastIndexAny(body, "\r\n"); cut >= 0 {
			body = body[:cut]
		}
	}
	agent = groupName(agent)
	groups := readGroups(body, agent)
	for _, name := range []string{agent, "*"} {
		mine := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !slices.Contains(g.agents, name) })
		if len(mine) > 0 {
			return Rules{set: newSet(mine)}
		}
	}
	return AllowAll()
}

// Token is the product token of a user agent: "Muninn" of "Muninn/1.0 (+https://…)".
func Token(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return !(r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	if end > 0 {
		return agent[:end]
	}
	return agent
}

// Allowed reports whether path and query may be fetched; /robots.txt always may.
func (r Rules) Allowed(requestURI string) bool {
	switch {
	case requestURI == "/robots.txt":
		return true
	case r.deny:
		return false
	case r.set == nil:
		return true
	}
	return r.set.allowed(normalPath(requestURI))
}

// Delay is the Crawl-delay, 0 if there is none, a day at most.
func (r Rules) Delay() time.Duration {
	if r.set == nil {
		return 0
	}
	return r.set.delay
}

// Size is what the rules hold in memory, in bytes.
func (r Rules) Size() int {
	if r.set == nil {
		return 0
	}
	return r.set.size()
}

// Package robots reads robots.txt as RFC 9309 says, through temoto/robotstxt.
package robots

import (
	"bytes"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// Limits of robots.txt (RFC 9309 §2.3.1.2, §2.4, §2.5).
const (
	MaxBytes     = 500 << 10
	MaxRedirects = 5
	MaxAge       = 24 * time.Hour
)

// Rules are one host's rules for one user agent. The zero value allows everything.
type Rules struct {
	group *robotstxt.Group
	deny  bool
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
	case status >= 300 && status < 500: // a redirect here is one too many: as unavailable (§2.3.1.2)
		return AllowAll(), true
	}
	return DenyAll(), true
}

// Parse reads the first MaxBytes of a robots.txt for the product token of a user agent. The text is
// rewritten first, for the library reads some of it otherwise than the RFC (see rewrite). What cannot be
// parsed is skipped line by line (§2.3.1.5). UTF-16 and UTF-32 are read, though the RFC wants UTF-8 (§2.3): to skip their
// lines would be to allow what they forbid.
func Parse(body []byte, agent string) Rules {
	body = utf8Text(body)
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		if cut := bytes.LastIndexByte(body, '\n'); cut >= 0 {
			body = body[:cut]
		}
	}
	agent = groupName(agent)
	data, err := robotstxt.FromBytes(rewrite(body, agent))
	if err != nil {
		return AllowAll()
	}
	return Rules{group: data.FindGroup(agent)}
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

// Allowed tells whether path and query may be fetched; /robots.txt always may.
func (r Rules) Allowed(requestURI string) bool {
	switch {
	case requestURI == "/robots.txt":
		return true
	case r.deny:
		return false
	case r.group == nil:
		return true
	}
	return r.group.Test(subject(requestURI))
}

// Delay is the Crawl-delay, 0 if there is none, a day at most.
func (r Rules) Delay() time.Duration {
	if r.group == nil {
		return 0
	}
	return r.group.CrawlDelay
}

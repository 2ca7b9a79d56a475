package webworld

import (
	"fmt"
	"strings"
	"time"
)

// rules are what robots.txt says to every crawler, in the order of the file (RFC 9309 §2.2.2).
type rules struct {
	lines  []rule
	delay  time.Duration // Crawl-delay
	closed bool          // robots.txt cannot be had for now, so all is disallowed (RFC 9309 §2.3.1.4)
}

type rule struct {
	allow   bool
	pattern string
}

func disallow(pattern string) rule { return rule{pattern: pattern} }
func allow(pattern string) rule    { return rule{allow: true, pattern: pattern} }

// text is the file, with a group for another crawler before the one for all.
func (rs rules) text(sitemap string) string {
	var b strings.Builder
	b.WriteString("# Welcome, careful crawler.\nUser-agent: GreedyBot\nUser-agent: BadBot\nDisallow: /\n\nUser-agent: *\n")
	for _, r := range rs.lines {
		verb := "Disallow"
		if r.allow {
			verb = "Allow"
		}
		fmt.Fprintf(&b, "%s: %s\n", verb, r.pattern)
	}
	if len(rs.lines) == 0 {
		b.WriteString("Disallow:\n")
	}
	if rs.delay > 0 {
		fmt.Fprintf(&b, "Crawl-delay: %g\n", rs.delay.Seconds())
	}
	if sitemap != "" {
		fmt.Fprintf(&b, "\nSitemap: %s\n", sitemap)
	}
	return b.String()
}

// allows judges a path with its query: the longest matching pattern wins, Allow on a tie.
func (rs rules) allows(uri string) bool {
	if rs.closed {
		return false
	}
	best, verdict := -1, true
	for _, r := range rs.lines {
		if n := len(r.pattern); matches(r.pattern, uri) && (n > best || n == best && r.allow) {
			best, verdict = n, r.allow
		}
	}
	return verdict
}

// matches tests a pattern with * (anything) and a final $ (the end) against the start of uri.
func matches(pattern, uri string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(uri, parts[0]) {
		return false
	}
	rest := uri[len(parts[0]):]
	for i, part := range parts[1:] {
		if anchored && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !anchored || rest == ""
}

package webworld

import (
	"fmt"
	"strings"
	"time"
)

// Rules are the rules of robots.txt for all crawlers, in the order of the file (RFC 9309 §2.2.2).
type Rules struct {
	Lines  []Rule
	Delay  time.Duration // Crawl-delay
	Closed bool          // robots.txt cannot be fetched for now, so all is disallowed (RFC 9309 §2.3.1.4)
}

// Rule is a line of robots.txt.
type Rule struct {
	allow   bool
	pattern string
}

// Disallow and Allow are rules; a pattern may have * (anything) and a final $ (the end).
func Disallow(pattern string) Rule { return Rule{pattern: pattern} }
func Allow(pattern string) Rule    { return Rule{allow: true, pattern: pattern} }

// text is the file: a group for another crawler, and then the group for all.
func (rs Rules) text(sitemap string) string {
	var b strings.Builder
	b.WriteString("# Welcome, careful crawler.\nUser-agent: GreedyBot\nUser-agent: BadBot\nDisallow: /\n\nUser-agent: *\n")
	for _, r := range rs.Lines {
		field := "Disallow"
		if r.allow {
			field = "Allow"
		}
		fmt.Fprintf(&b, "%s: %s\n", field, r.pattern)
	}
	if len(rs.Lines) == 0 {
		b.WriteString("Disallow:\n")
	}
	if rs.Delay > 0 {
		fmt.Fprintf(&b, "Crawl-delay: %g\n", rs.Delay.Seconds())
	}
	if sitemap != "" {
		fmt.Fprintf(&b, "\nSitemap: %s\n", sitemap)
	}
	return b.String()
}

// Allows judges a path with its query: the longest matching pattern wins, Allow on a tie.
func (rs Rules) Allows(uri string) bool {
	if rs.Closed {
		return false
	}
	best, verdict := -1, true
	for _, r := range rs.Lines {
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

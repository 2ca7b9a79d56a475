// Package scope decides which URLs belong to a crawl.
package scope

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Scope is a compiled crawl.Scope. It is safe for concurrent use.
type Scope struct {
	web       bool
	hosts     map[string]bool
	plds      map[string]bool
	include   []Pattern
	exclude   []Pattern
	blacklist map[string]bool
	maxHops   int

	maxRedirects int
}

// New compiles the scope of a definition; bounds are what Bounds made of its seeds.
func New(d crawl.Definition, bounds []string) (*Scope, error) {
	s := &Scope{
		hosts: set(d.Scope.Hosts), plds: set(d.Scope.PLDs), blacklist: set(d.Scope.Blacklist),
		maxHops: d.Scope.MaxHops, maxRedirects: d.Scope.MaxRedirects,
	}
	if s.maxRedirects == 0 { // a crawl that began before there was a bound
		s.maxRedirects = crawl.DefaultDefinition().Scope.MaxRedirects
	}
	var err error
	if s.include, err = compileAll(d.Scope.Include); err != nil {
		return nil, fmt.Errorf("scope.include: %w", err)
	}
	if s.exclude, err = compileAll(d.Scope.Exclude); err != nil {
		return nil, fmt.Errorf("scope.exclude: %w", err)
	}
	bound := d.Bound()
	s.web = bound == crawl.WithinWeb
	for _, name := range bounds {
		switch bound {
		case crawl.WithinHost:
			s.hosts[name] = true
		case crawl.WithinPLD:
			s.plds[name] = true
		}
	}
	return s, nil
}

// Bounds lists the hosts or PLDs, as the definition's scope.within says, that seed URLs bound a scope to.
// What is no URL is left out: seeds are reported where they are submitted.
func Bounds(d crawl.Definition, seeds []string) []string {
	bound := d.Bound()
	if bound != crawl.WithinHost && bound != crawl.WithinPLD {
		return nil
	}
	seen := map[string]bool{}
	var list []string
	for _, seed := range seeds {
		u, err := urls.Trusted(seed)
		if err != nil {
			continue
		}
		name := u.Host()
		if bound == crawl.WithinPLD {
			name = u.PLD()
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// Check reports whether a URL belongs to the crawl, and why not; path holds its hop letters from the
// seed. What a page in scope embeds (up to MaxEmbedded steps, wherever it lies) belongs to the crawl too, or the
// page could not be shown again; redirects and embedded resources are no hops.
func (s *Scope) Check(u urls.URL, path string) (reason string, ok bool) {
	pld := u.PLD()
	switch {
	case s.maxHops > 0 && Hops(path) > s.maxHops:
		return "too many hops", false
	case Redirects(path) > s.maxRedirects:
		return "too many redirects in a row", false
	case s.blacklist[u.Host()] || s.blacklist[pld]:
		return "black list", false
	case matchAny(s.exclude, u):
		return "excluded", false
	case embedded(path), s.web, s.hosts[u.Host()], s.plds[pld], matchAny(s.include, u):
		return "", true
	}
	return "out of scope", false
}

// maxPath is how many hop letters of a path are kept: the last ones.
const maxPath = 50

// Abbreviate shortens a long hop path to its last letters, with the number of hops before them: "12+LLR…".
func Abbreviate(path string) string {
	if len(path) <= maxPath {
		return path
	}
	_, letters := parts(path)
	if len(letters) <= maxPath {
		return path
	}
	last := letters[len(letters)-maxPath:]
	return strconv.Itoa(Hops(path)-Hops(last)) + "+" + last
}

// parts are the hops that an abbreviated path only counts, and its letters.
func parts(path string) (before int, letters string) {
	if count, rest, ok := strings.Cut(path, "+"); ok {
		before, _ = strconv.Atoi(count)
		return before, rest
	}
	return 0, path
}

// Hops counts the links that were followed; redirects and what a page embeds are none.
func Hops(path string) int {
	before, letters := parts(path)
	return before + strings.Count(letters, crawl.HopLink.String()) + strings.Count(letters, crawl.HopSitemap.String())
}

// Redirects counts the redirects and refreshes since the last link. They are no hops and, as a rule, no pages: without a
// bound of its own, a host that always redirects to another of its URLs would be asked forever.
func Redirects(path string) int {
	_, letters := parts(path)
	return len(letters) - len(strings.TrimRight(letters, crawl.HopRedirect.String()))
}

// MaxEmbedded is how many steps from a page what it embeds may lie: a font of a style sheet that a frame's sheet imports is four.
const MaxEmbedded = 4

func embedded(path string) bool {
	steps := Embedded(path)
	return steps > 0 && steps <= MaxEmbedded
}

// Embedded counts the steps from a page to what it embeds; redirects are none.
func Embedded(path string) int {
	path = strings.ReplaceAll(path, crawl.HopRedirect.String(), "")
	return len(path) - len(strings.TrimRight(path, crawl.HopEmbed.String()))
}

// Blacklisted reports whether the URL's host or PLD is on the black list.
func (s *Scope) Blacklisted(u urls.URL) bool { return s.blacklist[u.Host()] || s.blacklist[u.PLD()] }

// set holds hosts as URLs hold them: in lower-case ASCII.
func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		if u, err := urls.Parse("http://" + s); err == nil {
			s = u.Host()
		}
		m[s] = true
	}
	return m
}

// Pattern matches URLs: a glob, a SURT prefix or a regular expression (see crawl.Scope).
type Pattern struct {
	surt string
	expr *regexp.Regexp
}

// Compile reads a pattern.
func Compile(text string) (Pattern, error) {
	if prefix, ok := strings.CutPrefix(text, "surt:"); ok {
		prefix = strings.TrimPrefix(strings.TrimPrefix(prefix, "http://"), "https://")
		return Pattern{surt: strings.TrimPrefix(prefix, "(")}, nil
	}
	expr, isExpr := strings.CutPrefix(text, "re:")
	if !isExpr {
		parts := strings.Split(text, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		expr = "^" + strings.Join(parts, ".*") + "$"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return Pattern{expr: re}, nil
}

// Match reports whether the URL matches.
func (p Pattern) Match(u urls.URL) bool {
	if p.expr != nil {
		return p.expr.MatchString(u.String())
	}
	return strings.HasPrefix(u.SURT(), p.surt)
}

func compileAll(texts []string) ([]Pattern, error) {
	patterns := make([]Pattern, 0, len(texts))
	for _, text := range texts {
		p, err := Compile(text)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

func matchAny(patterns []Pattern, u urls.URL) bool {
	for _, p := range patterns {
		if p.Match(u) {
			return true
		}
	}
	return false
}

// Package scope decides which URLs belong to a crawl.
package scope

import (
	"cmp"
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
	rules     []rule
	sites     map[string]bool // the PLDs of the seeds, if rules ask for hops off them; else nil
	byPage    bool            // rules ask for what is known once a page is fetched
	byLink    bool            // … of the link, or the page that it is on

	maxRedirects int
	form         *urls.Form
}

// New compiles the scope of a definition; bounds are what Bounds made of its seeds.
func New(d crawl.Definition, bounds []string) (*Scope, error) {
	s := &Scope{
		hosts: set(d.Scope.Hosts), plds: set(d.Scope.PLDs), blacklist: set(d.Scope.Blacklist),
		maxHops: d.Scope.MaxHops, maxRedirects: d.Scope.MaxRedirects,
	}
	s.form = urls.NewForm(d.Canonical.Parameters, d.Canonical.PathParameters, d.Canonical.Sessions())
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
	if s.rules, err = compileRules(d.Scope.Rules); err != nil {
		return nil, err
	}
	s.byPage = d.Scope.Uses(func(c *crawl.Conditions) bool { return len(c.MIME)+len(c.Language) > 0 })
	s.byLink = d.Scope.Uses(func(c *crawl.Conditions) bool { return len(c.Score)+len(c.ViaLanguage) > 0 })
	bound := d.Bound()
	s.web = bound == crawl.WithinWeb
	if asksForSites(d) {
		s.sites = make(map[string]bool, len(bounds))
		for _, name := range bounds {
			s.sites[urls.PLD(name)] = true
		}
	}
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

func asksForSites(d crawl.Definition) bool {
	return d.Scope.Uses(func(c *crawl.Conditions) bool { return len(c.HopsOffSite) > 0 })
}

// Bounds lists what the scope must know of the seed URLs: their hosts, if scope.within is host; else their PLDs, if it is pld or rules ask for the
// seeds' sites. What is no URL is left out: seeds are reported where they are submitted.
func Bounds(d crawl.Definition, seeds []string) []string {
	bound := d.Bound()
	if bound != crawl.WithinHost && bound != crawl.WithinPLD && !asksForSites(d) {
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
		if bound != crawl.WithinHost {
			name = u.PLD()
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// ByLink reports whether two links to one URL, with the same hop path, may be decided otherwise.
func (s *Scope) ByLink() bool { return s.byLink }

// Canonical is the form of a URL by which it is known: itself, unless it has parameters that the definition drops.
func (s *Scope) Canonical(u urls.URL) urls.URL { return s.form.Of(u) }

// Decision is what the scope says of a URL.
type Decision struct {
	InScope bool
	By      Decider
	Rule    int // of ByRule: its number in scope.rules, from 0
	// Doubt says that the rule may still not hold, when the page is fetched.
	Doubt bool
}

// Decider is what has decided.
type Decider uint8

// What decides, in the order in which it is asked.
const (
	ByMaxHops Decider = iota
	ByMaxRedirects
	ByLength
	ByBlacklist
	ByExclude
	ByRule
	ByRequisite
	ByWithin
	ByHosts
	ByPLDs
	ByInclude
	ByNothing
)

// Reason says why a URL is refused.
func (d Decision) Reason() string {
	switch d.By {
	case ByMaxHops:
		return "too many hops"
	case ByMaxRedirects:
		return "too many redirects in a row"
	case ByLength:
		return "too long"
	case ByBlacklist:
		return "black list"
	case ByExclude:
		return "excluded"
	case ByRule:
		return fmt.Sprintf("scope.rules[%d]", d.Rule)
	}
	return "out of scope"
}

// Check reports whether a URL belongs to the crawl. The first rule whose conditions hold decides, unless a bound or an exclusion has refused the URL
// before. What a page in scope embeds (up to MaxEmbedded steps, wherever it lies) belongs to the crawl too, or the page could not be shown again; redirects and embedded
// resources are no hops.
//
// A rule that depends on what is not known does not reject; if it accepts, the URL is taken: it is asked for again when the page is fetched.
func (s *Scope) Check(l Link) Decision {
	host, pld := l.URL.Host(), l.URL.PLD()
	switch {
	case s.maxHops > 0 && Hops(l.Path) > s.maxHops:
		return Decision{By: ByMaxHops}
	case Redirects(l.Path) > s.maxRedirects:
		return Decision{By: ByMaxRedirects}
	case len(l.URL.String()) > urls.MaxPage && !crawl.IsRequisite(l.Path):
		return Decision{By: ByLength}
	case s.blacklist[host] || s.blacklist[pld]:
		return Decision{By: ByBlacklist}
	case matchAny(s.exclude, l.URL):
		return Decision{By: ByExclude}
	}
	if len(s.rules) > 0 {
		if d, decided := s.byRules(&asked{Link: l, scope: s, pld: pld}); decided {
			return d
		}
	}
	switch {
	case embedded(l.Path):
		return Decision{InScope: true, By: ByRequisite}
	case s.hosts[host]:
		return Decision{InScope: true, By: ByHosts}
	case s.plds[pld]:
		return Decision{InScope: true, By: ByPLDs}
	case s.web:
		return Decision{InScope: true, By: ByWithin}
	case matchAny(s.include, l.URL):
		return Decision{InScope: true, By: ByInclude}
	}
	return Decision{By: ByNothing}
}

// byRules is what the first rule that holds decides.
func (s *Scope) byRules(a *asked) (d Decision, decided bool) {
	for i := range s.rules {
		r := &s.rules[i]
		switch holds := r.holds(a); {
		case holds == yes:
			return Decision{InScope: r.accept, By: ByRule, Rule: i}, true
		case holds == maybe && r.accept:
			return Decision{InScope: true, By: ByRule, Rule: i, Doubt: true}, true
		}
	}
	return d, false
}

// Fetched reports whether the links of a page that is fetched are to be followed, and why not. Only rules that ask for the MIME type or the language of the
// page itself can say no; seeds are followed whatever they are.
func (s *Scope) Fetched(raw, path, mime, language string) (reason string, ok bool) {
	if !s.byPage || crawl.LastHop(path) == crawl.HopSeed {
		return "", true
	}
	u, err := urls.Trusted(raw)
	if err != nil {
		return "", true
	}
	d := s.Check(Link{
		URL: u, Path: path, Score: -1, MIME: cmp.Or(mime, crawl.LanguageUnknown), Language: cmp.Or(language, crawl.LanguageUnknown), Marked: true,
	})
	if d.InScope {
		return "", true
	}
	return d.Reason(), false
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
	return strings.TrimSuffix(path, UnmarkedPath(path)) + strconv.Itoa(Hops(path)-Hops(last)) + "+" + last
}

// offMark stands in a path between the number of hops off the seeds' sites and what is before an abbreviated path, or its letters: "2@12+LLR".
const offMark = "@"

// MarkPath is the hop path of a URL that was found by a path of a page, with how many hops it is off the seeds' sites; it is the path itself unless rules ask
// for them.
func (s *Scope) MarkPath(u urls.URL, path string) string {
	if s.sites == nil {
		return path
	}
	n := s.offSite(path, u.PLD(), false)
	path = UnmarkedPath(path)
	if n == 0 {
		return path
	}
	return strconv.Itoa(n) + offMark + path
}

// UnmarkedPath is a hop path without the number of hops off the seeds' sites.
func UnmarkedPath(path string) string {
	if _, rest, ok := strings.Cut(path, offMark); ok {
		return rest
	}
	return path
}

// offSite is how many hops a URL is off the seeds' sites; path is that of the page before it with the URL's own letter, unless it is the URL's own, which is
// marked already.
func (s *Scope) offSite(path, pld string, marked bool) int {
	last := crawl.LastHop(path)
	if s.sites[pld] || last == crawl.HopSeed {
		return 0
	}
	n := 0
	if count, _, ok := strings.Cut(path, offMark); ok {
		n, _ = strconv.Atoi(count)
	}
	if !marked && (last == crawl.HopLink || last == crawl.HopSitemap) {
		n++
	}
	return max(n, 1)
}

// letters are those of a path that may be abbreviated.
func letters(path string) string {
	_, letters := parts(path)
	return letters
}

// parts are the hops that an abbreviated path only counts, and its letters.
func parts(path string) (before int, letters string) {
	path = UnmarkedPath(path)
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

// Embedded counts the steps from a page to what it embeds; redirects are none. The last step may be to what the page probably
// embeds, which embeds nothing itself: 0 behind it.
func Embedded(path string) int {
	path = strings.ReplaceAll(path, crawl.HopRedirect.String(), "")
	page, probably := strings.CutSuffix(path, crawl.HopSpeculative.String())
	page = strings.TrimRight(page, crawl.HopEmbed.String())
	if strings.HasSuffix(page, crawl.HopSpeculative.String()) && (probably || len(page) < len(path)) {
		return 0
	}
	return len(path) - len(page)
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
		return Pattern{surt: bareSURT(prefix)}, nil
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

// bareSURT is a SURT prefix as URL.SURT writes it: without scheme and opening bracket.
func bareSURT(prefix string) string {
	prefix = strings.TrimPrefix(strings.TrimPrefix(prefix, "http://"), "https://")
	return strings.TrimPrefix(prefix, "(")
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

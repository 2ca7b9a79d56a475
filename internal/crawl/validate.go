package crawl

import (
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Fault is one thing wrong with a definition: where, and how to fix it.
type Fault struct {
	Path    string `json:"path"`    // such as "seeds[2]" or "budget.pages"; empty for the whole
	Message string `json:"message"` // continues the path as a sentence
}

// Faults is an error that lists everything wrong with a definition.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		where := fault.Path
		if where == "" {
			where = "the definition"
		}
		lines[i] = where + " " + fault.Message
	}
	return strings.Join(lines, "\n")
}

func sortByPath(f Faults) {
	slices.SortStableFunc(f, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
}

// Limits of a definition.
const (
	MaxName = 64
	// MaxDefinition bounds the text of a definition, in bytes.
	MaxDefinition = 8 << 20

	MaxSeeds       = 100_000
	MaxKeywords    = 10_000
	MaxPaths       = 100 // example paths
	MaxPath        = 20  // URLs of an example path
	MaxPerQueue    = 500
	MaxParameters  = 1000 // names of each list of Canonical
	MaxPerIP       = 16
	MaxCrawlWeight = 100
	// MaxRedirects is the greatest Scope.MaxRedirects: of a long hop path only the last letters are kept.
	MaxRedirects = 40
)

var namePattern = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// ValidName reports whether a crawl can have a name: folders, keys and workflow IDs are made of it.
func ValidName(name string) bool { return len(name) <= MaxName && namePattern.MatchString(name) }

// HasUser reports whether a URL carries user information, however it is written.
func HasUser(raw string) bool {
	_, end := userOf(raw)
	return end > 0
}

// HideUser is a URL as it may be shown and kept: with *** in place of user information.
func HideUser(raw string) string {
	start, end := userOf(raw)
	if end == 0 {
		return raw
	}
	return raw[:start] + "***" + raw[end:]
}

// userOf is where the user information of a URL begins and ends, however it is written; 0 and 0 if it has none.
func userOf(raw string) (start, end int) {
	scheme, rest, _ := strings.Cut(raw, ":")
	authority := strings.TrimLeft(rest, `/\`)
	scheme = strings.ToLower(strings.TrimSpace(scheme))
	if authority == rest && scheme != "http" && scheme != "https" { // of these, browsers take URLs without slashes
		return 0, 0
	}
	start = len(raw) - len(authority)
	if end := strings.IndexAny(authority, `/\?#`); end >= 0 {
		authority = authority[:end]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return 0, 0
	}
	return start, start + at
}

// Validate reports every fault at once; nil if there is none.
func (d Definition) Validate() error {
	v := validator{}
	v.check(d.Name != "", "name", "is missing: give the crawl a name such as \"ravens\"")
	v.check(d.Name == "" || namePattern.MatchString(d.Name), "name", "may contain letters, digits, '.', '-' and '_' and must start with a letter or digit")
	v.check(len(d.Name) <= MaxName, "name", fmt.Sprintf("has %d bytes, at most %d are allowed", len(d.Name), MaxName))
	v.seeds(d.Seeds)
	v.topic(d.Topic)
	v.scope(d.Scope)
	v.canonical(d.Canonical)
	v.order(d)
	v.budget(d)
	v.politeness(d.Politeness)
	v.robots(d.Robots)
	v.check(d.Browser == "" || slices.Contains(BrowserModes, d.Browser), "browser", fmt.Sprintf("is %q, must be %s", d.Browser, strings.Join(BrowserModes, ", ")))
	v.overrides(d)
	v.recrawl(d.Recrawl)
	v.archive(d.Archive)
	if len(v.faults) == 0 {
		return nil
	}
	sortByPath(v.faults)
	return v.faults
}

type validator struct{ faults Faults }

func (v *validator) check(ok bool, path, message string) {
	if !ok {
		v.faults = append(v.faults, Fault{path, message})
	}
}

func (v *validator) seeds(seeds []Seed) {
	v.check(len(seeds) > 0, "seeds", "is missing: name at least one URL to start from")
	v.check(len(seeds) <= MaxSeeds, "seeds", fmt.Sprintf("has %d entries, at most %d are allowed: put them into a file", len(seeds), MaxSeeds))
	if len(seeds) > MaxSeeds {
		return // what else is wrong with them would hide this
	}
	for i, s := range seeds {
		path := fmt.Sprintf("seeds[%d]", i)
		set := 0
		for _, f := range []string{s.URL, s.Sitemap, s.File} {
			if f != "" {
				set++
			}
		}
		v.check(set == 1, path, "must have exactly one of url, sitemap and file")
		if s.URL != "" {
			v.url(path, s.URL)
		}
		if s.Sitemap != "" {
			v.url(path+".sitemap", s.Sitemap)
		}
	}
}

func (v *validator) url(path, raw string) {
	if HasUser(raw) { // without the URL: the message gets into logs
		v.check(false, path, "has a user name before the host: leave user and password out, because they would be stored in Temporal and in the archive")
		return
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		v.check(false, path, fmt.Sprintf("%q is not a URL: %v", raw, strings.TrimPrefix(err.Error(), "parse ")))
	case u.Scheme != "http" && u.Scheme != "https":
		v.check(false, path, fmt.Sprintf("%q must start with http:// or https://", raw))
	case u.Hostname() == "":
		v.check(false, path, fmt.Sprintf("%q has no host: write http://host/path", raw))
	}
}

func (v *validator) topic(t Topic) {
	v.check(len(t.Keywords) <= MaxKeywords, "topic.keywords", fmt.Sprintf("has more than %d entries", MaxKeywords))
	for i, k := range t.Keywords {
		v.check(strings.TrimSpace(k) != "", fmt.Sprintf("topic.keywords[%d]", i), "is empty")
	}
	for i, e := range t.Entities {
		v.check(strings.TrimSpace(e.Name) != "", fmt.Sprintf("topic.entities[%d].name", i), "is missing")
	}
	for i, e := range t.Examples {
		path := fmt.Sprintf("topic.examples[%d]", i)
		v.check((e.URL == "") != (e.Text == ""), path, "must have exactly one of url and text")
		if e.URL != "" {
			v.url(path, e.URL)
		}
	}
	v.check(len(t.Paths) <= MaxPaths, "topic.paths", fmt.Sprintf("has more than %d paths", MaxPaths))
	for i, urls := range t.Paths {
		path := fmt.Sprintf("topic.paths[%d]", i)
		v.check(len(urls) >= 2 && len(urls) <= MaxPath, path, fmt.Sprintf("has %d URLs, must have 2 to %d: the pages on the way, and at the end the page that is about the topic", len(urls), MaxPath))
		for j, u := range urls {
			v.url(fmt.Sprintf("%s[%d]", path, j), u)
		}
	}
	for i, l := range t.Languages {
		v.check(len(l) == 2 && strings.Trim(l, "abcdefghijklmnopqrstuvwxyz") == "", fmt.Sprintf("topic.languages[%d]", i), fmt.Sprintf("is %q, must be a code of two letters such as en (ISO 639-1)", l))
	}
	for i, p := range t.URLPatterns {
		path := fmt.Sprintf("topic.url_patterns[%d]", i)
		v.pattern(path+".pattern", p.Pattern)
		v.check(p.Score >= 0 && p.Score <= 1, path+".score", "must be between 0 and 1")
	}
	v.check(t.Threshold > 0 && t.Threshold <= 1, "topic.threshold", "must be above 0 and at most 1")
}

func (v *validator) pattern(path, p string) {
	v.check(p != "", path, "is empty")
	if expr, ok := strings.CutPrefix(p, "re:"); ok {
		_, err := regexp.Compile(expr)
		if err != nil {
			v.check(false, path, "is not a regular expression: "+err.Error())
		}
	}
}

func (v *validator) scope(s Scope) {
	switch s.Within {
	case "", WithinHost, WithinPLD, WithinWeb:
	default:
		v.check(false, "scope.within", fmt.Sprintf("is %q, must be host, pld or web", s.Within))
	}
	for name, list := range map[string][]string{"hosts": s.Hosts, "plds": s.PLDs, "blacklist": s.Blacklist} {
		for i, host := range list {
			fault := hostFault(host)
			v.check(fault == "", fmt.Sprintf("scope.%s[%d]", name, i), fmt.Sprintf("%q %s", host, fault))
		}
	}
	for name, list := range map[string][]string{"include": s.Include, "exclude": s.Exclude} {
		for i, p := range list {
			v.pattern(fmt.Sprintf("scope.%s[%d]", name, i), p)
		}
	}
	v.rules("scope.rules", s.Rules)
	v.check(s.MaxRedirects >= 1 && s.MaxRedirects <= MaxRedirects, "scope.max_redirects", fmt.Sprintf("must be between 1 and %d; leave it out for the default of 20", MaxRedirects))
	v.check(s.MaxHops >= 0, "scope.max_hops", "must not be negative; 0 means no bound")
}

// parameterForm is the name of a parameter, perhaps with an asterisk for all that begin so.
var parameterForm = regexp.MustCompile(`^[^\s&=?#;/*]+\*?$`)

func (v *validator) canonical(c Canonical) {
	for name, list := range map[string][]string{"parameters": c.Parameters, "path_parameters": c.PathParameters, "session_parameters": c.SessionParameters} {
		v.check(len(list) <= MaxParameters, "canonical."+name, fmt.Sprintf("has %d names, at most %d are allowed", len(list), MaxParameters))
		for i, p := range list {
			v.check(parameterForm.MatchString(p), fmt.Sprintf("canonical.%s[%d]", name, i), fmt.Sprintf("%q must be the name of a parameter, such as fbclid or utm_*", p))
		}
	}
	for i, p := range c.SessionParameters {
		v.check(!strings.HasSuffix(p, "*"), fmt.Sprintf("canonical.session_parameters[%d]", i), fmt.Sprintf("%q must be a whole name, such as sid", p))
	}
}

func (v *validator) order(d Definition) {
	v.check(slices.Contains(Strategies, d.Order.Strategy), "order.strategy", fmt.Sprintf("is %q, must be one of %s", d.Order.Strategy, strings.Join(Strategies, ", ")))
	v.check(slices.Contains(Updates, d.Order.Update), "order.update", fmt.Sprintf("is %q, must be first, last, avg, max or sum", d.Order.Update))
	v.check(slices.Contains(HelperModes, d.Helper), "helper", fmt.Sprintf("is %q, must be strict, lenient or off", d.Helper))
	v.check(d.Order.PerQueue >= 1 && d.Order.PerQueue <= MaxPerQueue, "order.per_queue", fmt.Sprintf("must be between 1 and %d", MaxPerQueue))
	sum := 0.0
	for name, value := range d.Weights.ByName() {
		v.check(value >= 0, "weights."+string(name), "must not be negative; 0 turns the part off")
		sum += value
	}
	v.check(sum > 0, "weights", "are all 0: at least one part must count")
}

func (v *validator) budget(d Definition) {
	b := d.Budget
	v.check(b.Pages >= 1, "budget.pages", "must be at least 1; leave it out for the default of 10000")
	v.check(b.Bytes >= 1, "budget.bytes", "must be at least 1; leave it out for the default of 100 GB")
	v.check(b.Time.D() >= time.Second, "budget.time", "must be at least 1s; leave it out for the default of 168h")
	v.check(b.Requests >= 0, "budget.requests", "must not be negative; 0 means ten times budget.pages and 1000 more")
	v.check(b.PerPLD >= 0, "budget.per_pld", "must not be negative; 0 means no bound")
	v.check(b.MaxRequisites() >= 0, "budget.requisites", fmt.Sprintf("must not be negative; 0 means that none are fetched, leave it out for the default of %d a page", DefaultRequisites))
	v.check(b.RequisiteBytes >= 0, "budget.requisite_bytes", "must not be negative; 0 means 50 MB a page")
	if d.Reference.Pages != nil {
		v.check(*d.Reference.Pages >= 0, "reference.pages", "must not be negative; 0 turns the reference crawl off")
	}
}

func (v *validator) politeness(p Politeness) {
	v.check(p.MinDelay >= 0, "politeness.min_delay", "must not be negative")
	v.check(p.MaxDelay >= p.MinDelay, "politeness.max_delay", "must not be below politeness.min_delay")
	v.check(p.MaxCrawlDelay >= 0, "politeness.max_crawl_delay", "must not be negative")
	v.check(p.Factor >= 0, "politeness.factor", "must not be negative")
	v.check(p.PerIP >= 1 && p.PerIP <= MaxPerIP, "politeness.per_ip", fmt.Sprintf("must be between 1 and %d", MaxPerIP))
	v.check(p.Weight >= 0 && p.Weight <= MaxCrawlWeight, "politeness.weight", fmt.Sprintf("must be between 1 and %d", MaxCrawlWeight))
	v.check(strings.TrimSpace(p.UserAgent) != "", "politeness.user_agent", "is empty: webmasters must see the crawler's name")
	v.check(!strings.ContainsAny(p.UserAgent+p.Contact, "\r\n"), "politeness.user_agent", "and contact must each be one line")
}

func (v *validator) recrawl(r Recrawl) {
	if r == (Recrawl{}) {
		return
	}
	v.check(r.Min.D() >= time.Second, "recrawl.min", "must be at least 1s: write how long a page that changes is left alone, such as 24h")
	v.check(r.Max >= r.Min, "recrawl.max", fmt.Sprintf("is %s, it must be at least recrawl.min (%s)", r.Max, r.Min))
}

func (v *validator) archive(a Archive) {
	if strings.Contains(a.Where, "://") {
		u, err := url.Parse(a.Where)
		v.check(err == nil && u.Scheme == "s3" && u.Host != "", "archive.where", fmt.Sprintf("%q must be s3://bucket/prefix or a directory", a.Where))
		v.check(err != nil || u.User == nil, "archive.where", "must not contain credentials: the worker has them")
	}
	v.check(!strings.HasPrefix(a.Where, "s3:") || strings.HasPrefix(a.Where, "s3://"), "archive.where", fmt.Sprintf("%q must be written s3://bucket/prefix", a.Where))
	v.check(a.Prefix == "" || fs.ValidPath(strings.TrimSuffix(a.Prefix, "/")) && a.Prefix != ".", "archive.prefix",
		fmt.Sprintf("%q must be names separated by slashes, such as library/2026", a.Prefix))
	v.check(a.Digest == "" || a.Digest == DigestSHA1 || a.Digest == DigestSHA256, "archive.digest", fmt.Sprintf("%q must be %s or %s", a.Digest, DigestSHA1, DigestSHA256))
}

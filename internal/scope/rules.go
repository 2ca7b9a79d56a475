package scope

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Link is what is known of a URL when the scope is asked: how it was found, or, once it is fetched, what it is.
type Link struct {
	URL   urls.URL
	Path  string  // hop letters from the seed, its own included
	Score float64 // of the link; negative: not known
	// ViaLanguage is that of the page that links, crawl.LanguageUnknown if it has none; empty: nothing is known of that page.
	ViaLanguage string
	// MIME and Language are those of the page itself, or crawl.LanguageUnknown for both; empty: it is not fetched.
	MIME, Language string
	// Marked says that Path is from MarkPath, for this URL; else only what is before its last letter is.
	Marked bool
}

// truth is what is known of a condition.
type truth int8

const (
	no    truth = iota
	maybe       // it depends on what is not known yet, or not any more
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// asked is a link with what several conditions need of it.
type asked struct {
	Link
	scope *Scope
	pld   string
	surt  string // empty: nobody has asked
}

// condition is a compiled condition.
type condition struct {
	cost  int // cheap ones are asked first
	holds func(*asked) truth
}

// The costs of conditions, roughly in tens of nanoseconds.
const (
	costCompare = 1
	costScan    = 3
	costSURT    = 20
	costExpr    = 50
)

// rule is a compiled rule.
type rule struct {
	condition
	accept bool
}

func compileRules(rules []crawl.Rule) (list []rule, err error) {
	for i, r := range rules {
		conditions, field := r.Accept, "accept"
		if conditions == nil {
			conditions, field = r.Reject, "reject"
		}
		if conditions == nil {
			return nil, fmt.Errorf("scope.rules[%d] has neither accept nor reject", i)
		}
		c, err := compileConditions(conditions)
		if err != nil {
			return nil, fmt.Errorf("scope.rules[%d].%s.%w", i, field, err)
		}
		list = append(list, rule{c, r.Accept != nil})
	}
	return list, nil
}

// compileConditions compiles conditions that must all hold.
func compileConditions(c *crawl.Conditions) (condition, error) {
	list := simple(c)
	for _, of := range []struct {
		field string
		exprs crawl.Texts
		text  func(*asked) string
	}{
		{"url", c.URL, func(a *asked) string { return a.URL.String() }},
		{"hop_path", c.HopPath, func(a *asked) string { return letters(a.Path) }},
	} {
		if len(of.exprs) == 0 {
			continue
		}
		expr, err := anyOf(of.exprs)
		if err != nil {
			return condition{}, fmt.Errorf("%s: %w", of.field, err)
		}
		list = append(list, condition{costExpr, func(a *asked) truth { return truthOf(expr.MatchString(of.text(a))) }})
	}
	for field, number := range numbers(c) {
		if len(number.ranges) == 0 {
			continue
		}
		ranges := make([]crawl.Range, len(number.ranges))
		for i, text := range number.ranges {
			var err error
			if ranges[i], err = crawl.ParseRange(text); err != nil {
				return condition{}, fmt.Errorf("%s %w", field, err)
			}
		}
		list = append(list, condition{number.cost, func(a *asked) truth {
			x := number.of(a)
			if x < 0 {
				return maybe
			}
			return truthOf(slices.ContainsFunc(ranges, func(r crawl.Range) bool { return r.Has(x) }))
		}})
	}
	for _, inner := range c.All {
		one, err := compileConditions(&inner)
		if err != nil {
			return one, err
		}
		list = append(list, one)
	}
	if len(c.Any) > 0 {
		var some []condition
		for _, inner := range c.Any {
			one, err := compileConditions(&inner)
			if err != nil {
				return one, err
			}
			some = append(some, one)
		}
		list = append(list, either(some))
	}
	if c.Not != nil {
		inner, err := compileConditions(c.Not)
		if err != nil {
			return inner, err
		}
		list = append(list, condition{inner.cost, func(a *asked) truth { return yes - inner.holds(a) }})
	}
	return all(list), nil
}

// anyOf is an expression that matches what one of several matches.
func anyOf(exprs []string) (*regexp.Regexp, error) {
	if len(exprs) == 1 {
		return regexp.Compile(exprs[0])
	}
	for _, expr := range exprs {
		if _, err := regexp.Compile(expr); err != nil {
			return nil, err
		}
	}
	return regexp.Compile("(?:" + strings.Join(exprs, ")|(?:") + ")")
}

// number is a condition on a number; of is negative where it is not known.
type number struct {
	ranges crawl.Ranges
	cost   int
	of     func(*asked) float64
}

func numbers(c *crawl.Conditions) map[string]number {
	return map[string]number{
		"port":          {c.Port, costCompare, func(a *asked) float64 { return float64(a.URL.Port()) }},
		"depth":         {c.Depth, costScan, func(a *asked) float64 { return float64(depth(a.URL)) }},
		"query_length":  {c.QueryLength, costScan, func(a *asked) float64 { return float64(len(query(a.URL))) }},
		"hops":          {c.Hops, costScan, func(a *asked) float64 { return float64(Hops(a.Path)) }},
		"hops_off_site": {c.HopsOffSite, costScan, func(a *asked) float64 { return float64(a.scope.offSite(a.Path, a.pld, a.Marked)) }},
		"score":         {c.Score, costCompare, func(a *asked) float64 { return a.Score }},
	}
}

// simple are the conditions that a set, or a walk over the path, answers.
func simple(c *crawl.Conditions) (list []condition) {
	if c.Everything {
		list = append(list, condition{0, func(*asked) truth { return yes }})
	}
	if c.Requisite != nil {
		list = append(list, condition{costScan, func(a *asked) truth { return truthOf(embedded(a.Path) == *c.Requisite) }})
	}
	for _, of := range []struct {
		values map[string]bool
		cost   int
		of     func(*asked) string
	}{
		{texts(c.Scheme), costCompare, func(a *asked) string { return a.URL.Scheme() }},
		{set(c.Host), costCompare, func(a *asked) string { return a.URL.Host() }},
		{set(c.PLD), costCompare, func(a *asked) string { return a.pld }},
		{texts(c.Extension), costScan, func(a *asked) string { return extension(a.URL) }},
	} {
		if len(of.values) > 0 {
			list = append(list, condition{of.cost, func(a *asked) truth { return truthOf(of.values[of.of(a)]) }})
		}
	}
	for _, of := range []struct {
		values map[string]bool
		of     func(*asked) string
	}{
		{texts(c.ViaLanguage), func(a *asked) string { return a.ViaLanguage }},
		{texts(c.Language), func(a *asked) string { return a.Language }},
		{texts(c.MIME), func(a *asked) string { return a.MIME }},
	} {
		if len(of.values) == 0 {
			continue
		}
		list = append(list, condition{costCompare, func(a *asked) truth {
			said := of.of(a)
			if said == "" {
				return maybe
			}
			kind, _, media := strings.Cut(said, "/")
			return truthOf(of.values[said] || media && of.values[kind+"/*"])
		}})
	}
	if len(c.SURT) > 0 {
		prefixes := surts(c.SURT)
		list = append(list, condition{costSURT, func(a *asked) truth {
			if a.surt == "" {
				a.surt = a.URL.SURT()
			}
			return truthOf(prefixes.begin(a.surt))
		}})
	}
	return list
}

// all holds if each of the conditions holds.
func all(list []condition) condition {
	if len(list) == 1 {
		return list[0]
	}
	slices.SortStableFunc(list, func(a, b condition) int { return cmp.Compare(a.cost, b.cost) })
	return condition{total(list), func(a *asked) truth {
		least := yes
		for i := range list {
			if least = min(least, list[i].holds(a)); least == no {
				return no
			}
		}
		return least
	}}
}

// either holds if one of the conditions holds.
func either(list []condition) condition {
	slices.SortStableFunc(list, func(a, b condition) int { return cmp.Compare(a.cost, b.cost) })
	return condition{total(list), func(a *asked) truth {
		most := no
		for i := range list {
			if most = max(most, list[i].holds(a)); most == yes {
				return yes
			}
		}
		return most
	}}
}

func total(list []condition) (sum int) {
	for _, c := range list {
		sum += c.cost
	}
	return sum
}

// texts are values in lower case.
func texts(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[strings.ToLower(s)] = true
	}
	return m
}

// prefixes are sorted, and none begins with another.
type prefixes []string

func surts(list []string) (out prefixes) {
	sorted := make([]string, len(list))
	for i, text := range list {
		sorted[i] = bareSURT(text)
	}
	slices.Sort(sorted)
	for _, s := range sorted {
		if len(out) == 0 || !strings.HasPrefix(s, out[len(out)-1]) {
			out = append(out, s)
		}
	}
	return out
}

// begin reports whether one of the prefixes begins a text: only the last that is not above it can.
func (p prefixes) begin(text string) bool {
	at, found := slices.BinarySearch(p, text)
	return found || at > 0 && strings.HasPrefix(text, p[at-1])
}

func query(u urls.URL) string {
	_, query, _ := strings.Cut(u.RequestURI(), "?")
	return query
}

// depth is how many names a path has.
func depth(u urls.URL) (n int) {
	path, _, _ := strings.Cut(u.RequestURI(), "?")
	for i := 1; i < len(path); i++ {
		if path[i] != '/' && path[i-1] == '/' {
			n++
		}
	}
	return n
}

// extension is that of the last name of the path, in lower case; empty if it has none.
func extension(u urls.URL) string {
	path, _, _ := strings.Cut(u.RequestURI(), "?")
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return ""
	}
	return strings.ToLower(name[dot+1:])
}

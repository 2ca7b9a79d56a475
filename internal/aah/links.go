package aah

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// LoweredPriority is the priority of links that no rule wants, on pages whose rules want others.
const LoweredPriority = 0.1

// links has the links of a page and the rules of its application.
type links struct {
	kb.Evaluator
	doc     *page.Document
	content []bool // see crawl.Findings
	host    string
	base    *kb.Base
	profile *kb.Profile
	level   *kb.Level // nil: it is not known
	mode    string    // of the helper
	trace   func(url, becomes, rule string)
	words   kb.Seen // of one link, for short use
	url     []byte  // likewise
}

// apply drops links, brings the others into the application's normal form, and gives them level and priority.
func (v *links) apply() {
	dropped, wanted := map[string]string{}, map[string]*kb.Follow{}
	for c := range v.dropRules {
		if c.XPath != nil {
			v.hrefs(c.XPath, c.Needs, func(url string) {
				if c.URL == nil || c.URL.MatchString(url) {
					dropped[url] = c.Rule
				}
			})
		}
	}
	for f := range v.followRules {
		if f.XPath != nil {
			v.hrefs(f.XPath, f.Needs, func(url string) {
				if wanted[url] == nil && (f.URL == nil || f.URL.MatchString(url)) {
					wanted[url] = f
				}
			})
		}
	}
	if v.mode == crawl.HelperStrict && v.Eval.Budget < 0 { // not all rules were asked: what they want is not known
		v.mode = crawl.HelperLenient
	}
	kept := v.doc.Links[:0]
	seen := make(map[string]int, len(v.doc.Links))
	for _, l := range v.doc.Links {
		if l.Hop == crawl.HopLink {
			own := v.isOwnHost(l.URL)
			if rule := dropped[l.URL]; rule != "" {
				v.report(l.URL, "", rule)
				continue
			}
			f := wanted[l.URL]
			if own {
				v.look(l.URL)
				if rule := v.droppedBy(l.URL); rule != "" {
					v.report(l.URL, "", rule)
					continue
				}
				was := l.URL
				if rule := v.normalize(&l); rule != "" {
					v.report(was, l.URL, rule)
					if l.URL == v.doc.URL {
						continue
					}
				}
				if f == nil {
					f = v.byURL(l.URL)
				}
			} else if f != nil && f.Level != "" && v.profile.Application.Category != "generic" {
				f = nil // levels are those of the site's own pages
			}
			if !v.follow(&l, f, own) {
				v.report(l.URL, "", "strict")
				continue
			}
			if f != nil {
				v.report(l.URL, l.URL, f.Rule)
			}
			if at, twice := seen[l.URL]; twice {
				if kept[at].Prior < l.Prior {
					kept[at].Prior, kept[at].Level, kept[at].Hop = l.Prior, l.Level, l.Hop
				}
				continue
			}
			seen[l.URL] = len(kept)
		}
		kept = append(kept, l)
	}
	v.doc.Links = kept
}

// look finds the words of rules in the URL of a link.
func (v *links) look(url string) {
	v.url = append(v.url[:0], url...)
	v.base.Marks.Look(kb.InURL, v.url, &v.words)
}

// dropRules yields the rules for links that are never followed: the level's, then those for all levels.
func (v *links) dropRules(yield func(*kb.Condition) bool) {
	if v.level == nil || yieldAll(v.level.Drop, yield) {
		yieldAll(v.profile.Drop, yield)
	}
}

// followRules yields the rules for links that matter, likewise.
func (v *links) followRules(yield func(*kb.Follow) bool) {
	if v.level == nil || yieldAll(v.level.Follow, yield) {
		yieldAll(v.profile.Follow, yield)
	}
}

// yieldAll yields the rules of a list; false if that was enough.
func yieldAll[T any](list []T, yield func(*T) bool) bool {
	for i := range list {
		if !yield(&list[i]) {
			return false
		}
	}
	return true
}

// follow gives a link what the rule that wants it says; false if no rule does and the crawl is strict. Links
// that lead away from the site are followed if they are in the content.
func (v *links) follow(l *crawl.Outlink, f *kb.Follow, own bool) bool {
	if f != nil {
		l.Level, l.Prior = f.Level, f.Priority
		if f.Paging {
			l.Hop = crawl.HopPaging
		}
		return true
	}
	generic := v.profile.Application.Category == "generic"
	content := l.Block >= 0 && l.Block < len(v.content) && v.content[l.Block]
	switch {
	case generic || v.level == nil:
		return true
	case !own && content:
		return true
	case !own:
		l.Prior = LoweredPriority
		return v.mode != crawl.HelperStrict
	case v.mode == crawl.HelperStrict:
		return false
	}
	l.Prior = LoweredPriority
	return true
}

// isOwnHost reports whether a URL is of the page's site: the same host, with or without "www.".
func (v *links) isOwnHost(url string) bool {
	return strings.TrimPrefix(urls.HostOf(url), "www.") == strings.TrimPrefix(v.host, "www.")
}

// droppedBy returns the rule that drops a URL, "" if none does.
func (v *links) droppedBy(url string) (rule string) {
	for c := range v.dropRules {
		if c.XPath == nil && c.Links.Match(url, v.words[kb.InURL]) {
			return c.Rule
		}
	}
	return ""
}

func (v *links) byURL(url string) *kb.Follow {
	for f := range v.followRules {
		if f.XPath == nil && f.Links.Match(url, v.words[kb.InURL]) {
			return f
		}
	}
	return nil
}

// hrefs yields where the a elements lead that an expression selects.
func (v *links) hrefs(x *xpath.Expr, needs kb.Needs, yield func(url string)) {
	for _, r := range v.Select(x, needs, v.Eval.Tree.Root(), 0) {
		if ref := extract.Reference(v.Eval.Tree, r); ref != "" {
			if u := v.doc.Resolve(ref); u != "" {
				yield(u)
			}
		}
	}
}

// report calls Trace, if it is set, with the result for a link and the rule.
func (v *links) report(url, becomes, rule string) {
	if v.trace != nil {
		v.trace(url, becomes, rule)
	}
}

// normalize rewrites a link's URL by the application's rules, and returns the last that changed it.
func (v *links) normalize(l *crawl.Outlink) (rule string) {
	was := l.URL
	for i := range v.profile.Normalize {
		n := &v.profile.Normalize[i]
		before := l.URL
		switch {
		case n.URL == nil:
			l.URL = withoutParameter(l.URL, n)
		case n.Links.Match(l.URL, v.words[kb.InURL]):
			l.URL = n.URL.ReplaceAllString(l.URL, n.To)
		}
		if l.URL != before {
			rule = n.Rule
			v.look(l.URL) // the rules behind see the new form
		}
	}
	if l.URL == was {
		return ""
	}
	u, err := urls.Parse(l.URL)
	if err != nil {
		l.URL = was
		return ""
	}
	l.URL = u.String()
	return rule
}

// withoutParameter leaves out a parameter of the query.
func withoutParameter(url string, n *kb.Normal) string {
	at := strings.IndexByte(url, '?')
	if at < 0 || !strings.Contains(url[at:], n.Parameter) {
		return url
	}
	var kept []string
	for part := range strings.FieldsFuncSeq(url[at+1:], func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		if name != n.Parameter || n.Value != nil && !n.Value.MatchString(value) {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return url[:at]
	}
	return url[:at+1] + strings.Join(kept, "&")
}

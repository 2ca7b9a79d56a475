package scope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Words says in words what has decided about a URL; d is the definition of the scope.
func (d Decision) Words(of crawl.Scope) string {
	switch d.By {
	case ByMaxHops:
		return fmt.Sprintf("it is more than %d hops from a seed (scope.max_hops)", of.MaxHops)
	case ByMaxRedirects:
		return fmt.Sprintf("more than %d redirects in a row lead to it (scope.max_redirects)", of.MaxRedirects)
	case ByLength:
		return fmt.Sprintf("it has more than %d bytes, and no page needs it to be shown", urls.MaxPage)
	case ByBlacklist:
		return "its host or its pay-level domain is in scope.blacklist"
	case ByExclude:
		return "it matches a pattern of scope.exclude"
	case ByRule:
		text := fmt.Sprintf("scope.rules[%d]: %s", d.Rule, RuleWords(of.Rules[d.Rule]))
		if d.Doubt {
			text += "; whether that holds is not known before it is fetched"
		}
		return text
	case ByRequisite:
		return "a page embeds it"
	case ByWithin:
		return "the scope is the whole web"
	case ByHosts:
		return "its host is one of the scope"
	case ByPLDs:
		return "its pay-level domain is one of the scope"
	case ByInclude:
		return "it matches a pattern of scope.include"
	}
	return "no rule accepts it, and it is on no host or pay-level domain of the scope"
}

// namesShown is how many hosts, pay-level domains and other values are named in words.
const namesShown = 5

// Words says in words what the scope of a definition is; bounds are what Bounds made of its seeds.
func Words(d crawl.Definition, bounds []string) string {
	s := d.Scope
	var parts []string
	switch d.Bound() {
	case crawl.WithinWeb:
		parts = append(parts, "the whole web")
	case crawl.WithinHost:
		parts = append(parts, "the hosts of the seeds ("+listed(bounds)+")")
	case crawl.WithinPLD:
		parts = append(parts, "the pay-level domains of the seeds ("+listed(bounds)+")")
	}
	if len(s.Hosts) > 0 {
		parts = append(parts, "hosts "+listed(s.Hosts))
	}
	if len(s.PLDs) > 0 {
		parts = append(parts, "pay-level domains "+listed(s.PLDs))
	}
	if len(s.Include) > 0 {
		parts = append(parts, "what matches "+listed(s.Include))
	}
	accepts := slices.ContainsFunc(s.Rules, func(r crawl.Rule) bool { return r.Accept != nil })
	if accepts && len(parts) == 0 {
		parts = append(parts, "what scope.rules accept")
	}
	text := strings.Join(parts, "; ")
	switch n := len(s.Rules); {
	case n == 1:
		text += "; 1 rule comes before"
	case n > 1:
		text += fmt.Sprintf("; %d rules come before", n)
	}
	if len(s.Exclude) > 0 {
		text += "; without what matches " + listed(s.Exclude)
	}
	if len(s.Blacklist) > 0 {
		text += "; without " + listed(s.Blacklist)
	}
	if s.MaxHops > 0 {
		text += fmt.Sprintf("; at most %d hops from a seed", s.MaxHops)
	}
	return text
}

// listed names the first values of a list, and says how many there are more.
func listed(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	text := strings.Join(list[:min(len(list), namesShown)], ", ")
	if more := len(list) - namesShown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// RuleWords is a rule in words.
func RuleWords(r crawl.Rule) string {
	if r.Accept != nil {
		return "accept if " + conditionsWords(r.Accept)
	}
	return "reject if " + conditionsWords(r.Reject)
}

// conditionsWords are conditions in words: "host is a.example and at most 3 hops".
func conditionsWords(c *crawl.Conditions) string {
	var parts []string
	if c.Everything {
		parts = append(parts, "it is anything")
	}
	for _, of := range []struct {
		what string
		list []string
	}{
		{"the host is", c.Host}, {"the pay-level domain is", c.PLD}, {"the SURT begins with", c.SURT}, {"the URL matches", c.URL}, {"the scheme is", c.Scheme},
		{"the port is", c.Port}, {"the extension is", c.Extension}, {"the depth is", c.Depth}, {"the length of the query is", c.QueryLength},
		{"the hops from a seed are", c.Hops}, {"the hops off the seeds' sites are", c.HopsOffSite}, {"the hop path matches", c.HopPath},
		{"the score is", c.Score}, {"the language of the page that links is", c.ViaLanguage}, {"the MIME type is", c.MIME}, {"the language is", c.Language},
	} {
		if len(of.list) > 0 {
			parts = append(parts, of.what+" "+strings.Join(of.list[:min(len(of.list), namesShown)], " or "))
		}
		if more := len(of.list) - namesShown; more > 0 {
			parts[len(parts)-1] += " or one of " + strconv.Itoa(more) + " more"
		}
	}
	if c.Requisite != nil {
		parts = append(parts, map[bool]string{true: "a page embeds it", false: "no page embeds it"}[*c.Requisite])
	}
	for i := range c.All {
		parts = append(parts, conditionsWords(&c.All[i]))
	}
	if len(c.Any) > 0 {
		var some []string
		for i := range c.Any {
			some = append(some, conditionsWords(&c.Any[i]))
		}
		parts = append(parts, "("+strings.Join(some, ", or ")+")")
	}
	if c.Not != nil {
		parts = append(parts, "not ("+conditionsWords(c.Not)+")")
	}
	return strings.Join(parts, " and ")
}

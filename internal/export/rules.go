package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Rules say which captures are kept: those of some URLs. The first rule that matches a URL decides; without one, it is dropped.
type Rules struct {
	List []Rule `json:"list"`
}

// Rule keeps or drops the captures of a URL, or of all URLs that begin with a prefix.
type Rule struct {
	URL    string `json:"url"`
	Prefix bool   `json:"prefix,omitempty"`
	Drop   bool   `json:"drop,omitempty"`
	By     string `json:"by,omitempty"`  // who or which rule decided
	Why    string `json:"why,omitempty"` // the reason
}

// The most rules of an order: of URLs and prefixes together, and of prefixes, each of which is compared with each capture.
const (
	maxRules    = 100_000
	maxPrefixes = 1000
)

// Decision is what was decided of a capture.
type Decision struct {
	Keep bool
	By   string // who or which rule
	Why  string
}

func (r *Rules) faults() (faults crawl.Faults) {
	if len(r.List) == 0 || len(r.List) > maxRules {
		faults = append(faults, crawl.Fault{Path: "keep.list", Message: fmt.Sprintf("%d rules: there must be 1 to %d", len(r.List), maxRules)})
	}
	prefixes := 0
	for i, rule := range r.List {
		if rule.Prefix {
			prefixes++
		} else if rule.URL == "" {
			faults = append(faults, crawl.Fault{Path: fmt.Sprintf("keep.list[%d].url", i), Message: "name a URL"})
		}
	}
	if prefixes > maxPrefixes {
		faults = append(faults, crawl.Fault{Path: "keep.list", Message: fmt.Sprintf("%d prefixes: there must be at most %d", prefixes, maxPrefixes)})
	}
	return faults
}

// judge makes a function that decides on URLs. Without rules it keeps everything.
func (r *Rules) judge() func(url string) Decision {
	if r == nil {
		return func(string) Decision { return Decision{Keep: true, By: "everything"} }
	}
	exact, prefixes := map[string]int{}, []int{}
	for i, rule := range r.List {
		if rule.Prefix {
			prefixes = append(prefixes, i)
		} else if _, known := exact[rule.URL]; !known {
			exact[rule.URL] = i
		}
	}
	return func(url string) Decision {
		first, found := exact[url]
		for _, i := range prefixes {
			if found && i > first {
				break
			}
			if strings.HasPrefix(url, r.List[i].URL) {
				first, found = i, true
				break
			}
		}
		if !found {
			return Decision{By: "no rule", Why: "no rule matches the URL"}
		}
		rule := &r.List[first]
		return Decision{!rule.Drop, rule.By, rule.Why}
	}
}

// ReadRules reads a list of URLs, one a line: captures of these are kept. A line that ends with * stands for all URLs that begin so; one that begins
// with - is dropped, and what follows it in the list does not count for its URLs. Blank lines and lines that begin with # are comments. name is for faults.
func ReadRules(name string, r io.Reader) (*Rules, error) {
	rules := &Rules{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		rule := Rule{By: fmt.Sprintf("%s:%d", name, n)}
		text, rule.Drop = strings.CutPrefix(text, "-")
		if rule.URL, rule.Prefix = strings.CutSuffix(strings.TrimSpace(text), "*"); !rule.Prefix {
			u, err := urls.Parse(rule.URL)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			rule.URL = u.String()
		}
		rules.List = append(rules.List, rule)
		if len(rules.List) > maxRules {
			return nil, fmt.Errorf("%s:%d: more than %d rules: use prefixes, such as http://example.org/*", name, n, maxRules)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rules.List) == 0 {
		return nil, fmt.Errorf("%s has no rule: give a URL a line, or a prefix that ends with *", name)
	}
	return rules, nil
}

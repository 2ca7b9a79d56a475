package kb

import (
	"fmt"
	"slices"
	"strings"
)

// Unreachable finds rules that can never apply, because an earlier rule matches everything that they match.
func (b *Base) Unreachable() (faults []string) {
	for _, c := range b.Categories {
		faults = append(faults, c.unreachable()...)
	}
	for _, a := range b.Applications {
		faults = append(faults, a.unreachable()...)
		for _, v := range a.Versions {
			faults = append(faults, v.unreachable()...)
		}
	}
	for _, s := range b.Sites {
		faults = append(faults, s.unreachable()...)
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

func (r *Rules) unreachable() (faults []string) {
	asked := map[string]string{}
	once := func(rule, what string) {
		if other, twice := asked[what]; twice {
			faults = append(faults, fmt.Sprintf("%s: can never speak: %s says the same before", rule, other))
			return
		}
		asked[what] = rule
	}
	for _, c := range r.Detect {
		once(c.Rule, "detect "+c.text())
	}
	for _, l := range r.Levels {
		for _, c := range l.Match {
			once(c.Rule, "match "+c.text())
		}
		for i, o := range l.Objects {
			once(o.Rule, "object "+l.Name+o.Type+o.Each.String())
			for _, q := range o.Properties {
				once(q.Rule, fmt.Sprint("property ", l.Name, i, q.Name, q.XPath, q.As, source(q.Match), q.Without, q.Append, source(q.AppendMatch), q.Between))
			}
		}
		for _, f := range l.Follow {
			once(f.Rule, "follow "+l.Name+f.text())
		}
		for _, c := range l.Drop {
			once(c.Rule, "drop "+l.Name+c.text())
		}
	}
	for _, f := range r.Follow {
		once(f.Rule, "follow "+f.text())
	}
	for _, c := range r.Drop {
		once(c.Rule, "drop "+c.text())
	}
	return faults
}

func (c *Condition) text() string {
	parts := []string{c.Generator, c.Text, c.Header, c.Value, c.Cookie}
	if c.XPath != nil {
		parts = append(parts, "xpath "+c.XPath.String())
	}
	if c.URL != nil {
		parts = append(parts, "url "+c.URL.String())
	}
	return strings.Join(parts, "\x00")
}

func (f *Follow) text() string {
	c := Condition{XPath: f.XPath, URL: f.URL}
	return c.text()
}

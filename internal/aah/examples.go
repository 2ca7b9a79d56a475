package aah

import (
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/kb"
)

// Examples applies a base to the examples that its files hold, and reports what is not as they say: file, line
// and what was found instead.
func Examples(base *kb.Base) (faults []string) {
	for _, app := range base.Applications {
		for i := range app.Examples {
			faults = append(faults, example(base, app, &app.Examples[i])...)
		}
	}
	return faults
}

func example(base *kb.Base, app *kb.Application, x *kb.Example) (faults []string) {
	fault := func(rule, format string, args ...any) {
		faults = append(faults, rule+": "+fmt.Sprintf(format, args...))
	}
	d := page.Parse(page.Input{URL: x.URL, MIME: "text/html; charset=utf-8", Body: []byte(x.Page)}, page.DefaultLimits())
	found := New(base, DefaultLimits()).Apply(d, Input{Head: []byte(x.Headers)})
	switch {
	case found.Application != app.Name:
		fault(x.Rule, "is taken for %q (by %s), not for %q", found.Application, found.Rule, app.Name)
		return faults
	case x.Version != "" && found.Version != x.Version:
		fault(x.Rule, "is taken for version %q, not %q", found.Version, x.Version)
	case found.Level != x.Level:
		fault(x.Rule, "is of level %q (by %s), not %q", found.Level, found.LevelRule, x.Level)
	}
	for i := range x.Has {
		h := &x.Has[i]
		switch {
		case h.Object != "":
			if text := hasObject(found.Objects, h); text != "" {
				fault(h.Rule, "%s", text)
			}
		default:
			if text := hasLink(d, h); text != "" {
				fault(h.Rule, "%s", text)
			}
		}
	}
	return faults
}

// hasObject reports how the objects of a type differ from what an example says, "" if they do not.
func hasObject(objects []crawl.Object, h *kb.Has) string {
	count, nearest, agree := 0, "", -1
	for _, o := range objects {
		if o.Type != h.Object {
			continue
		}
		count++
		same, differs := 0, ""
		for name, want := range h.Properties {
			if all := o.Properties.All(name); slices.Contains(all, want) {
				same++
			} else {
				differs = fmt.Sprintf("no %s has %s %q; the nearest has %q", h.Object, name, want, all)
			}
		}
		if same > agree {
			agree, nearest = same, differs
		}
	}
	switch {
	case count == 0:
		return fmt.Sprintf("there is no object %q", h.Object)
	case h.Count > 0 && count != h.Count:
		return fmt.Sprintf("there are %d objects %q, not %d", count, h.Object, h.Count)
	}
	return nearest
}

// hasLink reports whether a link is not followed, or not dropped, as an example says; "" if all is well.
func hasLink(d *page.Document, h *kb.Has) string {
	r, err := urls.NewResolver(d.URL)
	if err != nil {
		return err.Error()
	}
	u, err := r.Resolve(h.Link + h.Dropped)
	if err != nil {
		return err.Error()
	}
	at := slices.IndexFunc(d.Links, func(l crawl.Outlink) bool { return l.URL == u.String() && l.Hop != crawl.HopEmbed })
	switch {
	case h.Dropped != "" && at >= 0:
		return fmt.Sprintf("the link %s is not dropped", u)
	case h.Dropped != "":
		return ""
	case at < 0:
		return fmt.Sprintf("the link %s is not there, or is dropped", u)
	case d.Links[at].Level != h.Level || d.Links[at].Prior <= LoweredPriority:
		return fmt.Sprintf("the link %s leads to level %q with priority %.2g, not to %q", u, d.Links[at].Level, d.Links[at].Prior, h.Level)
	}
	return ""
}

package kb

import (
	"fmt"
	"slices"
)

// Profile is all that holds for pages of one application, in one version, on one site: the rules of the
// site, the version, the application, its other versions and its category, in this order.
type Profile struct {
	Application *Application
	Version     string
	Rules
}

type profileKey struct {
	application, version string
	site                 *Site
}

// Profile returns the rules for an application in a version ("" if it is not known, or not of the base) on a host.
func (b *Base) Profile(app *Application, version, host string) *Profile {
	site := b.hosts[host]
	if site != nil && site.Application != app.Name {
		site = nil
	}
	if site != nil && site.Version != "" {
		version = site.Version
	}
	if p := b.profiles[profileKey{app.Name, version, site}]; p != nil {
		return p
	}
	return b.profiles[profileKey{app.Name, "", site}] // the base had the version once
}

// join makes the profiles and checks what files say of each other.
func (b *Base) join() (faults Faults) {
	for _, app := range b.Applications {
		versions := []string{""}
		for _, v := range app.Versions {
			versions = append(versions, v.Name)
		}
		for _, v := range versions {
			p := b.merge(app, v, nil)
			b.profiles[profileKey{app.Name, v, nil}] = p
			faults = append(faults, p.check(app.File)...)
		}
	}
	for _, s := range b.Sites {
		app := b.Application(s.Application)
		if app == nil {
			faults = append(faults, fmt.Sprintf("%s:1: application %q is not in the base", s.File, s.Application))
			continue
		}
		versions := []string{""}
		for _, v := range app.Versions {
			versions = append(versions, v.Name)
		}
		if s.Version != "" && !slices.Contains(versions, s.Version) {
			faults = append(faults, fmt.Sprintf("%s:1: application %q has no version %q", s.File, s.Application, s.Version))
		}
		for _, v := range versions {
			p := b.merge(app, v, s)
			b.profiles[profileKey{app.Name, v, s}] = p
			faults = append(faults, p.check(s.File)...)
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

func (b *Base) merge(app *Application, version string, site *Site) *Profile {
	var layers []Rules
	if site != nil {
		layers = append(layers, site.Rules)
	}
	var others []Rules
	for _, v := range app.Versions {
		if v.Name == version {
			layers = append(layers, v.Rules)
		} else {
			others = append(others, v.Rules)
		}
	}
	layers = append(append(layers, app.Rules), others...)
	if c := b.Categories[app.Category]; c != nil {
		layers = append(layers, c.Rules)
	}
	p := &Profile{Application: app, Version: version}
	place := map[string]*Level{}
	// the application says in which order levels are asked
	for _, l := range app.Levels {
		place[l.Name] = &Level{Name: l.Name, Rule: l.Rule}
		p.Levels = append(p.Levels, place[l.Name])
	}
	for _, r := range layers {
		for _, l := range r.Levels {
			into := place[l.Name]
			if into == nil {
				into = &Level{Name: l.Name, Rule: l.Rule}
				place[l.Name] = into
				p.Levels = append(p.Levels, into)
			}
			into.Terminal = into.Terminal || l.Terminal
			into.Match = append(into.Match, l.Match...)
			into.Objects = append(into.Objects, l.Objects...)
			into.Follow = append(into.Follow, l.Follow...)
			into.Drop = append(into.Drop, l.Drop...)
		}
		p.Follow = append(p.Follow, r.Follow...)
		p.Drop = append(p.Drop, r.Drop...)
		p.Normalize = append(p.Normalize, r.Normalize...)
	}
	return p
}

// check finds levels that no page has and links that lead to levels that are not there. Levels that only the
// category names are a stock to choose from.
func (p *Profile) check(file string) (faults Faults) {
	own := map[string]bool{}
	note := func(r Rules) {
		for _, l := range r.Levels {
			own[l.Name] = true
		}
	}
	note(p.Application.Rules)
	for _, v := range p.Application.Versions {
		note(v.Rules)
	}
	has := map[string]bool{}
	follows := slices.Clone(p.Follow)
	for _, l := range p.Levels {
		has[l.Name] = true
		follows = append(follows, l.Follow...)
		if len(l.Match) == 0 && own[l.Name] {
			faults = append(faults, fmt.Sprintf("%s: level %q has no match element: it would never be recognised", l.Rule, l.Name))
		}
	}
	for _, f := range follows {
		if f.Level != "" && !has[f.Level] {
			faults = append(faults, fmt.Sprintf("%s: leads to level %q, which neither %s nor its category has", f.Rule, f.Level, file))
		}
	}
	p.Levels = slices.DeleteFunc(p.Levels, func(l *Level) bool { return len(l.Match) == 0 })
	return faults
}

// Level returns the level of a name, nil if there is none.
func (p *Profile) Level(name string) *Level {
	for _, l := range p.Levels {
		if l.Name == name {
			return l
		}
	}
	return nil
}

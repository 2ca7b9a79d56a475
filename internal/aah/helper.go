// Package aah is the application-aware helper (paper §4.1): it recognises the web application and
// the level of a page, lifts its web objects and judges its links, by the rules of a knowledge base.
package aah

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xpath"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/kb"
)

// Limits bound what is lifted out of one page.
type Limits struct {
	Objects       int `json:"objects_per_page"`
	PropertyBytes int `json:"property_bytes"` // of one property's value
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits { return Limits{Objects: 500, PropertyBytes: 64 << 10} }

// Helper applies a knowledge base. It is safe for concurrent use.
type Helper struct {
	base   *kb.Base
	limits Limits
}

// New makes a helper of a checked base.
func New(base *kb.Base, limits Limits) *Helper { return &Helper{base: base, limits: limits} }

// Apply recognises the page, fills in its application, level and objects, and judges its links:
// dropped ones are taken out, the others may get a level and a priority. raw is the decoded body.
func (h *Helper) Apply(d *page.Document, raw []byte) {
	if d.Root == nil {
		return
	}
	v := views.Get().(*view)
	*v = view{doc: d, raw: raw, words: h.base.Words.Find(raw, v.words)}
	defer func() {
		v.doc, v.raw = nil, nil
		views.Put(v)
	}()
	var err error
	if v.base, err = baseOf(d); err != nil {
		return
	}
	for _, app := range h.base.Applications {
		rule, found := v.recognise(app)
		if !found {
			continue
		}
		level := v.level(app)
		if app.Category == "generic" && level == nil {
			return
		}
		d.Application, d.Rule = app.Name, rule
		if level != nil {
			d.Level = level.Name
			h.lift(v, level)
		}
		v.judge(app, level)
		return
	}
}

// view is a page under the rules; links are found by the node they stand on.
type view struct {
	doc  *page.Document
	raw  []byte
	base urls.Resolver

	words kb.Found // that stand in raw
}

var views = sync.Pool{New: func() any { return new(view) }}

func (v *view) recognise(app *kb.Application) (rule string, found bool) {
	if app.Category == "generic" {
		return app.File, true
	}
	return v.any(app.Detect)
}

func (v *view) level(app *kb.Application) *kb.Level {
	for _, l := range app.Levels {
		if _, ok := v.any(l.Match); ok {
			return l
		}
	}
	return nil
}

func (v *view) any(conditions []kb.Condition) (rule string, ok bool) {
	for _, c := range conditions {
		switch {
		case c.Generator != "":
			ok = strings.Contains(strings.ToLower(v.doc.Generator), c.Generator)
		case c.Text != "":
			if ok = v.may(c.Needs); ok && (v.wide() || len(c.Needs.Words) == 0) {
				ok = bytes.Contains(v.raw, []byte(c.Text))
			}
		case c.URL != nil:
			ok = c.URL.MatchString(v.doc.URL)
		case c.XPath != nil:
			ok = v.may(c.Needs) && first(v.doc.Root, c.XPath) != nil
		}
		if ok {
			return c.Rule, true
		}
	}
	return "", false
}

// wide tells that raw holds two bytes a letter.
func (v *view) wide() bool { return strings.HasPrefix(v.doc.Charset, "utf-16") }

// may tells whether the raw page holds one of the words without which an expression selects nothing:
// looking for them costs far less than walking the tree.
func (v *view) may(needs kb.Needs) bool {
	return v.wide() || len(needs.Words) == 0 || slices.ContainsFunc(needs.Words, v.words.Has)
}

// lift extracts the web objects of a level.
func (h *Helper) lift(v *view, level *kb.Level) {
	found := map[string]bool{}
	for _, o := range level.Objects {
		if found[o.Type] || !v.may(o.Needs) {
			continue // of several rules for a type the first that finds something counts
		}
		for _, n := range all(v.doc.Root, o.Each) {
			if len(v.doc.Objects) >= h.limits.Objects {
				return
			}
			at := navigator(v.doc.Root, n)
			object := crawl.Object{Type: o.Type, Properties: map[string]string{}}
			for _, p := range o.Properties {
				if object.Properties[p.Name] != "" || !v.may(p.Needs) {
					continue // the first that finds something counts
				}
				if value := h.value(at, p, v.base); value != "" {
					object.Properties[p.Name] = value
				}
			}
			if len(object.Properties) > 0 {
				v.doc.Objects = append(v.doc.Objects, object)
				found[o.Type] = true
			}
		}
	}
}

func (h *Helper) value(at *htmlquery.NodeNavigator, p kb.Property, base urls.Resolver) string {
	value, found := evaluate(at, p.XPath)
	if !found {
		return ""
	}
	switch p.As {
	case "url":
		u, err := base.Resolve(value)
		if err != nil {
			return ""
		}
		value = u.String()
	case "dateTime":
		value = dateTime(value)
	}
	if len(value) > h.limits.PropertyBytes {
		value = strings.ToValidUTF8(value[:h.limits.PropertyBytes], "")
	}
	return value
}

// judge drops links and gives the others level and priority.
func (v *view) judge(app *kb.Application, level *kb.Level) {
	dropped, wanted := map[string]bool{}, map[string]kb.Follow{}
	follows := app.Follow
	if level != nil {
		follows = append(append([]kb.Follow(nil), level.Follow...), follows...)
	}
	for _, c := range app.Drop {
		if c.XPath != nil && v.may(c.Needs) {
			v.hrefs(c.XPath, func(url string) { dropped[url] = true })
		}
	}
	for _, f := range follows {
		if f.XPath != nil && v.may(f.Needs) {
			v.hrefs(f.XPath, func(url string) {
				if _, known := wanted[url]; !known {
					wanted[url] = f
				}
			})
		}
	}
	kept := v.doc.Links[:0]
	for _, l := range v.doc.Links {
		if l.Hop == crawl.HopLink && (dropped[l.URL] || dropURL(app, l.URL)) {
			continue
		}
		if f, ok := wanted[l.URL]; ok {
			l.Level, l.Prior = f.Level, f.Priority
		} else {
			for _, f := range follows {
				if f.URL != nil && f.URL.MatchString(l.URL) {
					l.Level, l.Prior = f.Level, f.Priority
					break
				}
			}
		}
		kept = append(kept, l)
	}
	v.doc.Links = kept
}

func dropURL(app *kb.Application, url string) bool {
	for _, c := range app.Drop {
		if c.URL != nil && c.URL.MatchString(url) {
			return true
		}
	}
	return false
}

func (v *view) hrefs(expr *xpath.Expr, yield func(url string)) {
	for _, n := range all(v.doc.Root, expr) {
		href := htmlquery.SelectAttr(n, "href")
		if href == "" {
			continue
		}
		if u, err := v.base.Resolve(href); err == nil {
			yield(u.String())
		}
	}
}

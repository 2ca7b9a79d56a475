package manners

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// The hosts of shared requisites: one at an address of its own, one at that of the first site with requisites.
const (
	ElsewhereHost = "elsewhere.test"
	BesideHost    = "beside.test"
)

// Recurring is a world of manners in editions, from the first on. Pages need style sheets and images to be shown: a sheet that imports another one, which has an image; an
// image of their own; images at another host at the same address, and at another address. From one edition to the next some pages change, and some do not, with
// or without validators; in the second some are gone, some are forbidden, and some that were not there are.
type Recurring struct {
	*webworld.World
	edition atomic.Int32
	stop    atomic.Pointer[func(*http.Request)]
	all     []*recurring
}

// recurring is a URL of such a world.
type recurring struct {
	kind      string
	requisite bool
	embeds    []string           // of a style sheet
	resource  *webworld.Resource // of the world's truth
	host      *webworld.Host
}

// Recurred is what a run of a crawl that follows the editions finds at a URL that it may fetch.
type Recurred struct {
	URL       string
	Status    int
	Requisite bool
	Embeds    []string // in the page or style sheet itself
	Became    string   // since the edition before, as a crawl log says it; empty of requisites, and if nothing is to be said
}

// What becomes of the pages.
const (
	stays   = "stays"   // 304
	repeats = "repeats" // the same payload, without validators
	changes = "changes"
	goes    = "goes"
	closes  = "closes"
	arrives = "arrives"
)

// NewRecurring is a world of manners in editions, in its first.
func NewRecurring(o webworld.Options) *Recurring {
	o = o.WithDefaults()
	plan := []mannersSite{
		{host: "plain.test", pages: 9 * o.Scale},
		{host: "slow.test", pages: 5 * o.Scale, slow: mannersSlow},
		{host: "refusing.test", pages: 5 * o.Scale, refused: 12},
		{host: "delayed.test", pages: 4, delay: mannersDelay},
		{host: "norns.test", pages: 3, refused: 14, delay: mannersDelay},
		{host: "shared-one.test", pages: 6 * o.Scale, refused: 3},
		{host: "shared-two.test", on: "shared-one.test", pages: 3, refused: 5, delay: mannersDelay},
		{host: LenderHost, pages: 5 * o.Scale},
		{host: BorrowerHost, pages: 4, refused: 4, lender: LenderHost},
	}
	p := planOf(o, plan)
	p.Add(ElsewhereHost, "manners")
	p.AddOn(plan[0].host, BesideHost, "manners")
	r := &Recurring{}
	r.edition.Store(1)
	r.World = webworld.New(o, p.Sites, func(b *webworld.Builder) {
		b.Topic = []string{"raven", "ravens", "corvid", "crow"}
		for _, host := range []string{ElsewhereHost, BesideHost} {
			s := b.ByName[host]
			s.SetRobots(webworld.Rules{}, "")
			r.add(s, "/ravens.png", stays, true, "image/png")
		}
		for _, s := range plan {
			r.writeSite(b, b.ByName[s.host], s)
		}
		b.Truth = func() (list []webworld.Page) {
			for _, u := range r.all {
				list = append(list, u.resource.Page)
			}
			return list
		}
		b.Finish()
	})
	return r
}

// iconPath is where browsers look for the icon of a host.
const iconPath = "/favicon.ico"

// Turn brings in the next edition.
func (r *Recurring) Turn() { r.edition.Add(1) }

// Stop has a function called with each request for a requisite before it is answered; nil: none. The request is not answered if its client has left then.
func (r *Recurring) Stop(at func(*http.Request)) {
	if at == nil {
		r.stop.Store(nil)
		return
	}
	r.stop.Store(&at)
}

// Finds lists what a run finds in the present edition: it has asked for all in each edition before.
func (r *Recurring) Finds() (list []Recurred) {
	edition := r.edition.Load()
	for _, u := range r.all {
		if !u.resource.Allowed {
			continue
		}
		f := Recurred{URL: u.resource.URL, Status: u.status(edition), Requisite: u.requisite, Embeds: u.embeds}
		if !u.requisite {
			f.Became = u.became(edition)
		}
		if f.Status == http.StatusOK && !u.requisite {
			for _, l := range webworld.Links(webworld.MustParse(f.URL), u.body(edition)) {
				if l.Embed {
					f.Embeds = append(f.Embeds, l.URL.String())
				}
			}
			f.Embeds = append(f.Embeds, u.host.Base+iconPath) // which no page names
		}
		list = append(list, f)
	}
	return list
}

func (r *Recurring) writeSite(b *webworld.Builder, s *webworld.Host, plan mannersSite) {
	setRules(b, s, plan)
	for n := range plan.refused {
		path := refusedPath(n)
		r.all = append(r.all, &recurring{resource: s.AddHTML(path, "page", true, nil), host: s})
		b.Seeds = append(b.Seeds, s.Base+path)
	}
	b.Seeds = append(b.Seeds, s.Base+"/")
	kinds := []string{changes, stays, repeats, changes, goes, closes, arrives}
	for n := range plan.pages {
		kind := kinds[min(n, 1)*(1+max(n-1, 0)%(len(kinds)-1))]
		u := r.add(s, mannersPath(n), kind, false, "text/html; charset=utf-8")
		u.resource.Slow = plan.slow
		page := b.Random(s, "page %d", n)
		text := b.Text.Paragraphs(page, webworld.Ravens, 2)
		head := `<link rel="stylesheet" href="/style.css">`
		if plan.delay == 0 && n%2 == 0 && kind != arrives { // whose requisites would be known from the second edition on
			image := fmt.Sprintf("/images/%d.png", n)
			r.add(s, image, stays, true, "image/png")
			head += fmt.Sprintf(`<img src=%q><img src="%s/ravens.png"><img src="%s/ravens.png">`, image, b.ByName[ElsewhereHost].Base, b.ByName[BesideHost].Base)
		}
		u.resource.Body = [][]byte{fmt.Appendf(nil, "<!DOCTYPE html><title>Raven %d</title>%s<h1>Raven %d</h1><p>%s</p>", n, head, n, strings.Join(text, "</p><p>"))}
		if n == 0 {
			for m := range plan.pages {
				u.resource.Body = append(u.resource.Body, fmt.Appendf(nil, "<p><a href=%q>Raven %d</a></p>", mannersPath(m), m))
			}
			for m := range plan.refused {
				u.resource.Body = append(u.resource.Body, fmt.Appendf(nil, "<p><a href=%q>All ravens, corvids and crows %d</a></p>", refusedPath(m), m))
			}
		}
	}
	r.add(s, iconPath, stays, true, "image/x-icon")
	style, more := r.add(s, "/style.css", stays, true, "text/css"), r.add(s, "/more.css", repeats, true, "text/css")
	back := r.add(s, "/back.png", stays, true, "image/png")
	style.resource.Body, style.embeds = [][]byte{[]byte("@import url(more.css);\n")}, []string{more.resource.URL}
	more.resource.Body, more.embeds = [][]byte{[]byte("body { background: url(back.png) }\n")}, []string{back.resource.URL}
}

// add puts a URL whose answer goes by the edition. Its body is its URL, unless it gets another.
func (r *Recurring) add(s *webworld.Host, path, kind string, requisite bool, mime string) *recurring {
	res := s.AddHTML(path, kind, !requisite, []byte(s.Base+path))
	res.Header.Set("Content-Type", mime)
	res.Embed = requisite
	u := &recurring{kind, requisite, nil, res, s}
	r.all = append(r.all, u)
	res.Raw = func(x *webworld.Exchange, w http.ResponseWriter, req *http.Request) {
		if stop := r.stop.Load(); stop != nil && requisite {
			if (*stop)(req); req.Context().Err() != nil {
				return
			}
		}
		u.answer(r.edition.Load(), x, w, req)
	}
	return u
}

func (u *recurring) answer(edition int32, x *webworld.Exchange, w http.ResponseWriter, req *http.Request) {
	res := *u.resource
	res.Raw, res.Status, res.Body = nil, u.status(edition), [][]byte{u.body(edition)}
	u.host.SetHeader(w.Header(), &res)
	if tag := fmt.Sprintf("%q", u.kind+res.URI); u.kind == stays {
		w.Header().Set("ETag", tag)
		if strings.Contains(req.Header.Get("If-None-Match"), tag) {
			w.Header().Del("Content-Type")
			x.End(http.StatusNotModified)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	webworld.Send(x, w, req, &res)
}

func (u *recurring) status(edition int32) int {
	switch {
	case u.kind == goes && edition > 1, u.kind == arrives && edition == 1:
		return http.StatusNotFound
	case u.kind == closes && edition > 1:
		return http.StatusForbidden
	}
	return http.StatusOK
}

// body is that of an edition.
func (u *recurring) body(edition int32) []byte {
	if status := u.status(edition); status != http.StatusOK {
		return fmt.Appendf(nil, "<title>%d</title>", status)
	}
	body := u.resource.Body
	if u.kind == changes {
		body = append(body[:len(body):len(body)], fmt.Appendf(nil, "<p>edition %d</p>", edition))
	}
	return webworld.Join(body)
}

func (u *recurring) became(edition int32) string {
	switch first := map[bool]int32{false: 1, true: 2}[u.kind == arrives]; {
	case edition < first:
		return ""
	case edition == first:
		return "new"
	case u.kind == changes:
		return "changed"
	case u.kind == goes && edition == 2:
		return "gone"
	case u.kind == closes && edition == 2:
		return "forbidden"
	case u.kind == goes, u.kind == closes:
		return ""
	}
	return "unchanged"
}

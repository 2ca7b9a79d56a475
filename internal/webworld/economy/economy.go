// Package economy is a web of forums, a blog and a wiki with all the links that the real applications have beside their
// content.
package economy

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/muninn-archive/muninn/internal/webworld"
)

//go:embed markup/*.html
var markupFiles embed.FS

// Objects is how many terminal objects a site of the economy world has unless another number is asked for.
const Objects = 300

// Site is a site of one application, with all its links beside the content: a crawl needs only a small part of
// the links to reach the objects. It is safe for concurrent use.
type Site struct {
	Host        string
	Application string // as the knowledge base names it
	Release     string // of the application that the pages look like
	Seed        string // URL to begin with

	site    *webworld.Host
	seed    uint64
	views   *template.Template
	app     application
	objects []Object
	served  atomic.Uint64 // number of responses, which seeds what changes with each of them
}

// Object is a web object of a site: a post, an article or a comment.
type Object struct {
	ID   string
	Kind string // post, article or comment
	URL  string // of the page that it belongs to
	Text string // as pages show it, with blanks between paragraphs
}

// Page is the answer to one request.
type Page struct {
	Status  int
	Header  http.Header
	Body    []byte
	Kind    string   // thread, list, profile, reply, print, calendar, history …
	Objects []string // IDs of those that stand in it as a whole
}

// application makes the pages of a site.
type application interface {
	// answer makes the page at a URL, nil if there is none. The session is another one for each response.
	answer(u *url.URL, session session) *reply
}

// session stands for what an application gives to a visitor without cookies.
type session struct{ seed, nth uint64 }

// id is a session ID of n characters out of the first `base` digits and letters.
func (s session) id(n, base int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	r := webworld.Random(s.seed, fmt.Sprintf("session %d", s.nth))
	out := make([]byte, n)
	for i := range out {
		out[i] = digits[r.IntN(base)]
	}
	return string(out)
}

// reply is a page before it is written out.
type reply struct {
	kind     string
	view     string // template
	data     any
	objects  []string
	mime     string // default HTML in UTF-8
	status   int    // default 200
	location string // of a redirect
}

// redirectTo answers with the location of the page.
func redirectTo(location string) *reply { return &reply{kind: "redirect", location: location} }

// The hosts of the economy world.
const (
	economyPHPBB     = "rookery.example"
	economySMF       = "nest.example"
	economyVBulletin = "perch.example"
	economyWordPress = "ledger.example"
	economyMediaWiki = "corvids.example"
)

// economyPlan lists the sites in the order of their making.
var economyPlan = []struct {
	host, name, release, front string
	make                       func(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object)
}{
	{economyPHPBB, "phpBB", "3.2", "/index.php", newPHPBB},
	{economySMF, "SMF", "2.0.19", "/index.php", newSMF},
	{economyVBulletin, "vBulletin", "4.2.5", "/forum.php", newVBulletin},
	{economyWordPress, "WordPress", "6.4.3", "/", newWordPress},
	{economyMediaWiki, "MediaWiki", "1.39.6", "/wiki/Main_Page", newMediaWiki},
}

// Sites makes the sites of the economy world without serving them; their URLs have no port. Each has so
// many terminal objects.
func Sites(o webworld.Options, objects int) ([]*Site, error) {
	o = o.WithDefaults()
	b, err := webworld.NewBuilder(o, o.Port, planEconomy(o).Sites)
	if err != nil {
		return nil, fmt.Errorf("build economy world: %w", err)
	}
	if o.Port == 0 {
		for _, s := range b.Hosts {
			s.Base = "http://" + s.Host
		}
	}
	sites := makeSites(b, objects)
	return sites, b.Err
}

// New is a world that serves Sites on loopback addresses. Its Pages are those that objects belong to.
func New(o webworld.Options, objects int) *webworld.World {
	o = o.WithDefaults()
	return webworld.New(o, planEconomy(o).Sites, func(b *webworld.Builder) {
		sites := makeSites(b, objects)
		for _, e := range sites {
			e.site.SetRobots(webworld.Rules{}, "")
			e.site.Dynamic = e.resource
			b.Seeds = append(b.Seeds, e.Seed)
		}
		b.Truth = func() []webworld.Page {
			var pages []webworld.Page
			for _, e := range sites {
				pages = append(pages, e.pages()...)
			}
			return pages
		}
	})
}

func planEconomy(o webworld.Options) *webworld.Planner {
	p := &webworld.Planner{Next: cmp.Or(o.FirstIP, netip.AddrFrom4([4]byte{127, 77, 0, 1}))}
	for _, e := range economyPlan {
		p.Add(e.host, "economy")
	}
	return p
}

func makeSites(b *webworld.Builder, objects int) []*Site {
	views, err := template.ParseFS(markupFiles, "markup/*.html")
	if err != nil {
		b.Err = err
		return nil
	}
	var sites []*Site
	for _, p := range economyPlan {
		s := b.ByName[p.host]
		e := &Site{Host: p.host, Application: p.name, Release: p.release, Seed: s.Base + p.front, site: s, seed: b.Random(s, "sessions").Uint64(), views: views}
		e.app, e.objects = p.make(b, s, cmp.Or(objects, Objects))
		sites = append(sites, e)
	}
	return sites
}

// Objects lists all terminal objects of the site.
func (e *Site) Objects() []Object { return slices.Clone(e.objects) }

// Answer is the response to a GET request for a URL of the site.
func (e *Site) Answer(rawURL string) Page {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Page{Status: http.StatusBadRequest, Kind: "missing"}
	}
	res, objects := e.respond(u)
	return Page{Status: res.Status, Header: res.Header, Body: webworld.Join(res.Body), Kind: res.Kind, Objects: objects}
}

// ServeHTTP serves the site.
func (e *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res, _ := e.respond(r.URL)
	e.site.SetHeader(w.Header(), res)
	w.WriteHeader(res.Status)
	_, _ = w.Write(webworld.Join(res.Body)) // a client that has left is no fault of the server
}

func (e *Site) resource(u *url.URL) *webworld.Resource {
	res, _ := e.respond(u)
	return res
}

// respond makes the response, with the objects that stand in it.
func (e *Site) respond(u *url.URL) (*webworld.Resource, []string) {
	if u.Path == "" {
		u = u.JoinPath("/")
	}
	res := e.site.Missing(u.RequestURI())
	r := e.app.answer(u, session{e.seed, e.served.Add(1)})
	if r == nil {
		return res, nil
	}
	res.Kind, res.Status = r.kind, cmp.Or(r.status, http.StatusOK)
	if r.location != "" {
		res.Status, res.Location = http.StatusMovedPermanently, r.location
		res.Header.Set("Location", r.location)
		return res, nil
	}
	if r.mime != "" {
		res.Header.Set("Content-Type", r.mime)
	}
	var body bytes.Buffer
	if strings.Contains(r.mime, "xml") {
		body.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n") // templates would escape it
	}
	if err := e.views.ExecuteTemplate(&body, r.view, r.data); err != nil {
		res.Status, res.Kind, res.Body = http.StatusInternalServerError, "broken", [][]byte{[]byte(err.Error())}
		return res, nil
	}
	res.Body = [][]byte{body.Bytes()}
	return res, r.objects
}

// pages are those that objects belong to, for the truth of a world.
func (e *Site) pages() []webworld.Page {
	seen := map[string]bool{}
	var list []webworld.Page
	for _, o := range e.objects {
		if !seen[o.URL] {
			seen[o.URL] = true
			list = append(list, webworld.Page{URL: o.URL, Host: e.Host, Kind: o.Kind, Relevant: true, Allowed: true, Status: http.StatusOK})
		}
	}
	slices.SortFunc(list, webworld.ByURL)
	return list
}

// arguments are the parameters of a query, separated by "&" or ";"; what has no value has an empty one.
type arguments map[string]string

func argumentsOf(query string) arguments {
	args := arguments{}
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		if v, err := url.QueryUnescape(value); err == nil {
			args[name] = v
		}
	}
	return args
}

// has reports whether a parameter is there, with or without a value.
func (a arguments) has(name string) bool {
	_, ok := a[name]
	return ok
}

// href is a reference that only needs the escaping of an attribute.
func href(format string, args ...any) template.URL { return template.URL(fmt.Sprintf(format, args...)) }

package webworld

import "net/http"

// The hosts of the demo world. The forum and the wiki are hosts of one pay-level domain with one IP; the
// mirror and the archive share only their IP.
const (
	blogHost     = "blog.ravens.example"
	forumHost    = "forum.example.org"
	wikiHost     = "wiki.example.org"
	newsHost     = "news.saga.example"
	kitchenHost  = "kitchen.example"
	calendarHost = "calendar.example"
	archiveHost  = "archive.nornir.test"
	mirrorHost   = "mirror.ravens.test"
	runesHost    = "runes.test"
	busyHost     = "busy.example"
	sleepyHost   = "sleepy.example"
	closedHost   = "closed.example"
)

// NewDemo is the world of the demo: sites about ravens and Norse myth, and other sites, linked to each other,
// with the usual faults of the web.
func NewDemo(o Options) *World {
	o = o.WithDefaults()
	p := &Planner{Next: o.FirstIP}
	p.Add(blogHost, "blog")
	p.Add(forumHost, "forum")
	p.AddOn(forumHost, wikiHost, "wiki")
	p.Add(newsHost, "news")
	p.Add(kitchenHost, "offtopic")
	p.Add(calendarHost, "trap")
	p.Add(archiveHost, "forbidden")
	p.AddOn(archiveHost, mirrorHost, "mirror")
	p.Add(runesHost, "oddity")
	p.Add(busyHost, "oddity")
	p.Add(sleepyHost, "oddity")
	p.Add(closedHost, "forbidden")
	return New(o, p.Sites, buildDemo)
}

// buildDemo plans all large sites before it writes any of them, because they link to each other.
func buildDemo(b *Builder) {
	b.Topic = []string{
		"raven", "ravens", "corvid", "corvids", "crow", "rook", "jackdaw", "magpie", "corvus corax", "roost",
		"Huginn", "Muninn", "Odin", "Norse", "Edda", "saga", "runes", "Valhalla", "Yggdrasil", "valkyrie",
	}
	blog := planBlog(b, b.ByName[blogHost])
	forum := planForum(b, b.ByName[forumHost])
	wiki := planWiki(b, b.ByName[wikiHost])
	news := planNews(b, b.ByName[newsHost])
	kitchen := planKitchen(b, b.ByName[kitchenHost])
	trap := planTrap(b, b.ByName[calendarHost])

	root := func(host, name string) Term { return Term{Name: name, URL: b.ByName[host].Base + "/"} }
	blog.generate([]Term{
		root(forumHost, "The Rookery, a raven forum"), root(wikiHost, "Corvipedia"), root(runesHost, "Rune oddities"),
		root(archiveHost, "The archive of the Norns"), root(busyHost, "The busy roost"), root(sleepyHost, "The sleepy rookery"),
		root(mirrorHost, "Raven Ledger mirror"), root(closedHost, "The closed nest"), root(kitchenHost, "Kitchen Notes"),
		root(calendarHost, "Raven walks: calendar"),
	})
	forum.generate()
	wiki.generate()
	news.generate()
	kitchen.generate(b.ByName[calendarHost].Base + "/")
	trap.generate()
	writeMirror(b, b.ByName[mirrorHost], blog)
	writeArchive(b, b.ByName[archiveHost])
	writeBusy(b, b.ByName[busyHost])
	writeSleepy(b, b.ByName[sleepyHost])
	writeClosed(b, b.ByName[closedHost])
	writeRunes(b, b.ByName[runesHost])

	b.Seeds = []string{b.ByName[blogHost].Base + "/", b.ByName[wikiHost].Base + "/wiki/Main_Page", b.ByName[newsHost].Base + "/"}
	b.Finish()
}

// writeMirror copies posts of the blog byte for byte, and adds a page that has two URLs.
func writeMirror(b *Builder, s *Host, of *blog) {
	s.SetRobots(Rules{}, "")
	v := PlainView{Title: "Mirror of The Raven Ledger", Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), Ravens, 1)}
	for _, e := range of.plan[:6] {
		original := of.s.Find(MustParse(e.URL))
		s.alias("/copy"+e.Path, original)
		v.Links = append(v.Links, Entry{Title: e.Title, URL: "copy" + e.Path})
	}
	v.Links = append(v.Links, Entry{Title: "Huginn and Muninn, first copy", URL: "one.html"}, Entry{Title: "Huginn and Muninn, second copy", URL: "two.html"})
	s.AddHTML("/", "list", true, b.Render("plain", v))
	one := PlainView{Title: "Huginn and Muninn", Paragraphs: b.Text.Paragraphs(b.Random(s, "one"), Norse, 4)}
	s.alias("/two.html", s.AddHTML("/one.html", "page", true, b.Render("plain", one)))
}

// writeArchive is the site that forbids a part of itself, with a delay between visits.
func writeArchive(b *Builder, s *Host) {
	s.SetRobots(Rules{Delay: archiveDelay, Lines: []Rule{
		Disallow("/private/"), Allow("/private/open-"), Disallow("/*.pdf$"), Disallow("/search"), Allow("/search/help"),
	}}, "")
	titles := map[string]string{}
	for _, path := range []string{
		"/public/threads.html", "/public/well.html", "/private/fates.html", "/private/open-letter.html", "/private/ravens.html",
		"/scan.pdf", "/scan.pdf?page=2", "/search?q=raven", "/search/help.html",
	} {
		r := b.Random(s, "%s", path)
		titles[path] = b.Text.Title(r, Norse)
		body := b.Render("plain", PlainView{Title: titles[path], Paragraphs: b.Text.Paragraphs(r, Norse, 3), Links: []Entry{{Title: "Back to the Norns", URL: "/"}}})
		s.AddHTML(path, "page", true, body)
	}
	front := PlainView{Title: "The archive of the Norns", Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), Norse, 2)}
	for _, path := range s.Paths {
		front.Links = append(front.Links, Entry{Title: titles[path], URL: path})
	}
	s.AddHTML("/", "list", true, b.Render("plain", front))
}

// writeBusy answers the third page request with 429, once.
func writeBusy(b *Builder, s *Host) {
	writeSeries(b, s, Ravens, 4)
	s.hiccup = hiccup(3, http.StatusTooManyRequests, "2")
}

// writeSleepy answers the second page request with 503, once.
func writeSleepy(b *Builder, s *Host) {
	writeSeries(b, s, Norse, 3)
	s.hiccup = hiccup(2, http.StatusServiceUnavailable, "1")
}

// hiccup answers the given page request with a status and Retry-After, in seconds, and leaves the others alone.
func hiccup(at, status int, retryAfter string) func(int) (*Resource, bool) {
	res := &Resource{
		Page:   Page{Status: status},
		Header: http.Header{"Content-Type": {"text/plain"}, "Retry-After": {retryAfter}},
		Body:   [][]byte{[]byte("Later, please.\n")},
	}
	return func(nth int) (*Resource, bool) { return res, nth == at }
}

// writeClosed is a site whose robots.txt fails, so that nothing of it may be fetched.
func writeClosed(b *Builder, s *Host) {
	s.Rules = Rules{Closed: true}
	writePages(b, s, Ravens, 1)
	s.AddRobots("/robots.txt", &Resource{Page: Page{Status: http.StatusInternalServerError}, Body: [][]byte{[]byte("broken\n")}})
}

func writeSeries(b *Builder, s *Host, about Subject, n int) {
	s.SetRobots(Rules{}, "")
	writePages(b, s, about, n)
}

// writePages is a front page and n pages, each linking to all.
func writePages(b *Builder, s *Host, about Subject, n int) {
	var links []Entry
	var views []PlainView
	for i := range n {
		r := b.Random(s, "page %d", i)
		title := b.Text.Title(r, about)
		links = append(links, Entry{Title: title, URL: "/" + Slug(title) + ".html"})
		views = append(views, PlainView{Title: title, Paragraphs: b.Text.Paragraphs(r, about, 3)})
	}
	front := PlainView{Title: b.Text.Title(b.Random(s, "front"), about), Paragraphs: b.Text.Paragraphs(b.Random(s, "front text"), about, 2), Links: links}
	s.AddHTML("/", "list", about.Relevant(), b.Render("plain", front))
	for i, v := range views {
		v.Links = append(links[:i:i], links[i+1:]...)
		s.AddHTML(links[i].URL, "page", about.Relevant(), b.Render("plain", v))
	}
}

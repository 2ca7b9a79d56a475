package webworld

import "net/http"

// The hosts of the demo world. The forum and the wiki are hosts of one pay-level domain on one IP; the
// mirror and the archive have nothing in common but their IP.
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

// NewDemo is the world of the demo: sites about ravens and Norse myth among others, linked to each other,
// with the everyday troubles of the web.
func NewDemo(o Options) *World {
	o = o.withDefaults()
	p := &planner{next: o.FirstIP}
	p.add(blogHost, "blog")
	p.add(forumHost, "forum")
	p.addOn(forumHost, wikiHost, "wiki")
	p.add(newsHost, "news")
	p.add(kitchenHost, "offtopic")
	p.add(calendarHost, "trap")
	p.add(archiveHost, "forbidden")
	p.addOn(archiveHost, mirrorHost, "mirror")
	p.add(runesHost, "oddity")
	p.add(busyHost, "oddity")
	p.add(sleepyHost, "oddity")
	p.add(closedHost, "forbidden")
	return newWorld(o, p.sites, buildDemo)
}

// buildDemo plans all large sites before it writes any, for they link to each other.
func buildDemo(b *builder) {
	b.topic = []string{
		"raven", "ravens", "corvid", "corvids", "crow", "rook", "jackdaw", "magpie", "corvus corax", "roost",
		"Huginn", "Muninn", "Odin", "Norse", "Edda", "saga", "runes", "Valhalla", "Yggdrasil", "valkyrie",
	}
	blog := planBlog(b, b.sites[blogHost])
	forum := planForum(b, b.sites[forumHost])
	wiki := planWiki(b, b.sites[wikiHost])
	news := planNews(b, b.sites[newsHost])
	kitchen := planKitchen(b, b.sites[kitchenHost])
	trap := planTrap(b, b.sites[calendarHost])

	root := func(host, name string) term { return term{Name: name, URL: b.sites[host].base + "/"} }
	blog.write([]term{
		root(forumHost, "The Rookery, a raven forum"), root(wikiHost, "Corvipedia"), root(runesHost, "Rune oddities"),
		root(archiveHost, "The archive of the Norns"), root(busyHost, "The busy roost"), root(sleepyHost, "The sleepy rookery"),
		root(mirrorHost, "Raven Ledger mirror"), root(closedHost, "The closed nest"), root(kitchenHost, "Kitchen Notes"),
		root(calendarHost, "Raven walks: calendar"),
	})
	forum.write()
	wiki.write()
	news.write()
	kitchen.write(b.sites[calendarHost].base + "/")
	trap.write()
	writeMirror(b, b.sites[mirrorHost], blog)
	writeArchive(b, b.sites[archiveHost])
	writeBusy(b, b.sites[busyHost])
	writeSleepy(b, b.sites[sleepyHost])
	writeClosed(b, b.sites[closedHost])
	writeRunes(b, b.sites[runesHost])

	b.seeds = []string{b.sites[blogHost].base + "/", b.sites[wikiHost].base + "/wiki/Main_Page", b.sites[newsHost].base + "/"}
	b.finish()
}

// writeMirror copies posts of the blog byte by byte, and has one body of its own under two URLs.
func writeMirror(b *builder, s *site, of *blog) {
	s.setRobots(rules{}, "")
	v := plainView{Title: "Mirror of The Raven Ledger", Paragraphs: b.lib.paragraphs(b.random(s, "front"), ravens, 1)}
	for _, e := range of.plan[:6] {
		original := of.s.find(mustParse(e.URL))
		s.alias("/copy"+e.Path, original)
		v.Links = append(v.Links, entry{Title: e.Title, URL: "copy" + e.Path})
	}
	v.Links = append(v.Links, entry{Title: "Huginn and Muninn, first copy", URL: "one.html"}, entry{Title: "Huginn and Muninn, second copy", URL: "two.html"})
	s.addHTML("/", "list", true, b.render("plain", v))
	one := plainView{Title: "Huginn and Muninn", Paragraphs: b.lib.paragraphs(b.random(s, "one"), norse, 4)}
	s.alias("/two.html", s.addHTML("/one.html", "page", true, b.render("plain", one)))
}

// writeArchive is the site that forbids a part of itself, with a delay between visits.
func writeArchive(b *builder, s *site) {
	s.setRobots(rules{delay: archiveDelay, lines: []rule{
		disallow("/private/"), allow("/private/open-"), disallow("/*.pdf$"), disallow("/search"), allow("/search/help"),
	}}, "")
	titles := map[string]string{}
	for _, path := range []string{
		"/public/threads.html", "/public/well.html", "/private/fates.html", "/private/open-letter.html", "/private/ravens.html",
		"/scan.pdf", "/scan.pdf?page=2", "/search?q=raven", "/search/help.html",
	} {
		r := b.random(s, "%s", path)
		titles[path] = b.lib.title(r, norse)
		body := b.render("plain", plainView{Title: titles[path], Paragraphs: b.lib.paragraphs(r, norse, 3), Links: []entry{{Title: "Back to the Norns", URL: "/"}}})
		s.addHTML(path, "page", true, body)
	}
	front := plainView{Title: "The archive of the Norns", Paragraphs: b.lib.paragraphs(b.random(s, "front"), norse, 2)}
	for _, path := range s.paths {
		front.Links = append(front.Links, entry{Title: titles[path], URL: path})
	}
	s.addHTML("/", "list", true, b.render("plain", front))
}

// writeBusy answers the third page request with 429, once.
func writeBusy(b *builder, s *site) {
	writeSeries(b, s, ravens, 4)
	s.hiccup = hiccup(3, http.StatusTooManyRequests, "2")
}

// writeSleepy answers the second page request with 503, once.
func writeSleepy(b *builder, s *site) {
	writeSeries(b, s, norse, 3)
	s.hiccup = hiccup(2, http.StatusServiceUnavailable, "1")
}

// hiccup answers the given page request with a status and Retry-After, in seconds, and leaves the others alone.
func hiccup(at, status int, retryAfter string) func(int) (*resource, bool) {
	res := &resource{
		Page:   Page{Status: status},
		header: http.Header{"Content-Type": {"text/plain"}, "Retry-After": {retryAfter}},
		body:   [][]byte{[]byte("Later, please.\n")},
	}
	return func(nth int) (*resource, bool) { return res, nth == at }
}

// writeClosed is a site whose robots.txt fails, so that nothing of it may be fetched.
func writeClosed(b *builder, s *site) {
	s.rules = rules{closed: true}
	writePages(b, s, ravens, 1)
	s.addRobots("/robots.txt", &resource{Page: Page{Status: http.StatusInternalServerError}, body: [][]byte{[]byte("broken\n")}})
}

func writeSeries(b *builder, s *site, about subject, n int) {
	s.setRobots(rules{}, "")
	writePages(b, s, about, n)
}

// writePages is a front page and n pages, each linking to all.
func writePages(b *builder, s *site, about subject, n int) {
	var links []entry
	var views []plainView
	for i := range n {
		r := b.random(s, "page %d", i)
		title := b.lib.title(r, about)
		links = append(links, entry{Title: title, URL: "/" + slug(title) + ".html"})
		views = append(views, plainView{Title: title, Paragraphs: b.lib.paragraphs(r, about, 3)})
	}
	front := plainView{Title: b.lib.title(b.random(s, "front"), about), Paragraphs: b.lib.paragraphs(b.random(s, "front text"), about, 2), Links: links}
	s.addHTML("/", "list", about.relevant(), b.render("plain", front))
	for i, v := range views {
		v.Links = append(links[:i:i], links[i+1:]...)
		s.addHTML(links[i].URL, "page", about.relevant(), b.render("plain", v))
	}
}

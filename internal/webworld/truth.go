package webworld

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Link is a reference from a page, resolved.
type Link struct {
	URL      *url.URL
	Embed    bool
	NoFollow bool
}

// walk follows all links from the seeds, except from disallowed pages and into traps, and lists the pages that
// it meets. It reads the bodies in memory, not over the network.
func (b *Builder) walk() []Page {
	found := map[string]*Page{}
	queue := make([]*Page, 0, len(b.Seeds))
	meet := func(l Link, depth int, nofollow bool) {
		p := b.listed(l.URL)
		if p == nil {
			return
		}
		known, again := found[p.URL]
		if again && (!known.NoFollow || nofollow) {
			return
		}
		if again { // met again without nofollow: all that follows from it is, too
			known.NoFollow = false
			queue = append(queue, known)
			return
		}
		p.Depth, p.NoFollow, p.Embed = depth, nofollow, l.Embed
		found[p.URL] = p
		queue = append(queue, p)
	}
	for _, s := range b.Seeds {
		meet(Link{URL: MustParse(s)}, 0, false)
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if !p.Allowed || p.Endless {
			continue
		}
		for _, l := range b.linksOf(p) {
			meet(l, p.Depth+1, p.NoFollow || l.NoFollow)
		}
	}
	pages := make([]Page, 0, len(found))
	for _, p := range found {
		pages = append(pages, *p)
	}
	slices.SortFunc(pages, ByURL)
	return pages
}

// listed finds the page at u; nil if it is outside the world or inside a trap.
func (b *Builder) listed(u *url.URL) *Page {
	p, ok := lookup(b.ByName, u)
	if !ok || p.Kind == "robots" || p.Kind == "trap" && !p.Endless {
		return nil
	}
	return &p
}

// lookup finds the page at u, which may be the host's 404; it is false outside the world.
func lookup(sites map[string]*Host, u *url.URL) (Page, bool) {
	s := sites[strings.ToLower(u.Hostname())]
	if s == nil || s.Base != u.Scheme+"://"+strings.ToLower(u.Host) {
		return Page{}, false
	}
	if res := s.Find(u); res != nil {
		return res.Page, true
	}
	return s.Missing(u.RequestURI()).Page, true
}

// linksOf are the links of a page's body and its redirect.
func (b *Builder) linksOf(p *Page) []Link {
	u := MustParse(p.URL)
	res := b.ByName[p.Host].Find(u)
	if res == nil {
		return nil
	}
	if p.Location != "" {
		return []Link{{URL: MustParse(p.Location), Embed: p.Embed}}
	}
	if res.Raw != nil || p.Status != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	body := Join(res.Body)
	links := Links(u, body)
	if !bytes.Contains(body, []byte(`rel="icon"`)) { // HTML §4.6.7.10
		if icon := MustParse(b.ByName[p.Host].Base + "/favicon.ico"); b.ByName[p.Host].Find(icon) != nil {
			links = append(links, Link{URL: icon, Embed: true})
		}
	}
	return links
}

// Links finds the links of a page as a browser or a thorough crawler would.
func Links(base *url.URL, body []byte) []Link {
	var links []Link
	add := func(ref string, embed, nofollow bool) {
		u, err := base.Parse(strings.TrimSpace(ref))
		if err != nil || ref == "" || u.Scheme != "http" {
			return
		}
		u.Fragment = ""
		links = append(links, Link{u, embed, nofollow})
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return links
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data == "base" {
				if u, err := base.Parse(attr(t, "href")); err == nil {
					base = u
				}
				continue
			}
			elementLinks(t, add)
		}
	}
}

func elementLinks(t html.Token, add func(ref string, embed, nofollow bool)) {
	switch t.Data {
	case "a", "area":
		add(attr(t, "href"), false, strings.Contains(attr(t, "rel"), "nofollow"))
	case "frame", "iframe":
		add(attr(t, "src"), false, false)
	case "img", "script", "source":
		add(attr(t, "src"), true, false)
		for candidate := range strings.SplitSeq(attr(t, "srcset"), ",") {
			if f := strings.Fields(candidate); len(f) > 0 {
				add(f[0], true, false)
			}
		}
	case "link":
		rel := attr(t, "rel")
		add(attr(t, "href"), strings.Contains(rel, "stylesheet") || strings.Contains(rel, "icon"), false)
	case "meta":
		if strings.EqualFold(attr(t, "http-equiv"), "refresh") {
			if _, ref, ok := strings.Cut(attr(t, "content"), "url="); ok {
				add(strings.Trim(ref, `'"`), false, false)
			}
		}
	}
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

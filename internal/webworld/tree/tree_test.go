package tree

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

var embeds = regexp.MustCompile(`(?:href='|src='|url\('?|@import ')([^')]+)`)

// Each page but the seeds is linked from one page, of its own group; all can be reached by allowed pages.
func TestTree(t *testing.T) {
	t.Parallel()
	w := New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.40.1")}, 20, 60)
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	groups := map[string]int{}
	for h, s := range w.Sites() {
		groups[s.Host] = Group(h)
	}
	linked, embedded, foreign, disallowed, requisites := map[string]int{}, map[string]bool{}, 0, 0, 0
	for _, p := range w.Pages() {
		if !p.Allowed {
			disallowed++
			continue
		}
		if p.Embed {
			requisites++
		}
		_, _, body, found := w.Answer(p.URL)
		if !found {
			t.Fatalf("%s is not found", p.URL)
		}
		if p.Location != "" {
			embedded[p.Location] = true
			continue
		}
		for _, part := range strings.Split(string(body), `href="`)[1:] {
			url, _, _ := strings.Cut(part, `"`)
			if url == "data:," { // the page has no icon
				continue
			}
			to, known := w.PageOf(url)
			if !known {
				t.Fatalf("%s links to %s", p.URL, url)
			}
			linked[url]++
			if groups[to.Host] != groups[p.Host] {
				t.Errorf("%s links to %s of another group", p.URL, url)
			}
			if to.Host != p.Host {
				foreign++
			}
		}
		for _, url := range embeds.FindAllStringSubmatch(string(body), -1) {
			to, known := w.PageOf(webworld.MustParse(p.URL).ResolveReference(webworld.MustParse(url[1])).String())
			if !known || !to.Embed || groups[to.Host] != groups[p.Host] {
				t.Errorf("%s embeds %s: %+v", p.URL, url[1], to)
			}
			embedded[to.URL] = true
		}
	}
	for _, seed := range w.Seeds() {
		linked[seed]++
	}
	for _, p := range w.Pages() {
		if p.Embed != embedded[p.URL] {
			t.Errorf("%s: a requisite: %v, embedded: %v", p.URL, p.Embed, embedded[p.URL])
		}
		if !p.Embed && linked[p.URL] != 1 {
			t.Errorf("%s is linked %d times", p.URL, linked[p.URL])
		}
	}
	if foreign < 300 || disallowed < 50 || len(w.Pages())-disallowed-requisites != 18*60+2*12 || requisites != 20*5+Groups+18*(8+4)+2*(2+1) {
		t.Errorf("%d pages, %d of them disallowed, %d requisites, %d links to other hosts", len(w.Pages()), disallowed, requisites, foreign)
	}
}

// It answers as its truth says.
func TestTreeAnswers(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.41.1")}, 7, 5))
	c := worldtest.Client(w)
	for _, p := range w.Pages() {
		if !p.Allowed {
			continue
		}
		if a := worldtest.Get(t, c, p.URL); a.Status != p.Status {
			t.Errorf("%s: status %d", p.URL, a.Status)
		}
	}
}

// TestLeavesAndUnlinked: no page leads to an unlinked one, which is served, may be asked for and needs nothing that no other page needs; leaves lead to nothing but that.
func TestLeavesAndUnlinked(t *testing.T) {
	t.Parallel()
	const pages = 60
	w := New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.41.1")}, 20, pages)
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	common := map[string]bool{"data:,": true} // the icon of the template
	for _, p := range w.Pages() {
		common[p.URL] = strings.Contains(p.URL, "/look/")
	}
	leads := func(url string) (list []string) {
		_, _, body, found := w.Answer(url)
		if !found {
			t.Fatalf("%s is not found", url)
		}
		for _, part := range regexp.MustCompile(`(?:href|src)=["']([^"']+)`).FindAllStringSubmatch(string(body), -1) {
			to := webworld.MustParse(url).ResolveReference(webworld.MustParse(part[1])).String()
			if !common[to] {
				list = append(list, to)
			}
		}
		return list
	}
	hidden := map[string]bool{}
	for _, s := range w.Sites() {
		leaves := Leaves(w, s.Host, pages)
		for _, url := range leaves {
			if to := leads(url); len(to) > 0 {
				t.Errorf("the leaf %s leads to %v", url, to)
			}
		}
		for _, url := range Unlinked(w, s.Host) {
			hidden[url] = true
			if p, known := w.PageOf(url); !known || !p.Allowed || p.Status != 200 || len(leads(url)) > 0 {
				t.Errorf("%s: %+v, leads to %v", url, p, leads(url))
			}
		}
		if few := len(leaves) == 0; few && len(w.Host(s.Host).Paths) > pages {
			t.Errorf("%s has no leaf", s.Host)
		}
	}
	for _, p := range w.Pages() {
		if hidden[p.URL] {
			t.Errorf("%s is among the pages", p.URL)
		}
		if p.Embed || !p.Allowed || p.Location != "" {
			continue
		}
		for _, to := range leads(p.URL) {
			if hidden[to] {
				t.Errorf("%s leads to %s", p.URL, to)
			}
		}
	}
}

package economy

import (
	"bytes"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
)

func economySites(t *testing.T, seed uint64, objects int) []*Site {
	t.Helper()
	sites, err := Sites(webworld.Options{Seed: seed}, objects)
	if err != nil {
		t.Fatal(err)
	}
	return sites
}

var sessionID = regexp.MustCompile(`(sid|PHPSESSID)=[0-9a-z]+&?`)

// stroll visits so many pages of a site, breadth-first, without the session IDs in links; it does not follow links of
// pages with nofollow.
func stroll(e *Site, most int, visit func(u string, p Page)) {
	seen := map[string]bool{}
	queue := []string{e.Seed}
	for at := 0; at < len(queue) && at < most; at++ {
		p := e.Answer(queue[at])
		visit(queue[at], p)
		if bytes.Contains(p.Body, []byte(`content="noindex,nofollow`)) {
			continue
		}
		base := webworld.MustParse(queue[at])
		links := webworld.Links(base, p.Body)
		if to := p.Header.Get("Location"); to != "" {
			links = append(links, webworld.Link{URL: webworld.MustParse(to)})
		}
		for _, l := range links {
			u := strings.TrimRight(sessionID.ReplaceAllString(l.URL.String(), ""), "?&")
			if l.URL.Host == base.Host && !l.Embed && !strings.HasSuffix(u, ".ico") && !seen[u] {
				seen[u] = true
				queue = append(queue, u)
			}
		}
	}
}

// TestEconomyLinksAnswer: all targets of links exist, and pages contain the objects that they list.
func TestEconomyLinksAnswer(t *testing.T) {
	for _, e := range economySites(t, 1, 25) {
		objects := map[string]Object{}
		for _, o := range e.Objects() {
			if objects[o.ID].ID != "" || o.Text == "" || o.Kind == "" {
				t.Errorf("%s: object %+v", e.Application, o)
			}
			objects[o.ID] = o
		}
		if len(objects) != 25 {
			t.Errorf("%s has %d objects", e.Application, len(objects))
		}
		kinds, met := map[string]int{}, map[string]bool{}
		stroll(e, 600, func(u string, p Page) {
			kinds[p.Kind]++
			answered := p.Status == http.StatusOK && len(p.Body) > 0 || p.Status == http.StatusMovedPermanently
			if !answered && p.Kind != "unwritten" { // a wiki links to pages that nobody has written
				t.Errorf("%s: %s is %d", e.Application, u, p.Status)
			}
			text := plainText(p.Body)
			for _, id := range p.Objects {
				met[id] = true
				for part := range strings.SplitSeq(objects[id].Text, "\n") {
					if !strings.Contains(text, part) {
						t.Errorf("%s: %s does not hold %q of %s", e.Application, u, part, id)
					}
				}
			}
		})
		if len(met) != len(objects) {
			t.Errorf("%s: %d of %d objects met", e.Application, len(met), len(objects))
		}
		t.Log(e.Application, kinds)
	}
}

var markup = regexp.MustCompile(`<[^>]*>`)

// plainText is the text of a page, without markup.
func plainText(body []byte) string {
	text := markup.ReplaceAllString(string(body), " ")
	return html.UnescapeString(html.UnescapeString(text))
}

func TestEconomyIsTheSameForTheSameSeed(t *testing.T) {
	record := func(seed uint64) (all []string) {
		for _, e := range economySites(t, seed, 30) {
			stroll(e, 30, func(u string, p Page) { all = append(all, u, string(p.Body)) })
		}
		return all
	}
	if one := record(7); !slices.Equal(one, record(7)) || slices.Equal(one, record(8)) {
		t.Error("another world for the same seed, or the same for another")
	}
}

// TestEconomyObjectsStandOnTheirPages: the page of an object contains it, on the first page or a later one.
func TestEconomyObjectsStandOnTheirPages(t *testing.T) {
	for _, e := range economySites(t, 2, 80) {
		first := 0
		for _, o := range e.Objects() {
			p := e.Answer(o.URL)
			if p.Status != http.StatusOK {
				t.Fatalf("%s is %d", o.URL, p.Status)
			}
			if slices.Contains(p.Objects, o.ID) {
				first++
			}
		}
		if first*2 < len(e.Objects()) {
			t.Errorf("%s: only %d objects stand on the page that they belong to", e.Application, first)
		}
	}
}

// TestEconomySessions: if links contain sessions, each response has another one.
func TestEconomySessions(t *testing.T) {
	for _, e := range economySites(t, 1, 30) {
		find := func() string { return sessionID.FindString(string(e.Answer(e.Seed).Body)) }
		a, b := find(), find()
		if with := e.Application == "phpBB" || e.Application == "SMF"; with != (a != b) || with != (a != "") {
			t.Errorf("%s: %q, %q", e.Application, a, b)
		}
	}
}

func TestEconomyServes(t *testing.T) {
	e := economySites(t, 1, 30)[0]
	server := httptest.NewServer(e)
	defer server.Close()
	for path, want := range map[string]int{"/index.php": 200, "/nothing.php": 404, "/viewtopic.php?t=999999": 404} {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s is %d", path, resp.StatusCode)
		}
	}
	if p := e.Answer("http://%zz"); p.Status != http.StatusBadRequest {
		t.Errorf("no URL is %d", p.Status)
	}
}

func TestEconomyWorld(t *testing.T) {
	w := New(webworld.Options{Seed: 1}, 30)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if len(w.Seeds()) != len(economyPlan) || len(w.Pages()) == 0 {
		t.Fatalf("seeds %v, %d pages", w.Seeds(), len(w.Pages()))
	}
	for _, p := range w.Pages() {
		if found, ok := w.PageOf(p.URL); !ok || found.Status != http.StatusOK {
			t.Errorf("%s: %+v", p.URL, found)
		}
	}
	u, err := url.Parse(w.Seeds()[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(u.Host, ":"+u.Port()) || u.Port() == "" {
		t.Errorf("seed %s", u)
	}
}

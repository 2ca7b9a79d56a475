package webworld

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// TestDemoPagesAnswerAsPromised: each page answers as its ground truth says.
func TestDemoPagesAnswerAsPromised(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.1.1")}))
	c := worldtest.Client(w)
	bodies := map[string][]byte{}
	reachable, relevant, kinds := 0, 0, map[string]int{}
	for _, p := range w.Pages() {
		a := worldtest.Get(t, c, p.URL)
		if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
			if a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: status %d without Retry-After", p.URL, a.Status)
			}
			a = worldtest.Get(t, c, p.URL)
		}
		if a.Status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.Status, p.Status)
		}
		if (p.Location != "") != (a.Status >= 300 && a.Status < 400) {
			t.Errorf("%s: status %d with location %q", p.URL, a.Status, p.Location)
		}
		if a.Status == 200 && len(a.Body) == 0 {
			t.Errorf("%s: empty", p.URL)
		}
		if bytes.Contains(a.Body, []byte("?}")) || bytes.Contains(a.Body, []byte("ZgotmplZ")) {
			t.Errorf("%s: a slot or a link was not filled in", p.URL)
		}
		bodies[p.URL] = a.Body
		if p.Allowed && !p.Embed && !p.Endless {
			reachable++
			kinds[p.Kind]++
			if p.Relevant {
				relevant++
			}
		}
	}
	for _, p := range w.Pages() {
		if p.SameAs != "" && bodies[p.SameAs] != nil && !bytes.Equal(bodies[p.URL], bodies[p.SameAs]) {
			t.Errorf("%s differs from %s", p.URL, p.SameAs)
		}
	}
	t.Logf("%d pages reachable, %d relevant; %v", reachable, relevant, kinds)
	if reachable < 200 || reachable > 310 {
		t.Errorf("%d reachable pages, want about 250", reachable)
	}
	if share := float64(relevant) / float64(reachable); share < 0.35 || share > 0.45 {
		t.Errorf("%.0f %% relevant, want about 40 %%", 100*share)
	}
}

// The only links out of the world are to one host that does not exist.
func TestDemoLinksResolve(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.2.1")}))
	c := worldtest.Client(w)
	missing := map[string]bool{}
	for _, p := range w.Pages() {
		if p.Status == http.StatusNotFound {
			missing[p.URL] = true
		}
		if p.Status != 200 || p.Embed {
			continue
		}
		for _, l := range Links(MustParse(p.URL), worldtest.Get(t, c, p.URL).Body) {
			if to, ok := w.PageOf(l.URL.String()); !ok && l.URL.Hostname() != "www.phpbb.example" {
				t.Errorf("%s links to %s, outside the world", p.URL, l.URL)
			} else if ok && to.Status == 404 && to.Host != runesHost {
				t.Errorf("%s links to %s, which is missing", p.URL, l.URL)
			}
		}
	}
	if len(missing) == 0 {
		t.Error("no 404 in the world")
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	t.Parallel()
	dump := func(ip string, seed uint64) map[string]string {
		w := worldtest.Start(t, NewDemo(Options{Seed: seed, FirstIP: netip.MustParseAddr(ip)}))
		all := map[string]string{}
		port := fmt.Sprintf(":%d", w.Port())
		for _, s := range w.sites {
			for _, res := range s.Resources {
				plain := strings.ReplaceAll(string(Join(res.Body)), port, "")
				plain = strings.ReplaceAll(plain, "%3a"+port[1:], "")
				all[strings.ReplaceAll(res.URL, port, "")] = plain
			}
		}
		return all
	}
	one, same, other := dump("127.78.3.1", 7), dump("127.78.3.101", 7), dump("127.78.3.201", 8)
	if len(one) != len(same) {
		t.Errorf("%d and %d resources under one seed", len(one), len(same))
	}
	changed := 0
	for u, body := range one {
		if same[u] != body {
			t.Errorf("%s differs under one seed", u)
		}
		if other[u] != body {
			changed++
		}
	}
	if changed < len(one)/2 {
		t.Errorf("another seed changed only %d of %d resources", changed, len(one))
	}
}

func TestParagraphsDoNotRepeat(t *testing.T) {
	t.Parallel()
	lib, err := loadLibrary()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	repeats := 0
	for i := range 1000 {
		p := lib.Paragraph(Random(1, fmt.Sprint(i)), []Subject{Ravens, Norse, Cooking, TheWorld}[i%4], 3)
		if seen[p] {
			repeats++
		}
		seen[p] = true
	}
	if repeats > 0 {
		t.Errorf("%d of 1000 paragraphs repeat another", repeats)
	}
}

func TestWireFeatures(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.4.1")}))
	c := worldtest.Client(w)
	base := func(host string) string { return fmt.Sprintf("http://%s:%d", host, w.Port()) }

	post := w.Host(blogHost).Base + "/about/"
	plain := worldtest.Get(t, c, post)
	zipped := worldtest.Get(t, c, post, "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(bytes.NewReader(zipped.Body))
	if err != nil || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not gzip when asked: %v", err)
	}
	if inside, err := io.ReadAll(z); err != nil || !bytes.Equal(inside, plain.Body) {
		t.Errorf("gzip holds another body (%v)", err)
	}
	for name, value := range map[string]string{"If-None-Match": plain.Header.Get("ETag"), "If-Modified-Since": plain.Header.Get("Last-Modified")} {
		if a := worldtest.Get(t, c, post, name, value); a.Status != http.StatusNotModified || len(a.Body) > 0 {
			t.Errorf("%s: %s: status %d, want 304", name, value, a.Status)
		}
	}
	if a := worldtest.Get(t, c, base(runesHost)+"/chunked.html"); a.Header.Get("Content-Length") != "" {
		t.Error("chunked page has a Content-Length")
	}
	if a := worldtest.Get(t, c, base(runesHost)+"/hop/1"); a.Header.Get("Location") != "2" {
		t.Errorf("location %q, want a relative one", a.Header.Get("Location"))
	}
	if a := worldtest.Get(t, c, base(kitchenHost)+"/robots.txt"); a.Status != 404 {
		t.Errorf("kitchen robots: %d, want 404", a.Status)
	}
	if a := worldtest.Get(t, c, base(closedHost)+"/robots.txt"); a.Status != 500 {
		t.Errorf("closed robots: %d, want 500", a.Status)
	}
	if a := worldtest.Get(t, c, base(archiveHost)+"/robots.txt"); !bytes.Contains(a.Body, []byte("Crawl-delay: 1\n")) {
		t.Errorf("archive robots lacks its delay:\n%s", a.Body)
	}
	for n, want := range []int{200, 200, 429, 200} {
		if a := worldtest.Get(t, c, base(busyHost)+"/"); a.Status != want {
			t.Errorf("busy request %d: status %d, want %d", n+1, a.Status, want)
		}
	}
	if a := worldtest.Get(t, c, base(calendarHost)+"/calendar?date=2031-02-03"); !bytes.Contains(a.Body, []byte("date=2032-02-03")) {
		t.Error("the trap ends")
	}
	if a := worldtest.Get(t, c, base(forumHost)+"/viewtopic.php?sid=0123&t=1&"+strings.TrimPrefix(forumOf(w, 1), "&")); a.Status != 200 {
		t.Errorf("topic with a session id: status %d", a.Status)
	}
}

func forumOf(w *World, topic int) string {
	for _, p := range w.Pages() {
		if strings.HasSuffix(p.URL, fmt.Sprintf("&t=%d", topic)) && p.Kind == "topic" {
			return MustParse(p.URL).RawQuery[:3]
		}
	}
	return ""
}

func TestRules(t *testing.T) {
	t.Parallel()
	rs := Rules{Lines: []Rule{
		Disallow("/private/"), Allow("/private/open-"), Disallow("/*.pdf$"), Disallow("/*?replytocom="), Disallow("/a"), Allow("/a"),
	}}
	for uri, want := range map[string]bool{
		"/": true, "/private/x": false, "/private/open-letter": true, "/x/scan.pdf": false, "/scan.pdf?page=2": true,
		"/post/?replytocom=3": false, "/post/?x=1&replytocom=3": true, "/ab": true, "/privat": true,
	} {
		if rs.Allows(uri) != want {
			t.Errorf("allows(%q) = %v, want %v", uri, !want, want)
		}
	}
	if (Rules{Closed: true}).Allows("/") {
		t.Error("a closed site allows /")
	}
}

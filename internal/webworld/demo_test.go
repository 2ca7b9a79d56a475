package webworld

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// started returns a running world that the test's end closes.
func started(t testing.TB, w *World) *World {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// client resolves the world's hosts, follows no redirects and reuses no connection unless asked.
func client(w *World) *http.Client {
	resolve := w.Resolve()
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableCompression: true,
			MaxConnsPerHost:    0,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				ip, ok := resolve[host]
				if !ok {
					return nil, fmt.Errorf("no such host: %s", host)
				}
				return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
			},
		},
	}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func get(t testing.TB, c *http.Client, url string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read %s: %v", url, err)
	}
	return answer{res.StatusCode, res.Header, body}
}

func TestDemoPagesAnswerAsPromised(t *testing.T) {
	t.Parallel()
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.1.1")}))
	c := client(w)
	bodies := map[string][]byte{}
	reachable, relevant, kinds := 0, 0, map[string]int{}
	for _, p := range w.Pages() {
		a := get(t, c, p.URL)
		if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
			if a.header.Get("Retry-After") == "" {
				t.Errorf("%s: status %d without Retry-After", p.URL, a.status)
			}
			a = get(t, c, p.URL)
		}
		if a.status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.status, p.Status)
		}
		if (p.Location != "") != (a.status >= 300 && a.status < 400) {
			t.Errorf("%s: status %d with location %q", p.URL, a.status, p.Location)
		}
		if a.status == 200 && len(a.body) == 0 {
			t.Errorf("%s: empty", p.URL)
		}
		if bytes.Contains(a.body, []byte("?}")) || bytes.Contains(a.body, []byte("ZgotmplZ")) {
			t.Errorf("%s: a slot or a link was not filled in", p.URL)
		}
		bodies[p.URL] = a.body
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
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.2.1")}))
	c := client(w)
	missing := map[string]bool{}
	for _, p := range w.Pages() {
		if p.Status == http.StatusNotFound {
			missing[p.URL] = true
		}
		if p.Status != 200 || p.Embed {
			continue
		}
		for _, l := range extract(mustParse(p.URL), get(t, c, p.URL).body) {
			if to, ok := w.PageOf(l.url.String()); !ok && l.url.Hostname() != "www.phpbb.example" {
				t.Errorf("%s links to %s, outside the world", p.URL, l.url)
			} else if ok && to.Status == 404 && to.Host != runesHost {
				t.Errorf("%s links to %s, which is missing", p.URL, l.url)
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
		w := started(t, NewDemo(Options{Seed: seed, FirstIP: netip.MustParseAddr(ip)}))
		all := map[string]string{}
		port := fmt.Sprintf(":%d", w.Port())
		for _, s := range w.sites {
			for _, res := range s.resources {
				plain := strings.ReplaceAll(string(join(res.body)), port, "")
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
		p := lib.paragraph(random(1, fmt.Sprint(i)), []subject{ravens, norse, cooking, world}[i%4], 3)
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
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.4.1")}))
	c := client(w)
	base := func(host string) string { return fmt.Sprintf("http://%s:%d", host, w.Port()) }

	post := w.sites[blogHost].base + "/about/"
	plain := get(t, c, post)
	zipped := get(t, c, post, "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(bytes.NewReader(zipped.body))
	if err != nil || zipped.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not gzip when asked: %v", err)
	}
	if inside, err := io.ReadAll(z); err != nil || !bytes.Equal(inside, plain.body) {
		t.Errorf("gzip holds another body (%v)", err)
	}
	for name, value := range map[string]string{"If-None-Match": plain.header.Get("ETag"), "If-Modified-Since": plain.header.Get("Last-Modified")} {
		if a := get(t, c, post, name, value); a.status != http.StatusNotModified || len(a.body) > 0 {
			t.Errorf("%s: %s: status %d, want 304", name, value, a.status)
		}
	}
	if a := get(t, c, base(runesHost)+"/chunked.html"); a.header.Get("Content-Length") != "" {
		t.Error("chunked page has a Content-Length")
	}
	if a := get(t, c, base(runesHost)+"/hop/1"); a.header.Get("Location") != "2" {
		t.Errorf("location %q, want a relative one", a.header.Get("Location"))
	}
	if a := get(t, c, base(kitchenHost)+"/robots.txt"); a.status != 404 {
		t.Errorf("kitchen robots: %d, want 404", a.status)
	}
	if a := get(t, c, base(closedHost)+"/robots.txt"); a.status != 500 {
		t.Errorf("closed robots: %d, want 500", a.status)
	}
	if a := get(t, c, base(archiveHost)+"/robots.txt"); !bytes.Contains(a.body, []byte("Crawl-delay: 1\n")) {
		t.Errorf("archive robots lacks its delay:\n%s", a.body)
	}
	for n, want := range []int{200, 200, 429, 200} {
		if a := get(t, c, base(busyHost)+"/"); a.status != want {
			t.Errorf("busy request %d: status %d, want %d", n+1, a.status, want)
		}
	}
	if a := get(t, c, base(calendarHost)+"/calendar?date=2031-02-03"); !bytes.Contains(a.body, []byte("date=2032-02-03")) {
		t.Error("the trap ends")
	}
	if a := get(t, c, base(forumHost)+"/viewtopic.php?sid=0123&t=1&"+strings.TrimPrefix(forumOf(w, 1), "&")); a.status != 200 {
		t.Errorf("topic with a session id: status %d", a.status)
	}
}

func forumOf(w *World, topic int) string {
	for _, p := range w.Pages() {
		if strings.HasSuffix(p.URL, fmt.Sprintf("&t=%d", topic)) && p.Kind == "topic" {
			return mustParse(p.URL).RawQuery[:3]
		}
	}
	return ""
}

func TestRules(t *testing.T) {
	t.Parallel()
	rs := rules{lines: []rule{
		disallow("/private/"), allow("/private/open-"), disallow("/*.pdf$"), disallow("/*?replytocom="), disallow("/a"), allow("/a"),
	}}
	for uri, want := range map[string]bool{
		"/": true, "/private/x": false, "/private/open-letter": true, "/x/scan.pdf": false, "/scan.pdf?page=2": true,
		"/post/?replytocom=3": false, "/post/?x=1&replytocom=3": true, "/ab": true, "/privat": true,
	} {
		if rs.allows(uri) != want {
			t.Errorf("allows(%q) = %v, want %v", uri, !want, want)
		}
	}
	if (rules{closed: true}).allows("/") {
		t.Error("a closed site allows /")
	}
}

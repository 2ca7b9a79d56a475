package browser

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/webworld/single"
)

// pool is a pool of the Chromium of this machine.
func pool(t testing.TB, l Limits) *Pool {
	t.Helper()
	p, err := New(Program{Path: fixture.Chromium(t, Find), Folder: t.TempDir(), Sandbox: os.Getuid() != 0}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// loadFrom answers the requests of a page by a handler.
func loadFrom(s *single.Site) func(context.Context, Request) (Response, error) {
	return func(_ context.Context, r Request) (Response, error) {
		u, err := url.Parse(r.URL)
		if err != nil || u.Host != s.Name+".test" {
			return Response{}, errors.New("not of the site")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", u.RequestURI(), nil))
		return Response{Status: w.Code, Header: [][2]string{{"Content-Type", w.Header().Get("Content-Type")}}, Body: w.Body.Bytes()}, nil
	}
}

// TestSingleSites: of what the pages of five single-page sites say and link to at least 95 % is in the documents that the browser makes of them; nothing of it is in what their
// servers answer.
func TestSingleSites(t *testing.T) {
	t.Parallel()
	p := pool(t, DefaultLimits())
	for _, s := range single.Sites() {
		base := "http://" + s.Name + ".test"
		var cpu, plain time.Duration
		found, all, blank := 0, 0, 0
		pages := s.Pages[:min(len(s.Pages), 4)]
		for _, want := range pages {
			answer, err := loadFrom(s)(t.Context(), Request{URL: base + want.Path})
			if err != nil {
				t.Fatal(err)
			}
			begun := cputime.Used()
			before := page.Parse(page.Input{URL: base + want.Path, MIME: "text/html", Body: answer.Body}, page.DefaultLimits())
			plain += cputime.Used() - begun
			if before.Shell() == "" {
				t.Errorf("%s%s is no shell", s.Name, want.Path)
			}
			shown, err := p.Open(t.Context(), Job{URL: base + want.Path, Load: loadFrom(s)})
			if err != nil {
				t.Fatalf("%s%s: %v", s.Name, want.Path, err)
			}
			cpu += shown.CPU
			if len(shown.Picture) == 0 || shown.Cut {
				t.Errorf("%s%s: a picture of %d bytes, cut: %t", s.Name, want.Path, len(shown.Picture), shown.Cut)
			}
			after := page.Parse(page.Input{URL: base + want.Path, MIME: "text/html; charset=utf-8", Body: shown.Document}, page.DefaultLimits())
			got, n := share(base, want, &after.Page)
			found, all = found+got, all+n
			got, _ = share(base, want, &before.Page)
			blank += got
		}
		t.Logf("%s: %d of %d texts and links, %d without scripts; CPU a page: browser %s, plain parse %s", s.Name, found, all, blank, cpu/time.Duration(len(pages)), plain/time.Duration(len(pages)))
		if found*100 < all*95 || blank > 0 {
			t.Errorf("%s: %d of %d texts and links, %d of them without scripts", s.Name, found, all, blank)
		}
	}
}

// share counts the texts and links of a page that were found.
func share(base string, want single.Page, got *crawl.Page) (found, all int) {
	text := strings.Join(got.Blocks, "\n")
	for _, s := range want.Texts {
		if all++; strings.Contains(text, s) {
			found++
		}
	}
	for _, l := range want.Links {
		if all++; slices.ContainsFunc(got.Links, func(o crawl.Outlink) bool { return o.URL == base+l && o.Hop == crawl.HopLink }) {
			found++
		}
	}
	return found, all
}

// one is a site of one page.
func one(body string) func(context.Context, Request) (Response, error) {
	return func(_ context.Context, r Request) (Response, error) {
		if r.URL != "http://a.test/" {
			return Response{}, errors.New("not of the site")
		}
		return Response{Status: 200, Header: [][2]string{{"Content-Type", "text/html"}}, Body: []byte(body)}, nil
	}
}

// TestHarm: a page that never ends, takes too much memory or kills its browser costs itself only, within its time; the next one is shown.
func TestHarm(t *testing.T) {
	t.Parallel()
	l := DefaultLimits()
	l.Time, l.Memory = 10*time.Second, 400<<20
	p := pool(t, l)
	for name, c := range map[string]struct{ body, want string }{
		"loop":    {`<script>for (;;);</script>`, "the page was open for 10s"},
		"memory":  {`<script>const a = []; setInterval(() => { for (let i = 0; i < 40; i++) a.push(new Uint8Array(1 << 20).fill(7)) }, 20)</script>`, "the browser took more than"},
		"leaves":  {`said<script>location = "http://b.test/"</script>`, ""},
		"reloads": {`said<script>setInterval(() => location.reload(), 10)</script>`, ""},
		"dialogs": {`said<script>alert(1); confirm(2); onbeforeunload = () => "stay"</script>`, ""},
		"windows": {`said<script>for (let i = 0; i < 20; i++) open("http://b.test/" + i)</script>`, ""},
	} {
		begun := time.Now()
		shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: one(c.body)})
		took := time.Since(begun)
		if c.want == "" && (err != nil || !strings.Contains(string(shown.Document), "said")) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v, want %q", name, shown.Document, err, c.want)
		}
		if took > l.Time+closeTime+5*time.Second { // of a busy machine
			t.Errorf("%s takes %s", name, took)
		}
		if shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: one("<p>well</p>")}); err != nil || !strings.Contains(string(shown.Document), "well") {
			t.Errorf("after %s: %q, %v", name, shown.Document, err)
		}
	}
}

// TestDied: a browser that is killed while it shows a page is no error of the next page.
func TestDied(t *testing.T) {
	t.Parallel()
	p := pool(t, DefaultLimits())
	if _, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: one("well")}); err != nil {
		t.Fatal(err)
	}
	b := <-p.free
	p.free <- b
	load := one(`<script src=/a.js></script>`)
	_, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: func(ctx context.Context, r Request) (Response, error) {
		if strings.HasSuffix(r.URL, "a.js") {
			_ = syscall.Kill(b.pid, syscall.SIGKILL)
			<-b.done
		}
		return load(ctx, r)
	}})
	if !errors.Is(err, ErrDied) {
		t.Errorf("%v", err)
	}
	if shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: one("<p>well</p>")}); err != nil || !strings.Contains(string(shown.Document), "well") {
		t.Errorf("then: %q, %v", shown.Document, err)
	}
}

// TestNoNetwork: nothing that a page does reaches a server by itself, whether or not the system gives the browser a network namespace.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	chromium := fixture.Chromium(t, Find)
	for _, isolated := range []bool{true, false} {
		var met atomic.Int64
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				met.Add(1)
				_ = conn.Close()
			}
		}()
		udp, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			buffer := make([]byte, 2000)
			for {
				if _, _, err := udp.ReadFrom(buffer); err != nil {
					return
				}
				met.Add(1)
			}
		}()
		tcp, stun := ln.Addr().String(), udp.LocalAddr().String()
		body := `<script>
			const tcp = "` + tcp + `", udp = "` + stun + `", attempts = [
				() => fetch("http://" + tcp + "/fetch"), () => fetch("http://" + tcp + "/post", {method: "POST", body: "x"}), () => new WebSocket("ws://" + tcp + "/ws"),
				() => new EventSource("http://" + tcp + "/events"), () => navigator.sendBeacon("http://" + tcp + "/beacon", "x"), () => { new Image().src = "http://" + tcp + "/image" },
				() => new Worker(URL.createObjectURL(new Blob(["fetch('http://" + tcp + "/worker'); new WebSocket('ws://" + tcp + "/')"]))),
				() => new Worker(URL.createObjectURL(new Blob(["const deep = URL.createObjectURL(new Blob([\"fetch('http://" + tcp + "/deep'); new WebSocket('ws://" + tcp + "/')\"])); new Worker(deep); new Worker('http://" + tcp + "/inner.js')"]))),
				() => { const f = document.createElement("iframe"); f.srcdoc = "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('http://" + tcp + "/framed')\"])))</" + "script>"; document.body.append(f) },
				() => { const f = document.createElement("iframe"); document.body.append(f); new f.contentWindow.SharedWorker(URL.createObjectURL(new Blob(["fetch('http://" + tcp + "/shared'); new WebSocket('ws://" + tcp + "/')"]))) },
				() => { const f = document.createElement("iframe"); document.body.append(f); f.contentWindow.navigator.serviceWorker.register("http://a.test/sw.js") },
				() => navigator.serviceWorker.register("http://a.test/sw.js"), () => open("http://" + tcp + "/window"),
				() => { const f = document.createElement("iframe"); f.src = "http://" + tcp + "/frame"; document.body.append(f) },
				() => { const f = document.createElement("iframe"); document.body.append(f); const R = f.contentWindow.RTCPeerConnection; const c = new R({iceServers: [{urls: "stun:" + udp}]}); c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) },
				() => { const c = new RTCPeerConnection({iceServers: [{urls: "stun:" + udp}]}); c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) },
				() => new WebTransport("https://" + udp + "/"), () => { const l = document.createElement("link"); l.rel = "preconnect"; l.href = "http://" + tcp; document.head.append(l) },
				() => { const l = document.createElement("link"); l.rel = "prefetch"; l.href = "http://" + tcp + "/prefetch"; document.head.append(l) },
				() => { const a = document.createElement("a"); a.href = "http://" + tcp + "/download"; a.download = "x"; document.body.append(a); a.click() },
				() => { const a = document.createElement("a"); a.href = "/#"; a.ping = "http://" + tcp + "/ping"; document.body.append(a); a.click() },
			];
			onload = () => attempts.forEach((f) => { try { Promise.resolve(f()).catch(() => 0) } catch {} });
		</script><body>said`
		b, err := launch(t.Context(), Program{Path: chromium, Folder: t.TempDir(), Sandbox: os.Getuid() != 0}, 1<<30, isolated)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		shown, err := b.show(t.Context(), Job{URL: "http://a.test/", Load: func(ctx context.Context, r Request) (Response, error) {
			asked[strings.TrimPrefix(strings.TrimPrefix(r.URL, "http://a.test"), "http://"+tcp)] = true
			return one(body)(ctx, r)
		}}, DefaultLimits())
		if err != nil || !strings.Contains(string(shown.Document), "said") {
			t.Errorf("%q, %v", shown.Document, err)
		}
		for _, path := range []string{"/fetch", "/image", "/frame", "/worker", "/deep", "/inner.js", "/framed"} {
			if !asked[path] {
				t.Errorf("namespace %t: %s is not asked for: %v", isolated, path, asked)
			}
		}
		for _, path := range []string{"/post", "/beacon", "/ping"} {
			if asked[path] {
				t.Errorf("namespace %t: %s is asked for", isolated, path)
			}
		}
		b.end()
		<-b.done
		_, _ = ln.Close(), udp.Close()
		if n := met.Load(); n > 0 {
			t.Errorf("namespace %t: a server was reached %d times", isolated, n)
		}
	}
}

// TestScheme: a page of a site that has a name of the public DNS is asked for as it is named, without a try by https first.
func TestScheme(t *testing.T) {
	t.Parallel()
	var asked []string
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "http://www.example.org/", Load: func(_ context.Context, r Request) (Response, error) {
		asked = append(asked, r.URL)
		if !strings.HasPrefix(r.URL, "http:") {
			return Response{}, errors.New("nothing listens there")
		}
		return Response{Status: 200, Header: [][2]string{{"Content-Type", "text/html"}}, Body: []byte(`<p>well<img src="http://images.example.com/a.png">`)}, nil
	}})
	if want := []string{"http://www.example.org/", "http://images.example.com/a.png"}; err != nil || !strings.Contains(string(shown.Document), "well") || !slices.Equal(asked[:min(2, len(asked))], want) { // then its icon
		t.Errorf("%q, %v; asked for: %q", shown.Document, err, asked)
	}
}

// TestFields: header fields that the browser refuses do not cost the page its answer.
func TestFields(t *testing.T) {
	t.Parallel()
	fields := [][2]string{{"Content-Type", "text/html"}, {"a b", "x"}, {"X-Nul", "a\x00b"}, {"X-Ümlaut", "x"}, {"", "x"}, {"X-CR", "a\rb"}, {"X-LF", "a\nb"}, {"X(", "a"}, {"X-Utf8", "ü"}}
	for _, f := range fields {
		if want := f[0] == "Content-Type" || f[0] == "X-Utf8"; sendable(f) != want {
			t.Errorf("%q is sent: %t", f, !want)
		}
	}
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "http://a.test/", Load: func(context.Context, Request) (Response, error) {
		return Response{Status: 200, Header: fields, Body: []byte("<p>well")}, nil
	}})
	if err != nil || !strings.Contains(string(shown.Document), "well") {
		t.Errorf("%q, %v", shown.Document, err)
	}
}

// TestFind: a path that is no program is an error that names it; without any Chromium in PATH the error says so.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := Find(""); !errors.Is(err, ErrNone) {
		t.Errorf("an empty PATH gives %v", err)
	}
	if _, err := Find(dir + "/none"); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Errorf("a path that is not there gives %v", err)
	}
	if err := os.WriteFile(dir+"/chromium", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir + "/chromium"); err == nil {
		t.Error("a file that is no program is found")
	}
	if err := os.Chmod(dir+"/chromium", 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(""); err != nil || got != dir+"/chromium" {
		t.Errorf("%q, %v", got, err)
	}
}

// BenchmarkOpen is what it costs to open a page of a single-page site in Chromium, beside the plain parse of what its server answers. An operation is a page.
func BenchmarkOpen(b *testing.B) {
	p := pool(b, DefaultLimits())
	sites := single.Sites()
	jobs := make([]Job, len(sites))
	for i, s := range sites {
		jobs[i] = Job{URL: "http://" + s.Name + ".test" + s.Pages[0].Path, Load: loadFrom(s)}
	}
	b.Run("browser", func(b *testing.B) {
		var used time.Duration
		for i := 0; b.Loop(); i++ {
			shown, err := p.Open(b.Context(), jobs[i%len(jobs)])
			if err != nil {
				b.Fatal(err)
			}
			used += shown.CPU
		}
		b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/page")
	})
	b.Run("plain", func(b *testing.B) {
		answers := make([][]byte, len(jobs))
		for i, j := range jobs {
			answer, err := j.Load(b.Context(), Request{URL: j.URL})
			if err != nil {
				b.Fatal(err)
			}
			answers[i] = answer.Body
		}
		start := cputime.Used()
		for i := 0; b.Loop(); i++ {
			page.Parse(page.Input{URL: jobs[i%len(jobs)].URL, MIME: "text/html", Body: answers[i%len(jobs)]}, page.DefaultLimits())
		}
		b.ReportMetric(float64((cputime.Used()-start).Microseconds())/float64(b.N), "cpu-µs/page")
	})
}

// TestCutOff: a document and a picture that are too large are cut off, and say so.
func TestCutOff(t *testing.T) {
	t.Parallel()
	body := `<p>said<div style="height: 9000px"></div><script>const d = document.createElement("div"); d.hidden = true; d.append("x".repeat(17 << 20)); document.body.append(d)</script>`
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "http://a.test/", Load: one(body)})
	if err != nil || len(shown.Document) != maxDocument || shown.DocumentTruncated != "length" || len(shown.Picture) == 0 || shown.PictureTruncated != "length" || shown.Cut {
		t.Errorf("a document of %d bytes (%q), a picture of %d (%q), cut: %t, %v", len(shown.Document), shown.DocumentTruncated, len(shown.Picture), shown.PictureTruncated, shown.Cut, err)
	}
}

// TestBusyPage: a page that has no processor asks for nothing, and is not complete: the time begins again when it has one.
func TestBusyPage(t *testing.T) {
	t.Parallel()
	body := `<p id=said>nothing<script>
		addEventListener("load", () => setTimeout(() => {
			const began = performance.now();
			while (performance.now() - began < 1500);
			setTimeout(() => { document.getElementById("said").textContent = ["said", "at", "last"].join(" ") }, 400);
		}, 300))</script>`
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "http://a.test/", Load: one(body)})
	if err != nil || !strings.Contains(string(shown.Document), "said at last") || shown.Cut {
		t.Errorf("%.300q, cut: %t, %v", shown.Document, shown.Cut, err)
	}
}

// TestWorkers: what dedicated workers of a page ask for is answered as what the page asks for is, also that of workers that they make.
func TestWorkers(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"/": `<p id=said>nothing<script>
			const said = [], say = (text) => { said.push(text); document.getElementById("said").textContent = said.sort().join(" ") };
			for (const w of [new Worker("/w.js"), new Worker(URL.createObjectURL(new Blob(["fetch('http://a.test/blob').then((r) => r.text()).then(postMessage)"])))]) w.onmessage = (m) => say(m.data);
		</script>`,
		"/w.js":      `importScripts("/import.js"); fetch("/fetched").then((r) => r.text()).then((text) => postMessage(imported + " " + text)); new Worker("/inner.js").onmessage = (m) => postMessage(m.data)`,
		"/import.js": `const imported = "imported"`, "/inner.js": `fetch("/inner").then((r) => r.text()).then(postMessage)`,
		"/fetched": "fetched", "/inner": "inner", "/blob": "blob",
	}
	var asked []string
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "http://a.test/", Load: func(_ context.Context, r Request) (Response, error) {
		path := strings.TrimPrefix(r.URL, "http://a.test")
		asked = append(asked, path+" "+r.Kind)
		body, is := files[path]
		if !is {
			return Response{Status: 404}, nil
		}
		kind := "text/html"
		if strings.HasSuffix(path, ".js") {
			kind = "text/javascript"
		}
		return Response{Status: 200, Header: [][2]string{{"Content-Type", kind}}, Body: []byte(body)}, nil
	}})
	if err != nil || !strings.Contains(string(shown.Document), "blob imported fetched inner") {
		t.Errorf("%.300q, %v, asked for %q", shown.Document, err, asked)
	}
}

// TestServiceWorker: a page that gets its service workers back has none: their scripts have no answer.
func TestServiceWorker(t *testing.T) {
	t.Parallel()
	body := `<p id=said>nothing<script>ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, "/sw.js").then(() => "registered", (e) => "refused " + e.name).then((text) => { document.getElementById("said").textContent = text })</script>`
	var asked []string
	shown, err := pool(t, DefaultLimits()).Open(t.Context(), Job{URL: "https://a.test/", Load: func(_ context.Context, r Request) (Response, error) {
		if asked = append(asked, r.URL); strings.HasSuffix(r.URL, "/sw.js") {
			return Response{Status: 200, Header: [][2]string{{"Content-Type", "text/javascript"}}, Body: []byte("fetch('/from')")}, nil
		}
		return Response{Status: 200, Header: [][2]string{{"Content-Type", "text/html"}}, Body: []byte(body)}, nil
	}})
	if err != nil || !strings.Contains(string(shown.Document), ">refused ") || slices.Contains(asked, "https://a.test/sw.js") || shown.Blocked != 1 {
		t.Errorf("%.300q, %v, %d blocked; asked for %q", shown.Document, err, shown.Blocked, asked)
	}
}

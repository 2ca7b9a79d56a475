package room_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/browsertest"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/selection"
)

// serve serves a room, and replay if a folder of ReplayWeb.page is given.
func serve(t *testing.T, r *rig, replayDir string) (base, replayBase string) {
	t.Helper()
	second := httptest.NewUnstartedServer(nil)
	first := httptest.NewUnstartedServer(nil)
	port := func(s *httptest.Server) string {
		_, p, _ := net.SplitHostPort(s.Listener.Addr().String())
		return p
	}
	made, h := r.open(func(c *room.Config) {
		c.Replay = nil
		if replayDir != "" {
			c.Replay = &room.Replay{Dir: replayDir, Port: port(second), RoomPort: port(first)}
		}
	})
	first.Config.Handler = h
	first.Start()
	t.Cleanup(first.Close)
	if replayDir != "" {
		second.Config.Handler = made.ReplayHandler()
	} else {
		second.Config.Handler = http.NotFoundHandler()
	}
	second.Start()
	t.Cleanup(second.Close)
	return first.URL, second.URL
}

// widths are those of a telephone and of a desk.
var widths = []int64{360, 1200}

// TestRoomInBrowser: pages fit their window, axe finds nothing serious in them, and no text of hostile pages runs or asks for anything.
func TestRoomInBrowser(t *testing.T) {
	path := fixture.Chromium(t, browser.Find)
	axe, err := os.ReadFile(os.Getenv("MUNINN_AXE"))
	if err != nil {
		t.Log("MUNINN_AXE names no axe.min.js (`make axe` fetches it): accessibility is not checked")
	}
	b, err := browsertest.Start(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	base, _ := serve(t, ravens(t), "")
	targets := []string{}
	for _, p := range pages {
		if !strings.HasPrefix(p.target, "/replay") {
			targets = append(targets, base+p.target)
		}
	}
	selected := birdsSelected(t)
	deciding := httptest.NewServer(selected.h)
	t.Cleanup(deciding.Close)
	for _, p := range selectionPages { // at both widths
		targets = append(targets, deciding.URL+p, deciding.URL+strings.Replace(p, "?", "?archive=1&", 1))
	}
	guarded := ravens(t)
	guarded.read.Token = "a token of some length"
	guardedBase, _ := serve(t, guarded, "")
	targets = append(targets, guardedBase+"/login")
	checked := len(targets) + 5
	hostilePages, list := hostileRig(t)
	hostileBase, _ := serve(t, hostilePages, "")
	for i, target := range list {
		if i%5 == 0 && !strings.HasPrefix(target, "/replay") && !strings.HasPrefix(target, "/raw") && !strings.HasPrefix(target, "/file") {
			targets = append(targets, hostileBase+target)
		}
	}
	for n, target := range targets {
		width := widths[n%len(widths)]
		value, err := b.Look(target, width, `JSON.stringify({wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, scripts: document.scripts.length})`)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		var text string
		var page struct{ Wide, Scripts int }
		if err := errors.Join(json.Unmarshal(value, &text), json.Unmarshal([]byte(text), &page)); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if page.Wide > 0 || page.Scripts > 0 {
			t.Errorf("%s, %d pixels: it is %d pixels too wide, and has %d scripts", target, width, page.Wide, page.Scripts)
		}
		if len(axe) == 0 || n > checked {
			continue
		}
		accessible(t, b, axe, target, width)
	}
	t.Logf("%d pages, %v pixels wide in turn; axe: %v", len(targets), widths, len(axe) > 0)
}

// TestDecideInBrowser: a button of a page, pressed in a browser, is an entry of the selection, and leads back to the page.
func TestDecideInBrowser(t *testing.T) {
	path := fixture.Chromium(t, browser.Find)
	s := birdsSelected(t)
	server := httptest.NewServer(s.h)
	t.Cleanup(server.Close)
	b, err := browsertest.Start(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	before := len(s.entries())
	if _, err := b.Look(server.URL+"/selection/group?name=ravens&group=host:soup.example", 360, `document.querySelector("#why-group").value = "soup"; document.querySelector("form.decide button.drop").click()`); err != nil {
		t.Fatal(err)
	}
	written := time.Now().Add(30 * time.Second)
	for len(s.entries()) == before && time.Now().Before(written) {
		time.Sleep(50 * time.Millisecond) // the browser sends the form by itself
	}
	list := s.entries()
	if len(list) != before+1 {
		t.Fatal("no entry was written in 30 s")
	}
	if e := list[before]; e.Who != "ann" || e.Why != "soup" || len(e.Decisions) != 1 || e.Decisions[0] != (selection.Decision{Group: "host:soup.example", Verdict: selection.Drop}) {
		t.Errorf("%+v", e)
	}
	value, err := b.Look(server.URL+"/selection/history?name=ravens", 360, `document.body.innerText`)
	if err != nil || !strings.Contains(string(value), "drop: host:soup.example") {
		t.Errorf("%s, %v", value, err)
	}
}

// accessible checks that axe finds nothing serious in a page; frames of other origins are not looked into.
func accessible(t *testing.T, b *browsertest.Browser, axe []byte, target string, width int64) {
	t.Helper()
	value, err := b.Look(target, width, string(axe)+";0", `axe.run({iframes: false}).then(r => JSON.stringify(r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3).join(" | "))))`)
	var findings string
	if err == nil {
		err = json.Unmarshal(value, &findings)
	}
	if err != nil || findings != "[]" {
		t.Errorf("%s, %d pixels: axe finds %s, %v", target, width, findings, err)
	}
}

// TestReplayInRoom: ReplayWeb.page's service worker shows captures with their scripts and images from the room's answers alone, as they were at the time that is asked for;
// what is not archived is not asked for elsewhere, and scripts of the page do not reach the banner.
func TestReplayInRoom(t *testing.T) {
	path := fixture.Chromium(t, browser.Find)
	dir := os.Getenv("MUNINN_REPLAYWEBPAGE")
	if dir == "" {
		t.Skip("MUNINN_REPLAYWEBPAGE is not set: `make replay` fetches ReplayWeb.page")
	}
	r := newRig(t)
	pageOf := func(text string) string {
		return `<!doctype html><title>Ravens</title><link rel=stylesheet href=/style.css><p id=p>` + text + `</p><p id=q>no script</p><img src=/picture.png><img src=http://outside.example/x.png>
<script src=/script.js></script><script>try { top.document.getElementById("banner").textContent = "forged" } catch (e) { document.body.append(" kept out") }</script><a href=/second>second</a>`
	}
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xfc\xff\xff?\x03\x00\x05\xfe\x02\xfe\xa7\x9a\xa0\xa0\x00\x00\x00\x00IEND\xaeB`\x82"
	r.segment("c", "a.example-1@w.1", 1,
		exchange{url: "http://a.example/", body: pageOf("The first text.")},
		exchange{url: "http://a.example/style.css", mime: "text/css", body: "#p { text-transform: uppercase }"},
		exchange{url: "http://a.example/script.js", mime: "text/javascript", body: `document.getElementById("q").textContent = "script ran: " + location.href`},
		exchange{url: "http://a.example/picture.png", mime: "image/png", body: png},
		exchange{url: "http://a.example/moved", status: 302, mime: "text/plain", head: "Location: /\r\n"},
	)
	r.segment("c", "a.example-2@w.1", 2, exchange{url: "http://a.example/", body: pageOf("The second text."), at: 24 * time.Hour})
	base, replayBase := serve(t, r, dir)
	b, err := browsertest.Start(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, c := range []struct{ url, at, text, banner string }{
		{"http://a.example/", "20260304050607", "THE FIRST TEXT.", "2026-03-04 05:06:07 UTC, archived by crawl c, run 1"},
		{"http://a.example/", "20260305050607", "THE SECOND TEXT.", "2026-03-05 05:06:07 UTC, archived by crawl c, run 2"},
		{"http://a.example/moved", "20260304050607", "THE FIRST TEXT.", "2026-03-04 05:06:07 UTC, archived by crawl c, run 1"},
	} {
		begun := time.Now()
		view, err := b.Await(base+"/replay?at="+c.at+"&url="+url.QueryEscape(c.url), func(list []browsertest.Document) bool {
			return len(list) == 3 && strings.Contains(list[2].Text, c.text) && strings.Contains(list[2].Text, "script ran: http://a.example/") && strings.Contains(list[2].Text, "kept out") && strings.Contains(list[0].Text, c.banner) && len(list[2].Images) == 2 && list[2].Images[0].Width == 1
		})
		if err != nil {
			t.Errorf("%s at %s: %v: %+v", c.url, c.at, err, view.Documents)
			continue
		}
		for _, q := range view.Requests {
			if !strings.HasPrefix(q.URL, base+"/") && !strings.HasPrefix(q.URL, replayBase+"/") {
				t.Errorf("it asks for %s: %d %s", q.URL, q.Status, q.Error)
			}
		}
		t.Logf("%s at %s: shown in %v, %d requests", c.url, c.at, time.Since(begun).Round(time.Millisecond), len(view.Requests))
	}
	axe, err := os.ReadFile(os.Getenv("MUNINN_AXE"))
	if err != nil {
		return
	}
	for _, width := range widths {
		accessible(t, b, axe, base+"/replay?at=20260304050607&url="+url.QueryEscape("http://a.example/"), width)
	}
}

package room_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/room"
)

// TestReplayOrigin: the origin of replay gives the service worker one capture after the other, and nothing of it acts on the origin.
func TestReplayOrigin(t *testing.T) {
	r := ravens(t)
	dir := t.TempDir()
	if err := (&room.Replay{Dir: dir}).Check(); err == nil || !strings.Contains(err.Error(), "make replay") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sw.js"), []byte("// the worker"), 0o600); err != nil {
		t.Fatal(err)
	}
	replay := &room.Replay{Dir: dir, Port: "8481", RoomPort: "8480"}
	if err := replay.Check(); err != nil {
		t.Error(err)
	}
	made, _ := r.open(func(c *room.Config) { c.Replay = replay })
	h := made.ReplayHandler()
	for _, c := range []struct {
		target string
		status int
		says   string
		fields map[string]string // header; empty values: not there
	}{
		{"/room/get/20260304050607id_/http://a.example/", 200, "<p>The raven flew", map[string]string{"Memento-Datetime": "Wed, 04 Mar 2026 05:06:07 GMT", "Content-Type": "text/html; charset=utf-8", "X-Redirect-Status": ""}},
		{"/room/get/20260305id_/http://a.example/", 200, "<p>The raven flew", map[string]string{"Memento-Datetime": "Thu, 05 Mar 2026 05:06:07 GMT"}}, // a revisit
		{"/room/get/http://a.example/second", 200, "cousin", nil},
		{"/room/get/20260304050608mp_/http://a.example/second", 200, "no raven", nil},
		{"/room/get/20260304id_/http://a.example/old", 200, "", map[string]string{"X-Redirect-Status": "301", "X-Orig-Location": "http://a.example/second", "Location": "", "Set-Cookie": ""}},
		{"/room/get/20260304id_/http://a.example/picture.png", 200, "\x89PNG", map[string]string{"Content-Type": "image/png"}},
		{"/room/get/20260304id_/http://none.example/", 404, "no capture", nil},
		{"/room/get/2026x/http://a.example/", 400, "TIMESTAMPid_/URL", nil},
		{"/room/get/20260304id_/javascript:alert(1)", 400, "", nil},
		{"/room/frame?url=http://a.example/&at=20260304050607", 200, "/room/frame.js", map[string]string{"Content-Type": "text/html; charset=utf-8"}},
		{"/room/frame.js", 200, "serviceWorker", map[string]string{"Content-Type": "text/javascript; charset=utf-8"}},
		{"/sw.js", 200, "// the worker", map[string]string{"Content-Type": "text/javascript; charset=utf-8"}},
		{"/../../etc/passwd", 404, "", nil},
		{"/w/room/20260304mp_/http://a.example/", 404, "origin of replay", nil},
	} {
		w := ask(t, h, c.target, func(req *http.Request) { req.Host, req.RequestURI = "127.0.0.1:8481", c.target })
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %.100q", c.target, w.Code, w.Body)
		}
		for name, want := range c.fields {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", c.target, name, got, want)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); strings.HasPrefix(c.target, "/room/get/") && !strings.HasPrefix(policy, "sandbox;") {
			t.Errorf("%s is not sealed: %q", c.target, policy)
		}
	}
	w := ask(t, h, "/room/frame", func(req *http.Request) { req.Host = "127.0.0.1:8481" })
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy, "frame-ancestors http://127.0.0.1:8480") {
		t.Errorf("the frame may stand in %q", policy)
	}
	for _, c := range []struct {
		name   string
		fields [][2]string
		status int
	}{
		{"the worker", [][2]string{{"Sec-Fetch-Dest", "empty"}, {"Sec-Fetch-Mode", "cors"}}, http.StatusOK},
		{"a page that is opened by itself", [][2]string{{"Sec-Fetch-Dest", "document"}, {"Sec-Fetch-Mode", "navigate"}}, http.StatusForbidden},
		{"a script", [][2]string{{"Sec-Fetch-Dest", "script"}, {"Sec-Fetch-Mode", "no-cors"}}, http.StatusForbidden},
		{"a worker's script", [][2]string{{"Sec-Fetch-Dest", "serviceworker"}, {"Sec-Fetch-Mode", "same-origin"}}, http.StatusForbidden},
		{"a worker's script, of a browser without Sec-Fetch fields", [][2]string{{"Service-Worker", "script"}}, http.StatusForbidden},
	} {
		w := ask(t, h, "/room/get/20260304id_/http://a.example/", func(req *http.Request) {
			req.RequestURI = "/room/get/20260304id_/http://a.example/"
			for _, f := range c.fields {
				req.Header.Set(f[0], f[1])
			}
		})
		if w.Code != c.status {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.status)
		}
	}
}

// TestSameKey: of URLs with one key, that which is asked for answers on pages, as raw bytes and in replay, and a redirect does not lead to itself.
func TestSameKey(t *testing.T) {
	r := newRig(t)
	moved := func(from, to string) exchange {
		return exchange{url: from, status: 301, head: "Location: " + to + "\r\n", body: "moved from " + from}
	}
	r.segment("c", "a.example-1@w.1", 1,
		moved("http://a.example/", "https://a.example/"), exchange{url: "https://a.example/", body: "<p>secure", at: 2 * time.Second},
		moved("http://a.example/only", "https://a.example/only"), moved("http://a.example/self", "/self"),
		exchange{url: "http://a.example/b", body: "<p>small"}, exchange{url: "http://a.example/B", body: "<p>large"},
		exchange{url: "http://a.example/b", body: "<p>small again", at: time.Hour}, exchange{url: "http://a.example/B", body: "<p>large again", at: 2 * time.Hour},
	)
	made, h := r.open()
	replay := made.ReplayHandler()
	get := func(h http.Handler, target string) (int, string, http.Header) {
		w := ask(t, h, target, func(req *http.Request) { req.RequestURI = target })
		return w.Code, w.Body.String(), w.Header()
	}
	const at = "20260304050607"
	for _, c := range []struct{ url, says, leads string }{
		{"http://a.example/", "moved", "https://a.example/"}, {"https://a.example/", "<p>secure", ""}, {"http://a.example/only", "moved", "https://a.example/only"},
		{"http://a.example/self", "moved", ""}, {"http://a.example/b", "<p>small", ""}, {"http://a.example/B", "<p>large", ""},
	} {
		if status, body, header := get(replay, "/room/get/"+at+"id_/"+c.url); status != 200 || !strings.HasPrefix(body, c.says) || header.Get("X-Orig-Location") != c.leads {
			t.Errorf("replay of %s: %d %s, leads to %q", c.url, status, body, header.Get("X-Orig-Location"))
		}
		if status, body, _ := get(h, "/raw?url="+c.url+"&at="+at); status != 200 || !strings.HasPrefix(body, c.says) {
			t.Errorf("bytes of %s: %d %s", c.url, status, body)
		}
		if status, body, _ := get(h, "/capture?format=json&url="+c.url+"&at="+at); status != 200 || !strings.Contains(body, `{
 "url": "`+c.url+`",`) {
			t.Errorf("page of %s: %d %.300s", c.url, status, body)
		}
	}
	if status, body, _ := get(replay, "/room/get/"+at+"id_/https://a.example/only"); status != 404 || !strings.Contains(body, "only a redirect to it") {
		t.Errorf("a redirect in place of its target: %d %s", status, body)
	}
	if _, body, _ := get(h, "/capture?format=json&url=http://a.example/b&at="+at); !strings.Contains(body, `"later": {
  "url": "http://a.example/b",
  "date": "2026-03-04T06:06:07Z"`) {
		t.Errorf("the later capture: %s", body)
	}
	if _, body, _ := get(h, "/raw?url=http://a.example/b"); body != "<p>small again" {
		t.Errorf("the last capture: %s", body)
	}
}

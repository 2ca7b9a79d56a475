package room_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/room"
)

const token = "a-token-of-this-test"

// TestListen: off loopback a room needs a token, or a proxy that says who reads.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen  string
		readers room.Readers
		says    string // the error; empty: none
	}{
		{"127.0.0.1:8480", room.Readers{}, ""},
		{"127.9.9.9:1", room.Readers{}, ""},
		{"[::1]:8480", room.Readers{}, ""},
		{"localhost:8480", room.Readers{}, ""},
		{":8480", room.Readers{}, "can be reached from other machines"},
		{"0.0.0.0:8480", room.Readers{}, "--token FILE"},
		{"[::]:8480", room.Readers{}, "--trust-proxy HEADER"},
		{"192.0.2.1:8480", room.Readers{}, "127.0.0.1:8480"},
		{"localhost.example:8480", room.Readers{}, "other machines"},
		{":8480", room.Readers{Token: token}, ""},
		{":8480", room.Readers{Token: "short"}, "it needs 16"},
		{":8480", room.Readers{Header: "X-Remote-User"}, ""},
		{":8480", room.Readers{Header: "X Remote"}, "is no name of a header"},
		{":8480", room.Readers{Header: "X-Remote-User", Token: token}, "use one of them"},
	} {
		err := c.readers.Check(c.listen)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %+v: %v", c.listen, c.readers, err)
		}
	}
}

// TestReaders: who may read, of pages, APIs and replay.
func TestReaders(t *testing.T) {
	r := ravens(t)
	header := func(name, value string) func(*http.Request) {
		return func(req *http.Request) { req.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(req *http.Request) { req.Host = name } }
	method := func(m string) func(*http.Request) { return func(req *http.Request) { req.Method = m } }
	none := func(*http.Request) {}
	for _, c := range []struct {
		name    string
		readers room.Readers
		change  func(*http.Request)
		status  int
	}{
		{"this machine", room.Readers{}, none, 200},
		{"localhost", room.Readers{}, host("localhost:8480"), 200},
		{"IPv6", room.Readers{}, host("[::1]:8480"), 200},
		{"a name that another site resolves to this machine", room.Readers{}, host("evil.example:8480"), 403},
		{"a name like an address", room.Readers{}, host("127.0.0.1.evil.example"), 403},
		{"no token", room.Readers{Token: token}, none, 401},
		{"a wrong token", room.Readers{Token: token}, header("Authorization", "Bearer "+token+"x"), 401},
		{"the token in another scheme", room.Readers{Token: token}, header("Authorization", "Basic "+token), 401},
		{"the token", room.Readers{Token: token}, header("Authorization", "Bearer "+token), 200},
		{"the token at any name", room.Readers{Token: token}, func(req *http.Request) { host("room.example")(req); header("Authorization", "Bearer "+token)(req) }, 200},
		{"a cookie that is the token", room.Readers{Token: token}, header("Cookie", "muninn-room="+token), 401},
		{"an empty cookie", room.Readers{Token: token}, header("Cookie", "muninn-room="), 401},
		{"no proxy", room.Readers{Header: "X-Remote-User"}, none, 403},
		{"a proxy that names nobody", room.Readers{Header: "X-Remote-User"}, header("X-Remote-User", " "), 403},
		{"a proxy", room.Readers{Header: "X-Remote-User"}, header("X-Remote-User", "jane"), 200},
		{"a POST", room.Readers{}, method(http.MethodPost), 405},
		{"a DELETE", room.Readers{}, method(http.MethodDelete), 405},
		{"a HEAD", room.Readers{}, method(http.MethodHead), 200},
	} {
		r.read = c.readers
		made, h := r.open(func(conf *room.Config) {
			conf.More = map[string]http.Handler{"/cdx": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("cdx")) })}
		})
		for _, target := range []string{"/", "/search?q=raven", "/capture?" + home, "/raw?" + home, "/style.css", "/cdx?url=x"} {
			w := ask(t, h, target, c.change)
			if w.Code != c.status {
				t.Errorf("%s: %s: %d, want %d", c.name, target, w.Code, c.status)
			}
			if c.status != 200 && strings.Contains(w.Body.String(), "diary") {
				t.Errorf("%s: %s shows a capture", c.name, target)
			}
		}
		if w := ask(t, made.ReplayHandler(), "/room/get/20260304050607id_/http://a.example/", c.change); w.Code != c.status {
			t.Errorf("%s: replay: %d, want %d", c.name, w.Code, c.status)
		}
	}
}

// TestForm: the form of the token sets a cookie that admits, and leads back to a page of the room alone.
func TestForm(t *testing.T) {
	r := ravens(t)
	r.read = room.Readers{Token: token}
	_, h := r.open()
	w := ask(t, h, "/search?q=raven")
	if body := w.Body.String(); w.Code != 401 || !strings.Contains(body, `<input type="hidden" name="next" value="/search?q=raven">`) || !strings.Contains(body, `type="password"`) {
		t.Errorf("%d %s", w.Code, body)
	}
	post := func(token, next string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", strings.NewReader(url.Values{"token": {token}, "next": {next}}.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w
	}
	if w := post("another-token-of-16", "/"); w.Code != 403 || len(w.Result().Cookies()) != 0 || !strings.Contains(w.Body.String(), "This is not the token.") {
		t.Errorf("a wrong token: %d %v", w.Code, w.Header())
	}
	if w := post(strings.Repeat("x", 1<<20), "/"); w.Code != 403 {
		t.Errorf("a large form: %d", w.Code)
	}
	for next, want := range map[string]string{"/search?q=raven": "/search?q=raven", "//evil.example/": "/", "https://evil.example/": "/", `/\evil.example`: "/", "/login": "/", "": "/",
		"/\t/evil.example/": "/", "/\n/evil.example/": "/", "/ /evil.example/": "/", "/\x00/evil.example/": "/", "/\x7f/evil.example/": "/"} {
		w := post(token, next)
		if w.Code != 303 || w.Header().Get("Location") != want {
			t.Errorf("next %q: %d %q", next, w.Code, w.Header().Get("Location"))
		}
	}
	c := post(token, "/").Result().Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || strings.Contains(c[0].Value, token) {
		t.Fatalf("%v", c)
	}
	if w := ask(t, h, "/search?q=raven", func(req *http.Request) { req.AddCookie(c[0]) }); w.Code != 200 {
		t.Errorf("with the cookie: %d", w.Code)
	}
}

// counted counts what is read of a body.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestFormBounded: of what a stranger sends to the form of the token, only the beginning of a form is read, and files are not.
func TestFormBounded(t *testing.T) {
	r := ravens(t)
	r.read = room.Readers{Token: token}
	_, h := r.open()
	const most = 8 << 10
	file := "--b\r\nContent-Disposition: form-data; name=\"next\"; filename=\"f\"\r\n\r\n"
	for _, kind := range []string{"multipart/form-data; boundary=b", "application/x-www-form-urlencoded"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			body := &counted{Reader: strings.NewReader(file + strings.Repeat("x", 1<<20) + "\r\n--b--\r\n")}
			req := httptest.NewRequestWithContext(t.Context(), method, "/login?next=/crawls", body)
			req.Header.Set("Content-Type", kind)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if body.n > most || len(w.Result().Cookies()) != 0 {
				t.Errorf("%s of %s: %d bytes are read, status %d", method, kind, body.n, w.Code)
			}
		}
	}
	if w := ask(t, h, "/login?next=/crawls"); w.Code != 200 || !strings.Contains(w.Body.String(), `name="next" value="/crawls"`) {
		t.Errorf("the form: %d %s", w.Code, w.Body)
	}
}

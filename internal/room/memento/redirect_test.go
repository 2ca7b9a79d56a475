package memento_test

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
)

// follow asks for a path as a client does, which follows redirects, and says where it ends.
func (r *rig) follow(path string) (status int, body, at string) {
	r.t.Helper()
	for range 10 {
		a := r.get(path)
		to := a.Header.Get("Location")
		if to == "" {
			return a.StatusCode, text(r.t, a), path
		}
		path = to
	}
	return 0, "it goes round", path
}

// TestSameKey: of URLs with one key, that which is asked for answers, and redirects between them end.
func TestSameKey(t *testing.T) {
	r := newRig(t)
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	moved := func(from, to string, seconds int) catalogtest.Response {
		return catalogtest.Response{URL: from, Head: "HTTP/1.1 301 Moved\nContent-Type: text/html\nLocation: " + to + "\n", Body: "<p>moved from " + from, Date: at(seconds)}
	}
	r.archive.Segment("a.example-1@w.1",
		moved("http://a.example/", "https://a.example/", 0), catalogtest.Response{URL: "https://a.example/", Body: "<p>secure", Date: at(2)},
		moved("http://a.example/dir", "/dir/", 0), catalogtest.Response{URL: "http://a.example/dir/", Body: "<p>dir", Date: at(1)},
		moved("http://a.example/only", "https://a.example/only", 0),
		moved("http://a.example/self", "/self", 0),
		moved("http://a.example/later", "https://a.example/later", 0), catalogtest.Response{URL: "https://www.a.example/later", Body: "<p>of www", Date: later(100)},
		catalogtest.Response{URL: "http://c.example/a", Body: "<p>small", Date: at(0)}, catalogtest.Response{URL: "http://c.example/A", Body: "<p>large", Date: at(0)},
		catalogtest.Response{URL: "http://c.example/b", Body: "<p>early", Date: at(0)}, catalogtest.Response{URL: "http://c.example/B", Body: "<p>late", Date: at(60)},
	)
	r.fill()
	const none = "there is no capture of this URL, only a redirect to it\n"
	for _, c := range []struct {
		url, body string
		status    int
	}{
		{"http://a.example/", "<p>secure", 200}, {"https://a.example/", "<p>secure", 200}, {"https://A.example", "<p>secure", 200},
		{"http://a.example/dir", "<p>dir", 200}, {"http://a.example/dir/", "<p>dir", 200}, {"https://www.a.example/dir/", "<p>dir", 200},
		{"http://a.example/only", none, 404}, {"https://a.example/only", none, 404},
		{"http://a.example/self", "<p>moved from http://a.example/self", 301},
		{"http://a.example/later", "<p>of www", 200}, {"https://a.example/later", "<p>of www", 200},
		{"http://c.example/A", "<p>large", 200}, {"http://c.example/a", "<p>small", 200},
		{"http://c.example/b", "<p>early", 200}, {"http://c.example/B", "<p>late", 200},
	} {
		for _, path := range []string{"/web/" + epoch.Format("20060102150405") + "id_/" + c.url, "/web/" + c.url, "/web/2026id_/" + c.url} {
			if status, body, end := r.follow(path); status != c.status || body != c.body {
				t.Errorf("%s: %d %q at %s, want %d %q", path, status, body, end, c.status, c.body)
			}
		}
	}
}

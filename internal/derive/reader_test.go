package derive_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/fixture"
)

const ravens = `<!doctype html><html lang="en"><head><title>Ravens</title></head><body><article><h1>Ravens</h1>`

// raven is a page with an article, by the form of its text.
func raven(bird string) string {
	return ravens + strings.Repeat("<p>The "+bird+" flew over the hills, and came back with the news of the day.</p>", 30) + `</article><a href="/next">the next page</a></body></html>`
}

// captures reads the captures of a segment, and their bodies.
func captures(t *testing.T, r *derive.Reader, m archive.Manifest) (list []derive.Capture, bodies []string) {
	t.Helper()
	defer r.Close()
	err := r.Each(t.Context(), m, func(c *derive.Capture) error {
		body, err := c.Body(t.Context())
		if err != nil {
			body = []byte("! " + err.Error())
		}
		list, bodies = append(list, *c), append(bodies, string(body))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, bodies
}

// TestCaptures: what the index, the metadata records and the bodies say of the captures of a segment.
func TestCaptures(t *testing.T) {
	r := newRig(t)
	packed := fixture.Gzip("<p>packed</p>")
	m, recorded := r.segment("b", nil,
		html("http://a.example/1", raven("raven")),
		exchange{url: "http://a.example/packed", mime: "text/html", head: "Content-Encoding: gzip\r\n", body: packed, unparsed: true},
		exchange{url: "http://a.example/chunked", mime: "text/html", head: "Transfer-Encoding: chunked\r\n", body: "5\r\n<p>ab\r\n1\r\nc\r\n0\r\n\r\n", unparsed: true},
		exchange{url: "http://a.example/robots.txt", mime: "text/plain", body: "User-agent: *\n"},
		html("http://a.example/again", raven("raven")),
		html("http://a.example/0-opened", "<script>…</script>").opened("<title>Opened</title><p>what the browser has made</p>"),
		exchange{url: "http://a.example/no", mime: "text/html", status: 404, body: "none"},
	)
	list, bodies := captures(t, &derive.Reader{Store: r.Store, Dir: t.TempDir()}, m)
	if len(list) != 7 {
		t.Fatalf("%d captures", len(list))
	}
	for i, want := range []string{raven("raven"), "<p>packed</p>", "<p>abc", "User-agent: *\n", "! " + derive.ErrRevisit.Error(), "<title>Opened</title><p>what the browser has made</p>", "none"} {
		if bodies[i] != want {
			t.Errorf("%s: %q", list[i].URL, bodies[i])
		}
	}
	c := list[0]
	if c.Crawl != "c" || c.Run != 3 || c.Segment != m.Segment() || c.Title != "Ravens" || c.Language != "en" || c.Via != "http://via.example/" || c.Path != "LL" || c.Score != 0.5 || c.Status != 200 ||
		c.MIME != "text/html" || c.Digest != recorded[0].Digest || !c.HasObjects() || c.Shown || c.Original != nil {
		t.Errorf("%+v", c)
	}
	if again := list[4]; !again.Revisit || again.Original == nil || again.Original.URL != "http://a.example/1" || again.Original.Date.Unix() != epoch.Unix() {
		t.Errorf("%+v", again)
	}
	if !list[5].Shown || list[5].Title != "Opened" || list[6].Status != 404 {
		t.Errorf("%+v %+v", list[5], list[6])
	}
	found := func(string) (string, int64, int64) { return m.WARC.Key, list[0].Offset, list[0].Length }
	if _, bodies = captures(t, &derive.Reader{Store: r.Store, Originals: found}, m); bodies[4] != raven("raven") {
		t.Errorf("the revisit has the body %q", bodies[4])
	}
}

func (x exchange) opened(document string) exchange {
	x.document = document
	return x
}

// TestOtherSegment: the body of a revisit is read of the segment of its original, if that is known.
func TestOtherSegment(t *testing.T) {
	r := newRig(t)
	first, recorded := r.segment("a", nil, html("http://a.example/1", raven("raven")))
	list, _ := captures(t, &derive.Reader{Store: r.Store}, first)
	second, _ := r.segment("b", func(string, string) (v crawl.Visit, ok bool) { return recorded[0].Visit, true }, html("http://a.example/2", raven("raven")))
	reader := &derive.Reader{Store: r.Store, Originals: func(digest string) (string, int64, int64) {
		if digest != recorded[0].Digest {
			t.Errorf("%q is asked for", digest)
		}
		return first.WARC.Key, list[0].Offset, list[0].Length
	}}
	defer reader.Close()
	err := reader.Each(t.Context(), second, func(c *derive.Capture) error {
		objects, err := c.Objects(t.Context(), func(_ archive.WebObject, err error) { t.Error(err) })
		if err != nil || len(objects) != 1 || !strings.Contains(objects[0].Properties.Get("body"), "The raven flew") || !c.Revisit {
			t.Errorf("%+v, %v", objects, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamaged: of an object that is not what the manifest says nothing is derived; the error names it.
func TestDamaged(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")))
	for name, damage := range map[string]func([]byte) []byte{
		"cut off":      func(raw []byte) []byte { return raw[:len(raw)-20] },
		"a byte":       func(raw []byte) []byte { raw[len(raw)/2] ^= 1; return raw },
		"longer":       func(raw []byte) []byte { return append(raw, 0) },
		"empty":        func([]byte) []byte { return nil },
		"another form": func(raw []byte) []byte { return []byte(strings.Repeat("x", len(raw))) },
	} {
		for _, o := range []archive.Stored{m.WARC, m.CDXJ, *m.Objects} {
			file := filepath.Join(r.dir, filepath.FromSlash(o.Key))
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(append([]byte(nil), raw...)), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = r.Segment(t.Context(), at, m.Segment(), derive.Text)
			var damaged *archive.DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), o.Key) {
				t.Errorf("%s of %s: %v", name, o.Key, err)
			}
			if files := r.files("c/derived/text-1"); len(files) > 0 {
				t.Fatalf("%s of %s: %q was derived", name, o.Key, names(files))
			}
			if err := os.WriteFile(file, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, lines := r.derived(m.Segment()); len(lines) != 1 {
		t.Errorf("%+v", lines)
	}
	if err := os.Remove(filepath.Join(r.dir, filepath.FromSlash(m.WARC.Key))); err != nil {
		t.Fatal(err)
	}
	if result, err := r.Segment(t.Context(), at, m.Segment(), derive.Text); err != nil || !result.Known {
		t.Errorf("%+v, %v: what was derived needs its segment no more", result, err)
	}
}

// TestStrays: objects of captures that the index does not have are passed on, and the others stay those of their captures.
func TestStrays(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")), html("http://a.example/2", raven("crow")), html("http://a.example/3", raven("rook")))
	file := filepath.Join(r.dir, filepath.FromSlash(m.CDXJ.Key))
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(raw)) {
		if !strings.Contains(line, "/2\"") {
			kept = append(kept, line)
		}
	}
	m.CDXJ = r.put(m.CDXJ.Key+"x", strings.Join(kept, ""))
	var strays []string
	reader := &derive.Reader{Store: r.Store, Stray: func(o archive.WebObject) error {
		strays = append(strays, o.URL)
		return nil
	}}
	list, _ := captures(t, reader, m)
	if len(list) != 2 || !list[0].HasObjects() || !list[1].HasObjects() || strings.Join(strays, " ") != "http://a.example/2" {
		t.Errorf("%+v, strays %q", list, strays)
	}
}

// TestPlacesOfRecords: an index whose manifest is right, but which names places that no record has, is damaged, and stops nobody.
func TestPlacesOfRecords(t *testing.T) {
	for _, c := range [][2]string{
		{"offset", "-5"}, {"offset", "-9223372036854775808"}, {"offset", "9223372036854775800"}, {"offset", "1000000"},
		{"length", "-1"}, {"length", "0"}, {"length", "9223372036854775800"}, {"length", "1000000"},
	} {
		r := newRig(t)
		m, _ := r.segment("b", nil, html("http://a.example/1", "<p>one"), html("http://a.example/2", "<p>two"))
		r.reindex(&m, func(text string) string {
			return regexp.MustCompile(`"`+c[0]+`":"[0-9]+"`).ReplaceAllString(text, `"`+c[0]+`":"`+c[1]+`"`)
		})
		_, err := r.Segment(t.Context(), at, m.Segment(), derive.Text)
		if damaged := (*archive.DamagedError)(nil); !errors.As(err, &damaged) {
			t.Errorf("%s %s: %v", c[0], c[1], err)
		}
	}
}

// reindex changes the index of a segment, and its manifest, so that they fit.
func (r *rig) reindex(m *archive.Manifest, change func(string) string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(m.CDXJ.Key))
	raw, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	changed := change(string(raw))
	if changed == string(raw) {
		r.t.Fatalf("nothing was changed in %s", raw)
	}
	m.CDXJ.Bytes, m.CDXJ.SHA256 = int64(len(changed)), fmt.Sprintf("%x", sha256.Sum256([]byte(changed)))
	manifest, err := json.Marshal(m)
	if err != nil {
		r.t.Fatal(err)
	}
	key := archive.Layout{Crawl: m.Crawl}.Manifest(m.Segment())
	if err := errors.Join(os.WriteFile(path, []byte(changed), 0o600), os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(key)), manifest, 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

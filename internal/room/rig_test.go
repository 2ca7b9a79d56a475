package room_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search/bleve"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// exchange is a response to archive.
type exchange struct {
	url, mime, head, body string // the head has further fields, with line ends
	status                int
	at                    time.Duration // since epoch
	score                 float64
	title                 string // of the metadata record, in place of the page's
	objects               []crawl.Object
	log                   []archive.Logged
}

// rig is an archive, and the views of it.
type rig struct {
	t     testing.TB
	temp  func() string // makes a folder
	store archive.Store
	views *views.Views
	rules room.Rules
	now   time.Time
	read  room.Readers
	seen  map[string]crawl.Visit // originals by payload digest
	own   bool                   // it ends with its test
}

func newRig(t testing.TB) *rig {
	r := rigIn(t, t.TempDir)
	r.own = true
	return r
}

func rigIn(t testing.TB, temp func() string) *rig {
	t.Helper()
	store, err := archive.OpenDir(temp())
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, temp: temp, store: store, now: epoch.Add(1000 * time.Hour), seen: map[string]crawl.Visit{}}
}

func of(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }

// segment archives exchanges of a crawl.
func (r *rig) segment(name, batch string, run uint32, list ...exchange) {
	r.t.Helper()
	original := func(_, digest string) (crawl.Visit, bool) {
		v, known := r.seen[digest]
		return v, known
	}
	s, err := archive.NewSegment(r.temp(), archive.Label{Crawl: name, Batch: batch, Nonce: "0123456789abcdef", Run: run, Worker: "w"}, epoch, original)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	for _, x := range list {
		for _, l := range x.log {
			if err := s.Log(l); err != nil {
				r.t.Fatal(err)
			}
		}
		if x.url == "" {
			continue
		}
		rec, err := s.Add(x.capture())
		if err != nil {
			r.t.Fatal(err)
		}
		if rec.Original {
			r.seen[rec.Digest] = rec.Visit
		}
	}
	if _, err := s.Commit(r.t.Context(), r.store); err != nil {
		r.t.Fatal(err)
	}
}

func (x exchange) capture() archive.Capture {
	if x.status == 0 {
		x.status = 200
	}
	if x.mime == "" {
		x.mime = "text/html; charset=utf-8"
	}
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\n%s\r\n", x.status, x.mime, x.head)
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: x.url, Started: epoch.Add(x.at), Status: x.status, HeaderBytes: int64(len(head)), MIME: x.mime, IP: "192.0.2.1",
			Path: "SL", Via: "http://via.example/from", Outcome: crawl.Outcome{URL: x.url, Kind: crawl.OutcomeDone, Status: x.status},
		},
		Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + x.body), Header: of(head), Body: of(x.body),
	}
	if x.status != 200 || !strings.HasPrefix(x.mime, "text/html") {
		return c
	}
	d := page.Parse(page.Input{URL: x.url, MIME: x.mime, Body: []byte(x.body)}, page.DefaultLimits())
	c.Page = &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page, Findings: crawl.Findings{Application: "phpBB", Level: "thread", Objects: x.objects}},
		Verdict: crawl.Verdict{Score: x.score, Links: make([]crawl.LinkVerdict, len(d.Links))}}
	if x.title != "" {
		c.Page.Title = x.title
	}
	return c
}

func (r *rig) put(key, text string) {
	r.t.Helper()
	if err := r.store.Put(r.t.Context(), key, strings.NewReader(text), int64(len(text))); err != nil {
		r.t.Fatal(err)
	}
}

// open builds the views, and a room of them.
func (r *rig) open(change ...func(*room.Config)) (*room.Room, http.Handler) {
	r.t.Helper()
	if r.views == nil {
		captures, err := sqlite.Open(r.t.Context(), r.temp())
		if err != nil {
			r.t.Fatal(err)
		}
		index, err := bleve.Open(r.temp())
		if err != nil {
			r.t.Fatal(err)
		}
		if r.own {
			r.t.Cleanup(func() { _, _ = captures.Close(), index.Close() })
		}
		r.views = views.New(views.Config{Archives: []archive.Store{r.store}, Catalogue: captures, Index: index, Derive: true, Dir: r.temp(), Now: func() time.Time { return r.now }})
		if err := r.views.Pass(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		if s := r.views.State(); s.Viewed != s.Segments || len(s.Faults) > 0 {
			r.t.Fatalf("%+v", s)
		}
	}
	conf := room.Config{
		Door: room.NewDoor(r.rules, r.views, r.views.Index, func() time.Time { return r.now }), Crawls: r.views.Crawls, Readers: r.read, State: r.views.State,
		Replay: &room.Replay{Dir: r.temp(), Port: "8481", RoomPort: "8480"},
	}
	conf.Cite = func(of room.Crawl, e *room.Entry) string { return "/cite/" + of.Name + "/" + e.Segment }
	for _, c := range change {
		c(&conf)
	}
	made := room.New(conf)
	return made, made.Handler()
}

// ask asks a handler from this machine.
func ask(t testing.TB, h http.Handler, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	req.Host = "127.0.0.1:8480"
	for _, c := range change {
		c(req)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// The archive of ravens is shared: it takes a second to make one.
var (
	sharedDir string
	shared    *rig
	sharing   sync.Mutex
)

func TestMain(m *testing.M) {
	var err error
	if sharedDir, err = os.MkdirTemp("", "room"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(sharedDir)
	os.Exit(code)
}

// ravens is an archive with captures of each kind, and its views. Tests do not change it.
func ravens(t testing.TB) *rig {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if shared == nil {
		r := rigIn(t, func() string {
			dir, err := os.MkdirTemp(sharedDir, "")
			if err != nil {
				t.Fatal(err)
			}
			return dir
		})
		fillRavens(r)
		r.open()
		shared = r
	}
	mine := *shared
	mine.t = t
	return &mine
}

func fillRavens(r *rig) {
	post := func(title, author, text string) crawl.Object {
		return crawl.Object{Type: "post", Properties: crawl.Properties{{Name: "title", Value: title}, {Name: "author", Value: author}, {Name: "body", Value: text}}, Confidence: 1}
	}
	first := "<title>A raven's diary</title><p>The raven flew over the hills.</p><p>It came back.</p><a href=/second>the second page</a><a href=http://b.example/x>elsewhere</a>"
	r.segment("c", "a.example-1@w.1", 1,
		exchange{url: "http://a.example/", body: first, score: 0.75, objects: []crawl.Object{post("On beaks", "Hugin", "A beak is a tool."), post("On wings", "Munin", "Wings carry.")}},
		exchange{url: "http://a.example/second", body: "<title>Second</title><p>A crow is no raven.</p>", score: 0.25, at: time.Second},
		exchange{url: "http://a.example/old", status: 301, head: "Location: /second\r\nSet-Cookie: a=b\r\n", at: 2 * time.Second},
		exchange{url: "http://a.example/picture.png", mime: "image/png", body: "\x89PNG\r\n\x1a\n", at: 3 * time.Second},
		exchange{log: []archive.Logged{
			{Time: epoch, URL: "http://a.example/private", Kind: "robots", Reason: "robots.txt disallows it"},
			{Time: epoch, URL: "http://a.example/down", Kind: "failed", Reason: "connection refused"},
		}},
	)
	r.segment("c", "a.example-2@w.1", 2,
		exchange{url: "http://a.example/", body: first, score: 0.75, at: 24 * time.Hour},
		exchange{url: "http://a.example/second", body: "<title>Second</title><p>A crow is a raven's cousin.</p>", score: 0.5, at: 40 * 24 * time.Hour},
	)
	r.segment("d", "b.example-1@w.1", 1, exchange{url: "http://b.example/x", body: "<title>Raven elsewhere</title><p>Another raven.</p>", score: 0.9})
	r.put("c/definitions/run-1.json", `{"name":"c","description":"ravens in letters","topic":{"keywords":["raven","crow"]},"seeds":["http://a.example/",{"url":"http://a.example/second"}],"budget":{"pages":10}}`)
	r.put("c/topic/run-1@w.json", `{"terms":[{"text":"raven"},{"text":"corvid"}]}`)
	r.put("c/kb/run-1/a.example@w.xml", `<site name="a.example"/>`)
	r.put("c/reports/run-1-20260304050607.000@w.html", `<!doctype html><title>report</title><p>of c`)
}

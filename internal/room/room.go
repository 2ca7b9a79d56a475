package room

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/selection/desk"
)

// Config is what a room is made of.
type Config struct {
	Door    *Door
	Crawls  func() []Crawl // those that are shown, in the order of their names
	Readers Readers
	Replay  *Replay // nil: there is none
	// Desk has the selections of the archives; nil: there are no pages of them.
	Desk *desk.Desk
	// Deciders says who may decide what is selected; nil: nobody, and the room is read-only.
	Deciders *Deciders
	// State is what the views lack still, for the pages to say; nil: it is not known.
	State func() State
	// More are handlers of other packages below the room, by what the paths begin with that they answer. They get paths as they were sent, of GET and
	// HEAD by readers alone; their captures must come through the Door.
	More map[string]http.Handler
	// Cite is the path of a citation of a capture, which one of More answers; nil: there is none.
	Cite func(of Crawl, e *Entry) string
	// PDF reads PDF files whose texts were not derived; nil: their texts are missing then.
	PDF func(ctx context.Context, file []byte, textBytes int) (page.Paper, error)
	Log *slog.Logger
}

// State is how far the views have come.
type State struct {
	Segments int      `json:"segments"` // of all crawls, without those of batches that were given back
	Viewed   int      `json:"viewed"`   // of them, those that are in the views
	Faults   []string `json:"-"`        // the last ones; they may name closed crawls, files and hosts, and are for the log
}

// Room serves the pages.
type Room struct {
	Config
	tallies tallies
	seats   seats
	secret  [32]byte // of this process: forms that it has not made are refused
}

// New makes a room.
func New(c Config) *Room {
	r := &Room{Config: c, seats: newSeats()}
	_, _ = rand.Read(r.secret[:]) // it never fails
	return r
}

// Bounds of requests.
const (
	maxSeats    = 32               // requests that are worked on at a time
	maxSending  = 512              // answers that are sent at a time beside them
	requestTime = 30 * time.Second // that others wait, and that a page may take
)

//go:embed templates static
var files embed.FS

// Handler is the room's own origin.
func (r *Room) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, show := range map[string]func(*http.Request) (view, error){
		"/{$}": r.start, "/search": r.search, "/capture": r.capture, "/object": r.object, "/calendar": r.calendar, "/compare": r.compare,
		"/host": r.host, "/crawls": r.crawls, "/crawl": r.crawl, "/replay": r.replay,
	} {
		mux.Handle("GET "+pattern, r.page(show))
	}
	if r.Desk != nil {
		for pattern, show := range map[string]func(*http.Request) (view, error){
			"/selections": r.selections, "/selection": r.selection, "/selection/groups": r.groups, "/selection/group": r.group, "/selection/ask": r.ask, "/selection/history": r.history,
		} {
			mux.Handle("GET "+pattern, r.page(show))
		}
		if r.Deciders != nil {
			mux.HandleFunc("POST "+decidePath, r.failing(r.decide))
		}
	}
	mux.HandleFunc("GET /raw", r.failing(r.raw))
	mux.HandleFunc("GET /file", r.failing(r.file))
	for _, name := range []string{"style.css", "room.js"} {
		mux.HandleFunc("GET /"+name, static(name))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		r.fail(w, req, &statusError{http.StatusNotFound, "there is no such page"})
	})
	return r.guard(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for prefix, h := range r.More {
			if strings.HasPrefix(req.URL.Path, prefix) {
				h.ServeHTTP(w, req)
				return
			}
		}
		mux.ServeHTTP(w, req)
	}), true)
}

// static serves a file of the room.
func static(name string) http.HandlerFunc {
	raw, err := files.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	kind := "text/css; charset=utf-8"
	if strings.HasSuffix(name, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(raw)
	}
}

// policy is the Content-Security-Policy of pages; frame is the origin that a page has a frame of.
func policy(frame string) string {
	p := "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if frame != "" {
		p += "; script-src 'self'; connect-src 'self'; frame-src " + frame
	}
	return p
}

// sealed is the policy of what comes out of the archive as it is: it is in an origin of its own, and loads and runs nothing.
const sealed = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard lets readers through, and sets what all answers have. own says that next is the room's origin, not that of replay.
func (r *Room) guard(next http.Handler, own bool) http.Handler {
	fail := r.fail
	if !own {
		fail = failPlain
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if own {
			h.Set("Content-Security-Policy", policy(""))
			h.Set("X-Frame-Options", "DENY")
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
		}
		if own && req.URL.Path == "/login" && r.Readers.Token != "" {
			r.login(w, req)
			return
		}
		decides := own && r.Deciders != nil && req.Method == http.MethodPost && req.URL.Path == decidePath
		if !decides && req.Method != http.MethodGet && req.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			fail(w, req, &statusError{http.StatusMethodNotAllowed, "the room is for reading: GET and HEAD"})
			return
		}
		if ok, why := r.Readers.admits(req); !ok {
			r.refuse(w, req, why, own)
			return
		}
		waiting, cancel := context.WithTimeout(req.Context(), requestTime)
		defer cancel()
		seat := r.seats.take(waiting, w)
		if seat == nil {
			fail(w, req, &statusError{http.StatusServiceUnavailable, "too many readers: try again"})
			return
		}
		defer seat.leave()
		next.ServeHTTP(seat, req)
	})
}

func (r *Room) refuse(w http.ResponseWriter, req *http.Request, why string, own bool) {
	status := http.StatusForbidden
	if r.Readers.Token != "" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="reading room"`)
	}
	if !own {
		failPlain(w, req, &statusError{status, why})
		return
	}
	if r.Readers.Token == "" || asJSON(req) {
		r.fail(w, req, &statusError{status, why})
		return
	}
	r.write(w, req, status, view{Name: "login", Title: "Token", Data: loginPage{Next: localPath(req.URL.RequestURI())}})
}

type loginPage struct {
	Next  string `json:"next"`
	Wrong bool   `json:"wrong"`
}

// localPath is a path on this server, for a redirect. Browsers take blanks and controls out of URLs, which makes //HOST of others.
func localPath(p string) string {
	blank := func(c rune) bool { return c <= ' ' || c == 0x7f }
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.Contains(p, "\\") || strings.ContainsFunc(p, blank) || strings.HasPrefix(p, "/login") {
		return "/"
	}
	return p
}

func (r *Room) login(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		r.write(w, req, http.StatusOK, view{Name: "login", Title: "Token", Data: loginPage{Next: localPath(req.URL.Query().Get("next"))}})
		return
	}
	sent := form(w, req, maxForm)
	next := localPath(sent.Get("next"))
	if r.Readers.login(w, req, sent.Get("token")) {
		http.Redirect(w, req, next, http.StatusSeeOther)
		return
	}
	r.write(w, req, http.StatusForbidden, view{Name: "login", Title: "Token", Data: loginPage{next, true}})
}

// crawlNamed is a crawl that readers may see something of.
func (r *Room) crawlNamed(name string) (Crawl, error) {
	if some, _ := r.Door.Crawl(name); some {
		list := r.Crawls()
		if at := slices.IndexFunc(list, func(c Crawl) bool { return c.Name == name }); at >= 0 {
			return list[at], nil
		}
	}
	return Crawl{}, missing("there is no crawl %q here", oneLine(name, titleBytes))
}

var errEnough = errors.New("enough")

func unlessEnough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

package room

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Replay is an origin of its own, in which ReplayWeb.page's service worker shows captures with their scripts. The files of ReplayWeb.page are
// served as they are. The worker asks this origin for one capture after the other (its collections of type "live" with a prefix), so that
// no archive is loaded.
type Replay struct {
	// Dir has the files of ReplayWeb.page, of which sw.js is served.
	Dir string
	// Origin is where readers reach it: scheme, host and port. Empty: at Port of the host that they ask, over HTTP. It must be another origin than
	// the room's.
	Origin string
	Port   string
	// Room is the origin of the room, whose pages may have a frame of this one, and RoomPort in place of it its port, in the same way.
	Room     string
	RoomPort string
}

// origin is the one at a port of the host that a request asks; empty if its name is odd.
func origin(fixed, port string, req *http.Request) string {
	if fixed != "" {
		return strings.TrimSuffix(fixed, "/")
	}
	host := req.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if !plainHost.MatchString(host) {
		return ""
	}
	return "http://" + net.JoinHostPort(host, port)
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:-]{1,253}$`)

// Check finds what is wrong with the folder.
func (p *Replay) Check() error {
	if _, err := os.Stat(filepath.Join(p.Dir, "sw.js")); err != nil {
		return fmt.Errorf("%s holds no ReplayWeb.page (`make replay` fetches it): %w", p.Dir, err)
	}
	return nil
}

type replayPage struct {
	Link
	Run     uint32 `json:"run,omitempty"`
	Title   string `json:"title,omitempty"`
	Frame   string `json:"frame"`
	Origin  string `json:"-"` // of the frame
	Address string `json:"address"`
	Days    string `json:"calendar"`
}

// replay is the page with the banner: it is of the room's origin, so that no script of an archived page reaches it.
func (r *Room) replay(req *http.Request) (view, error) {
	if r.Replay == nil {
		return view{}, missing("replay is not set up: start the server with --replay DIR")
	}
	v := req.URL.Query()
	e, err := r.find(req.Context(), v.Get("url"), v.Get("at"), v.Get("crawl"))
	if err != nil {
		return view{}, err
	}
	at := e.Date.UTC().Format(stamp)
	p := replayPage{Link: e.link(), Run: e.Run, Title: titled(e.Title, e.URL), Address: e.link().capture(), Days: address("/calendar", "url", e.URL)}
	from := origin(r.Replay.Origin, r.Replay.Port, req)
	if from == "" {
		return view{}, wrong("the name of the host is odd")
	}
	p.Origin = from
	p.Frame = from + address("/room/frame", "url", e.URL, "at", at)
	return view{Name: "replay", Title: "Replay: " + p.Title, Data: p, Frame: from}, nil
}

// Paths of the replay origin. All have two parts: the worker takes those with one part for files of its own.
const (
	framePath  = "/room/frame"
	scriptPath = "/room/frame.js"
	getPath    = "/room/get/"
	workerPath = "/sw.js"
)

// framePolicy is that of the page that starts the worker and has a frame with the archived page.
const framePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; frame-src 'self'; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "

// ReplayHandler is the origin of replay.
func (r *Room) ReplayHandler() http.Handler {
	script, worker := static("frame.js"), filepath.Join(r.Replay.Dir, "sw.js")
	page, err := files.ReadFile("static/frame.html")
	if err != nil {
		panic(err) // it is compiled in
	}
	return r.guard(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Security-Policy", sealed)
		switch {
		case strings.HasPrefix(req.URL.Path, getPath):
			if err := r.get(w, req); err != nil {
				failPlain(w, req, err)
			}
		case req.URL.Path == framePath:
			w.Header().Set("Content-Security-Policy", framePolicy+origin(r.Replay.Room, r.Replay.RoomPort, req))
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page)
		case req.URL.Path == scriptPath:
			script(w, req)
		case req.URL.Path == "/room/style.css":
			static("style.css")(w, req)
		case req.URL.Path == workerPath:
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			w.Header().Del("Content-Security-Policy")
			http.ServeFile(w, req, worker)
		default: // the worker is not in control, or the page is not in the archive
			failPlain(w, req, missing("this is the origin of replay: begin at a capture in the reading room"))
		}
	}), false)
}

// asked is TIMESTAMPid_/URL, or URL.
var asked = regexp.MustCompile(`^(?:(\d{4,14})(?:[a-z]{2}_)?/)?(https?:.+)$`)

// passed are the fields of archived headers that go to the worker. Others could change what the browser does with this origin: cookies, policies,
// caches.
var passed = []string{"Content-Type", "Content-Language", "Last-Modified", "Content-Disposition"}

// get answers the worker: the capture of a URL that is nearest to a time, with the status and the Location of its response in fields of their own.
func (r *Room) get(w http.ResponseWriter, req *http.Request) error {
	// A worker that a page registers would be an archived script with the power over this origin; documents and scripts are given by the worker alone.
	if to := req.Header.Get("Sec-Fetch-Dest"); to != "" && to != "empty" || req.Header.Get("Service-Worker") != "" {
		return &statusError{http.StatusForbidden, "this is for the service worker of replay"}
	}
	parts := asked.FindStringSubmatch(strings.TrimPrefix(req.RequestURI, getPath))
	if parts == nil {
		return wrong("write TIMESTAMPid_/URL")
	}
	address, _, _ := strings.Cut(parts[2], "#")
	if !strings.Contains(address, "://") { // a proxy has made one slash of two
		address = strings.Replace(address, ":/", "://", 1)
	}
	e, err := r.find(req.Context(), address, parts[1][:len(parts[1])&^1], "")
	if err != nil {
		return err
	}
	o, err := r.original(req.Context(), e)
	if err != nil {
		return err
	}
	return r.answer(req.Context(), &o, func(a *http.Response) error {
		h, leads := w.Header(), leadsTo(e.URL, a)
		own := a.StatusCode >= 300 && a.StatusCode <= 399 && urls.Same(leads, address)
		if own && !urls.Same(e.URL, address) {
			return missing("there is no capture of %s here, only a redirect to it", oneLine(address, urlBytes))
		}
		for _, name := range passed {
			if v := a.Header.Get(name); v != "" {
				h.Set(name, v)
			}
		}
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", "application/octet-stream")
		}
		h.Set("Memento-Datetime", e.Date.UTC().Format(http.TimeFormat))
		h.Set("X-Orig-Ts", e.Date.UTC().Format(stamp))
		if a.StatusCode != http.StatusOK {
			h.Set("X-Redirect-Status", fmt.Sprint(a.StatusCode))
			h.Set("X-Redirect-Statustext", http.StatusText(a.StatusCode))
		}
		if leads != "" && !own { // a page that leads to itself would be asked for again and again
			h.Set("X-Orig-Location", leads)
		}
		w.WriteHeader(http.StatusOK)
		_, err := io.Copy(w, a.Body)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && r.Log != nil && req.Context().Err() == nil {
			r.Log.Debug("replay", "url", e.URL, "error", err)
		}
		return nil
	})
}

// leadsTo is the URL that a response of a page sends readers to; empty if there is none.
func leadsTo(page string, a *http.Response) string {
	to := a.Header.Get("Location")
	base, err := urls.NewResolver(page)
	if to == "" || err != nil {
		return ""
	}
	u, err := base.Resolve(to)
	if err != nil {
		return ""
	}
	return u.String()
}

package memento

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The paths that the handler answers.
const (
	Prefix = "/web/"  // /web/URL, /web/TIMESTAMPid_/URL, /web/timemap/FORMAT/URL
	Cite   = "/cite/" // /cite/SEGMENT/OFFSET with the crawl before: /cite/CRAWL/SEGMENT/OFFSET
)

// Options are what may differ between places where captures are served.
type Options struct {
	// Base is what the URLs in answers begin with, without a slash at its end: https://archive.example. Empty: the host that was asked, by http or https as it was
	// asked.
	Base string
	// Page, if it is not nil, answers /web/TIMESTAMP/URL, without id_: captures as people see them. nil: they are sent to the raw capture.
	Page http.Handler
}

// Store is the part of archive.Store that is read.
type Store interface {
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
}

type server struct {
	catalogue catalogue.Catalogue
	store     Store
	Options
}

// New serves the captures of a catalogue whose records are in a store, under Prefix and Cite. It must get paths as they were sent: http.ServeMux
// takes one of the slashes of http:// out and redirects, which is understood, but changes URLs that have two slashes elsewhere.
func New(c catalogue.Catalogue, store Store, o Options) http.Handler {
	o.Base = strings.TrimSuffix(o.Base, "/")
	return &server{c, store, o}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "the method is neither GET nor HEAD")
		return
	}
	if r.Header.Get("Service-Worker") != "" { // an archived script must never answer for this origin
		say(w, http.StatusForbidden, "archived scripts are no service workers here")
		return
	}
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, Cite); ok {
		s.cite(w, r, rest)
		return
	}
	rest, ok := strings.CutPrefix(path, Prefix)
	if !ok || rest == "" {
		say(w, http.StatusNotFound, "there is nothing here: ask for "+Prefix+"URL")
		return
	}
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		rest += "?" + r.URL.RawQuery
	}
	if rest, ok := strings.CutPrefix(rest, "timemap/"); ok {
		s.timeMap(w, r, rest)
		return
	}
	if at := stamped.FindStringSubmatch(rest); at != nil {
		s.dated(w, r, at[1], at[2], rest[len(at[0]):])
		return
	}
	s.timeGate(w, r, rest)
}

// stamped is a time before a URL, and how the capture is wanted.
var stamped = regexp.MustCompile(`^(\d{4,14})([a-z]{2}_)?/`)

// raw is the mark of a capture as it came.
const raw = "id_"

// guard sets what keeps an archived text from doing anything in a browser.
func guard(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Referrer-Policy", "no-referrer")
}

func say(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, message)
}

// failed says why there is no answer: what is wrong with a query, or else only that it failed, because errors name files and hosts.
func failed(w http.ResponseWriter, err error) {
	var wrong *catalogue.QueryError
	if errors.As(err, &wrong) {
		say(w, http.StatusBadRequest, wrong.Error())
		return
	}
	say(w, http.StatusServiceUnavailable, "the archive cannot be read")
}

// oneSlash is a scheme whose second slash was taken out on the way.
var oneSlash = regexp.MustCompile(`^(https?):/([^/])`)

func slashes(text string) string { return oneSlash.ReplaceAllString(text, "$1://$2") }

// target is the URL that a path asks for.
func target(text string) (urls.URL, error) {
	text = slashes(text)
	scheme, rest := catalogue.SplitScheme(text)
	u, err := urls.Parse(scheme + rest)
	if err != nil {
		return u, &catalogue.QueryError{Field: "the URL", Fault: "cannot be read: " + err.Error()}
	}
	return u, nil
}

// nearest is the capture that answers for a URL at a time, without a time the last one; false if there is none.
func (s *server) nearest(ctx context.Context, url string, at time.Time) (e catalogue.Entry, ok bool, err error) {
	q := catalogue.Query{URL: url, Sort: catalogue.Reverse}
	if !at.IsZero() {
		q.Sort, q.Closest = catalogue.Closest, at
	}
	err = catalogue.Nearest(ctx, s.catalogue, q, func(found catalogue.Entry) error {
		e, ok = found, true
		return errFound
	})
	if ok {
		err = nil
	}
	return e, ok, err
}

// end is the first or the last capture of a URL.
func (s *server) end(ctx context.Context, url string, order catalogue.Sort) (e catalogue.Entry, ok bool, err error) {
	err = s.catalogue.Query(ctx, catalogue.Query{URL: url, Sort: order, Limit: 1}, func(found catalogue.Entry) error {
		e, ok = found, true
		return nil
	})
	return e, ok, err
}

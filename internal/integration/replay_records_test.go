package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browsertest"
)

// recorded is a record of an archive.
type recorded struct {
	archive.Indexed
	warc string
}

// records is an HTTP proxy that answers with the records of an archive, for one time: a browser behind it shows pages as they came, at their own URLs. It reads
// CDXJ and WARC objects itself, so that it has nothing in common with the reading room but the reader of records.
type records struct {
	store archive.Store
	byURL map[string][]recorded // in canonical form, in the order of the crawls

	mu     sync.Mutex
	at     time.Time
	absent map[string]bool // URLs that it was asked for and does not have
}

func readRecords(t *testing.T, store archive.Store) *records {
	t.Helper()
	r := &records{store: store, byURL: map[string][]recorded{}, absent: map[string]bool{}}
	crawls, err := archive.Crawls(t.Context(), store)
	if err != nil || len(crawls) == 0 {
		t.Fatalf("%s: %d crawls, %v", store, len(crawls), err)
	}
	for _, c := range crawls {
		err := archive.Manifests(t.Context(), store, c.Prefix, c.Name, func(m archive.Manifest) error {
			return archive.ReadIndexOf(t.Context(), store, &m, func(i archive.Indexed) error {
				u := browsertest.Canonical(i.URL)
				r.byURL[u] = append(r.byURL[u], recorded{i, m.WARC.Key})
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// nearest is the capture of a URL that is nearest to a time; of two that are as far the earlier one.
func (r *records) nearest(url string, at time.Time) (best recorded, ok bool) {
	for _, e := range r.byURL[browsertest.Canonical(url)] {
		far, than := e.Date.Sub(at).Abs(), best.Date.Sub(at).Abs()
		if !ok || far < than || far == than && e.Date.Before(best.Date) {
			best, ok = e, true
		}
	}
	return best, ok
}

// read reads a record.
func (r *records) read(ctx context.Context, e recorded, fn func(archive.Captured) error) error {
	from, err := r.store.GetRange(ctx, e.warc, e.Offset, e.Length)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	return archive.ReadRecords(from, func(c archive.Captured) (bool, error) { return false, fn(c) })
}

// original is the capture that a revisit says it refers to.
func (r *records) original(ctx context.Context, e recorded) (recorded, error) {
	if !e.Revisit {
		return e, nil
	}
	var to archive.Captured
	if err := r.read(ctx, e, func(c archive.Captured) error { to = c; return nil }); err != nil {
		return e, err
	}
	for _, o := range r.byURL[browsertest.Canonical(to.RefersTo)] {
		if !o.Revisit && o.Date.Unix() == to.RefersToDate.Unix() {
			return o, nil
		}
	}
	return e, fmt.Errorf("the archive has no capture of %s at %v, which the revisit %s refers to", to.RefersTo, to.RefersToDate, e.URL)
}

// begin says of which time it answers.
func (r *records) begin(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
}

// passedOver are fields of archived responses that are not of the body that is sent.
var passedOver = []string{"Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive"}

func (r *records) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	at := r.at
	r.mu.Unlock()
	e, ok := r.nearest(req.RequestURI, at)
	if !ok || req.Method != http.MethodGet {
		r.mu.Lock()
		r.absent[req.Method+" "+req.RequestURI] = true
		r.mu.Unlock()
		http.Error(w, "it is not archived", http.StatusNotFound)
		return
	}
	if e, err := r.original(req.Context(), e); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	} else if err := r.read(req.Context(), e, func(c archive.Captured) error { return replyWith(w, c) }); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func replyWith(w http.ResponseWriter, c archive.Captured) error {
	a, err := c.Answer()
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	for _, name := range passedOver {
		w.Header().Del(name)
	}
	w.WriteHeader(a.StatusCode)
	_, err = io.Copy(w, a.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) { // an archived body may be cut off
		return nil
	}
	return err
}

// gatekeeper is an HTTP proxy that leads to some hosts alone. What is asked for elsewhere gets no answer, and is counted.
type gatekeeper struct {
	to http.Handler // for the hosts below
	// hosts are HOST:PORT.
	hosts map[string]bool

	mu      sync.Mutex
	passed  int
	own     int      // that the browser makes for itself
	outside []string // method and URL
}

// ownHosts are those that Chromium asks for updates of itself, whatever it shows.
var ownHosts = []string{"update.googleapis.com", "update.googleapis.com:443", "clients2.google.com", "accounts.google.com:443"}

func (g *gatekeeper) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	in := req.Method != http.MethodConnect && g.hosts[req.URL.Host]
	g.mu.Lock()
	switch {
	case in:
		g.passed++
	case slices.Contains(ownHosts, req.URL.Host):
		g.own++
	default:
		g.outside = append(g.outside, req.Method+" "+req.RequestURI)
	}
	g.mu.Unlock()
	if !in {
		http.Error(w, "it is outside", http.StatusBadGateway)
		return
	}
	g.to.ServeHTTP(w, req)
}

// check checks that it sees what a browser asks for outside.
func (g *gatekeeper) check(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	const outside = "http://outside.example/"
	_, err := b.Open(outside)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.outside, "GET "+outside) {
		t.Fatalf("a request for %s does not come to the proxy: %q, %v", outside, g.outside, err)
	}
	g.outside = nil
}

package webworld

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options choose a world. The zero value is the demo-sized world of seed 0 on a free port.
type Options struct {
	Seed    uint64
	FirstIP netip.Addr    // of the first site; default 127.77.0.1
	Port    int           // on every IP; 0 picks a free one
	Latency time.Duration // between a request and the first byte of its response; default none
	Trace   bool          // keep each request, for World.Trace
	Scale   int           // multiplies the demo's articles, topics and recipes; 1 (the default) is about 250 pages
}

// WithDefaults replaces zero values by their defaults.
func (o Options) WithDefaults() Options {
	if !o.FirstIP.IsValid() {
		o.FirstIP = netip.AddrFrom4([4]byte{127, 77, 0, 1})
	}
	o.Scale = max(o.Scale, 1)
	return o
}

// Page is the ground truth of one URL that can be reached from the seeds through allowed pages.
type Page struct {
	URL      string
	Host     string // without the port
	Kind     string // what it is: post, topic, article, list, profile, feed, redirect, missing, image, trap, fault …
	Relevant bool   // to World.Topic
	Allowed  bool   // by robots.txt; a disallowed page is listed because an allowed one links to it
	Status   int    // of the answer to a first, unconditional GET; 0 if it is no complete HTTP response
	Depth    int    // links from the nearest seed; 0 in a bench world
	Embed    bool   // an image, stylesheet, script or icon; frames are pages
	NoFollow bool   // every way to it passes a rel=nofollow link
	Location string // absolute target if it is a redirect
	SameAs   string // URL of the page with the identical body, if this one is its duplicate
	Endless  bool   // the door to a trap or to 100,000 404s: what it links to is not listed
}

// World is a set of sites and their measured traffic. Methods other than Start and Close may be called
// at any time after Start; before it they return zero values.
type World struct {
	opts    Options
	plan    []Site       // without what building adds
	latency atomic.Int64 // a time.Duration
	build   func(*Builder)
	rec     *recorder
	server  *http.Server
	stop    context.CancelFunc
	done    sync.WaitGroup

	port  int
	sites map[string]*Host
	order []*Host
	seeds []string
	topic []string
	pages func() []Page
}

// New is a world of the sites of a plan; build writes their pages once the port is known.
func New(o Options, plan []Site, build func(*Builder)) *World {
	w := &World{opts: o.WithDefaults(), plan: plan, build: build, rec: newRecorder(time.Now)}
	w.rec.tracing = o.Trace
	w.SetLatency(o.Latency)
	return w
}

// SetLatency changes Options.Latency for later requests, so that a test can stop a crawl in its middle, however slow the machine
// is.
func (w *World) SetLatency(d time.Duration) { w.latency.Store(int64(d)) }

// Build writes the sites without serving them, as if they were at port 80; a world is built or started, not both.
func (w *World) Build() error {
	b, err := NewBuilder(w.opts, 80, w.plan)
	if err != nil {
		return fmt.Errorf("build web world: %w", err)
	}
	return w.built(b)
}

func (w *World) built(b *Builder) error {
	w.build(b)
	if b.Err != nil {
		return fmt.Errorf("build web world: %w", b.Err)
	}
	w.port, w.sites, w.order, w.seeds, w.topic = b.Port, b.ByName, b.Hosts, b.Seeds, b.Topic
	w.pages = sync.OnceValue(b.Truth)
	for _, s := range w.order {
		w.rec.know(s)
	}
	return nil
}

// Answer is the answer to a first, unconditional GET of a URL; false outside of the world. It does not work for robots.txt and
// for hosts that do not speak HTTP. It reads the bodies in memory, and is not counted.
func (w *World) Answer(rawURL string) (status int, header http.Header, body []byte, found bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return 0, nil, nil, false
	}
	s := w.sites[u.Hostname()]
	if s == nil {
		return 0, nil, nil, false
	}
	res := s.Find(u)
	if res == nil {
		res = s.Missing(u.RequestURI())
	}
	if res.Raw != nil {
		return 0, nil, nil, false
	}
	return res.Status, res.Header.Clone(), Join(res.Body), true
}

// Start binds all addresses, writes the sites and serves them until Close or until ctx ends.
func (w *World) Start(ctx context.Context) error {
	if w.server != nil {
		return errors.New("start web world: already started")
	}
	listeners, port, err := listenAll(ctx, addresses(w.plan), w.opts.Port)
	if err != nil {
		return fmt.Errorf("start web world: %w", err)
	}
	b, err := NewBuilder(w.opts, port, w.plan)
	if err != nil {
		closeAll(listeners)
		return fmt.Errorf("build web world: %w", err)
	}
	if err := w.built(b); err != nil {
		closeAll(listeners)
		return err
	}
	ctx, w.stop = context.WithCancel(ctx)
	w.serve(ctx, listeners)
	return nil
}

func (w *World) serve(ctx context.Context, listeners []net.Listener) {
	w.server = &http.Server{
		Handler:           &handler{sites: w.sites, rec: w.rec, latency: &w.latency},
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConn,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	context.AfterFunc(ctx, func() { w.server.Close() })
	for _, l := range listeners {
		w.done.Go(func() { _ = w.server.Serve(&countingListener{Listener: l, rec: w.rec}) })
	}
}

// Close cuts all connections and frees the addresses. Stats stay readable.
func (w *World) Close() error {
	if w.server == nil {
		return nil
	}
	w.stop()
	err := w.server.Close()
	w.rec.closeConns()
	w.done.Wait()
	return err
}

// Port is the port of every site.
func (w *World) Port() int { return w.port }

// Seeds are the URLs at which crawls start.
func (w *World) Seeds() []string { return slices.Clone(w.seeds) }

// Forbidden is a URL of the demo world that robots.txt disallows.
func (w *World) Forbidden() string {
	return fmt.Sprintf("http://%s:%d/private/fates.html", archiveHost, w.port)
}

// Topic is the list of keywords that relevant pages are about; empty in a world of faults.
func (w *World) Topic() []string { return slices.Clone(w.topic) }

// Resolve maps each host to its IP.
func (w *World) Resolve() map[string]netip.Addr {
	m := make(map[string]netip.Addr, len(w.order))
	for _, s := range w.order {
		m[s.Host] = s.IP
	}
	return m
}

// Sites lists the hosts in the order of their making.
func (w *World) Sites() []Site {
	list := make([]Site, len(w.order))
	for i, s := range w.order {
		list[i] = s.Site
	}
	return list
}

// Host is what a host of the world serves; nil if there is none.
func (w *World) Host(name string) *Host { return w.sites[name] }

// Pages lists every page that can be reached from the seeds and is not inside a trap, by URL.
func (w *World) Pages() []Page {
	if w.pages == nil {
		return nil
	}
	return slices.Clone(w.pages())
}

// PageOf finds the ground truth of a requested URL. Session ids, the order of parameters and their escaping
// do not matter. It also knows the pages inside traps, and returns 404 pages for unknown paths; it is false for
// hosts outside the world. Depth, Embed and NoFollow are not set; Pages has them.
func (w *World) PageOf(rawURL string) (Page, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Page{}, false
	}
	return lookup(w.sites, u)
}

// Stats is what the servers have measured so far.
func (w *World) Stats() Stats { return w.rec.snapshot() }

// ByURL compares pages by URL, for sorting.
func ByURL(a, b Page) int { return cmp.Compare(a.URL, b.URL) }

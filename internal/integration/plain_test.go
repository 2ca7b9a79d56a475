package integration

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/worker"
)

// plainWeb serves names at loopback addresses, all by one handler, and notes each request as it begins and ends.
type plainWeb struct {
	port string
	mu   sync.Mutex
	log  []plainRequest
	open map[string]int // requests in progress, by address
	peak map[string]int
}

// plainRequest is a request for something else than robots.txt.
type plainRequest struct {
	host, path, ip string
	start, end     time.Time
}

// servePlain serves at these addresses, on one port, until the test's end. No host has a robots.txt or an icon.
func servePlain(t *testing.T, answer http.HandlerFunc, ips ...string) *plainWeb {
	t.Helper()
	w := &plainWeb{open: map[string]int{}, peak: map[string]int{}, port: "0"}
	for _, ip := range ips {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(ip, w.port))
		if err != nil {
			t.Fatal(err)
		}
		_, w.port, _ = net.SplitHostPort(ln.Addr().String())
		server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.serve(rw, r, ip, answer) }), ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(ln) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	return w
}

func (w *plainWeb) serve(rw http.ResponseWriter, r *http.Request, ip string, answer http.HandlerFunc) {
	host, _, _ := net.SplitHostPort(r.Host)
	x := plainRequest{host: host, path: r.URL.Path, ip: ip, start: time.Now()}
	w.mu.Lock()
	w.open[ip]++
	w.peak[ip] = max(w.peak[ip], w.open[ip])
	w.mu.Unlock()
	if r.URL.Path == "/robots.txt" || r.URL.Path == crawl.IconPath {
		http.NotFound(rw, r)
	} else {
		answer(rw, r)
	}
	x.end = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[ip]--
	if r.URL.Path != "/robots.txt" {
		w.log = append(w.log, x)
	}
}

// requests are those that have ended, in the order of their ends.
func (w *plainWeb) requests() []plainRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]plainRequest(nil), w.log...)
}

// config is that of a worker by which names lie at addresses.
func (w *plainWeb) config(t *testing.T, server *Server, resolve map[string]string) worker.Config {
	t.Helper()
	conf := Config(server, &webworld.World{}, t.TempDir())
	conf.Resolve = resolve
	return conf
}

// definition is a crawl of seeds, "host/path", and what they link to on their hosts.
func (w *plainWeb) definition(name string, seeds ...string) crawl.Definition {
	d := Definition(name, &webworld.World{})
	for _, seed := range seeds {
		host, path, _ := strings.Cut(seed, "/")
		d.Seeds = append(d.Seeds, crawl.Seed{URL: "http://" + host + ":" + w.port + "/" + path})
	}
	d.Topic.Keywords = []string{"raven"}
	return d
}

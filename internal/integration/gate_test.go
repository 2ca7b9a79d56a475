package integration

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// gate is a proxy of an S3 server that can stop the put of a manifest, before or after it.
type gate struct {
	proxy *httputil.ReverseProxy
	stop  atomic.Pointer[gateStop]
}

// gateStop is the stop of the next put of a manifest.
type gateStop struct {
	reached chan struct{}
	after   bool // the server has the manifest, and its client has no answer
}

// newGate serves a proxy of an endpoint until the test's end, at an endpoint of its own.
func newGate(t *testing.T, endpoint string) (g *gate, own string) {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	g = &gate{proxy: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // which is signed
		},
		Transport:    &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if the server were away
	}}
	ln, err := net.Listen("tcp", ownAddress())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close() })
	return g, "http://" + ln.Addr().String()
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stop := g.stop.Load()
	if stop == nil || r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/segments/") || !g.stop.CompareAndSwap(stop, nil) {
		g.proxy.ServeHTTP(w, r)
		return
	}
	if stop.after {
		g.proxy.ServeHTTP(httptest.NewRecorder(), r)
	} else {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	close(stop.reached)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

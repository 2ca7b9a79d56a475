package webworld

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// A client that keeps all rules leaves a clean record.
func TestStatsOfAGoodClient(t *testing.T) {
	t.Parallel()
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.10.1")}))
	c := client(w)
	base := w.sites[archiveHost].base
	const wait = 15 * time.Millisecond
	get(t, c, base+"/robots.txt")
	for _, path := range []string{"/", "/public/well.html", "/scan.pdf?page=2"} {
		<-time.After(wait) // the gap is what is measured
		get(t, c, base+path)
	}
	s := w.Stats()
	if len(s.Disallowed)+len(s.RobotsLate)+len(s.Strangers)+s.Cut+len(s.Repeated()) != 0 {
		t.Errorf("a good client is accused: %+v", s)
	}
	if s.Requests != 4 || s.Robots != 1 || s.Requested() != 3 || s.Hosts[archiveHost] != 4 || s.ByStatus[200] != 4 {
		t.Errorf("miscounted: %+v", s)
	}
	if s.PeakRequests != 1 || s.PeakConnections != 1 || s.Connections != 1 {
		t.Errorf("peaks %d and %d over %d connections", s.PeakRequests, s.PeakConnections, s.Connections)
	}
	if s.MinGap == nil || s.MinGap.Pause < wait || s.MinPageGap.Pause < wait || s.MinPageGap.From != base+"/" && s.MinPageGap.To != base+"/scan.pdf?page=2" {
		t.Errorf("gaps %+v, %+v; want at least %v", s.MinGap, s.MinPageGap, wait)
	}
	if gap := s.HostGaps[archiveHost]; gap < wait || gap > time.Minute || len(s.HostGaps) != 1 {
		t.Errorf("gaps by host %v, want at least %v", s.HostGaps, wait)
	}
	if s.PerIP[w.Resolve()[archiveHost]].Requests != 4 {
		t.Error("not counted on its IP")
	}
}

// Requests one after the other, as fast as can be, with a new connection each, must not look concurrent.
func TestSequentialIsNotConcurrent(t *testing.T) {
	t.Parallel()
	w := started(t, NewBench(Options{FirstIP: netip.MustParseAddr("127.78.11.1")}, 1, 40))
	pages := w.Pages()
	const n = 300
	for i := range n {
		alone(t, w, pages[i%len(pages)].URL)
	}
	s := w.Stats()
	if s.PeakRequests != 1 || s.PeakConnections != 1 || s.Connections != n {
		t.Errorf("peak of %d requests and %d connections over %d", s.PeakRequests, s.PeakConnections, s.Connections)
	}
}

// alone gets a URL over a connection of its own, which is closed when it returns: http.Client closes it at some time after.
func alone(t *testing.T, w *World, rawURL string) {
	t.Helper()
	u := mustParse(rawURL)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort(w.Resolve()[u.Hostname()].String(), u.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", u.RequestURI(), u.Host); err != nil {
		t.Fatal(err)
	}
	if raw, err := io.ReadAll(c); err != nil || !bytes.HasPrefix(raw, []byte("HTTP/1.1 ")) {
		t.Fatalf("get %s: %.50q, %v", rawURL, raw, err)
	}
}

func TestStatsNoticeViolations(t *testing.T) {
	t.Parallel()
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.12.1"), Latency: 2 * time.Second}))
	c := client(w)
	base := w.sites[archiveHost].base
	var both sync.WaitGroup
	for _, u := range []string{base + "/", w.sites[mirrorHost].base + "/one.html"} { // two hosts, one IP
		both.Go(func() { get(t, c, u) })
	}
	both.Wait()
	w.SetLatency(0)
	get(t, c, base+"/private/fates.html")
	get(t, c, base+"/")
	get(t, c, w.sites[blogHost].base+"/robots.txt", "Host", "")
	s := w.Stats()
	ip := w.Resolve()[archiveHost]
	if s.PerIP[ip].PeakRequests != 2 || s.PerIP[ip].PeakConnections != 2 || s.PeakRequests != 2 {
		t.Errorf("peaks %+v", s.PerIP[ip])
	}
	if g := s.MinPageGap; g == nil || g.Pause != 0 || g.IP != ip || g.From == "" || g.To == "" {
		t.Errorf("gap %+v, want 0 on %v", g, ip)
	}
	if s.Disallowed[base+"/private/fates.html"] != 1 || len(s.Disallowed) != 1 {
		t.Errorf("disallowed %v", s.Disallowed)
	}
	if len(s.RobotsLate) != 2 || s.RobotsLate[archiveHost] != base+"/" {
		t.Errorf("robots late %v", s.RobotsLate)
	}
	if s.Repeated()[base+"/"] != 2 {
		t.Errorf("repeated %v", s.Repeated())
	}
}

func TestStatsNoticeStrangers(t *testing.T) {
	t.Parallel()
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.13.1")}))
	c := client(w)
	elsewhere := w.Resolve()[newsHost]
	c.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, netip.AddrPortFrom(elsewhere, uint16(w.Port())).String())
	}}
	if a := get(t, c, w.sites[blogHost].base+"/"); a.status != http.StatusMisdirectedRequest {
		t.Errorf("status %d", a.status)
	}
	if s := w.Stats(); len(s.Strangers) != 1 || s.Requests != 0 {
		t.Errorf("strangers %v, %d requests", s.Strangers, s.Requests)
	}
}

// A client that dies is neither repeated nor concurrent when it comes back.
func TestCutRequestsAreApart(t *testing.T) {
	t.Parallel()
	w := started(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.14.1"), Latency: 2 * time.Second}))
	c := client(w)
	get(t, c, w.sites[blogHost].base+"/robots.txt")
	page := w.sites[blogHost].base + "/"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := w.Stats().Requests
	go func() {
		underWay(w, asked)
		cancel()
	}()
	if err := whole(ctx, c, page); err == nil {
		t.Fatal("not cut")
	}
	get(t, c, page)
	s := w.Stats()
	if s.Cut != 1 || s.CutURLs[page] != 1 || s.URLs[page] != 1 || len(s.Repeated()) != 0 {
		t.Errorf("cut %d %v, complete %v", s.Cut, s.CutURLs, s.URLs)
	}
	if s.PeakRequests != 1 || s.PeakConnections != 1 {
		t.Errorf("peaks %d and %d", s.PeakRequests, s.PeakConnections)
	}
}

// underWay returns when more than so many requests have begun.
func underWay(w *World, asked int) {
	for w.Stats().Requests <= asked {
		time.Sleep(time.Millisecond)
	}
}

func TestCloseFreesTheAddresses(t *testing.T) {
	t.Parallel()
	w := NewFaults(Options{FirstIP: netip.MustParseAddr("127.78.15.1")})
	started(t, w)
	hung := make(chan error, 1)
	go func() {
		hung <- whole(context.Background(), client(w), w.sites[faultHost("mute")].base+"/fault")
	}()
	underWay(w, 0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-hung:
		if err == nil {
			t.Error("a mute server answered")
		}
	case <-time.After(time.Minute):
		t.Fatal("the mute server's connection outlived Close by a minute")
	}
	again := NewFaults(Options{FirstIP: netip.MustParseAddr("127.78.15.1"), Port: w.Port()})
	started(t, again)
	if again.Port() != w.Port() {
		t.Errorf("port %d, want %d", again.Port(), w.Port())
	}
}

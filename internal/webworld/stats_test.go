package webworld

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// For a client that keeps all rules, the record has no violation.
func TestStatsOfAGoodClient(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.10.1")}))
	c := worldtest.Client(w)
	base := w.Host(archiveHost).Base
	const wait = 15 * time.Millisecond
	worldtest.Get(t, c, base+"/robots.txt")
	for _, path := range []string{"/", "/public/well.html", "/scan.pdf?page=2"} {
		<-time.After(wait) // the gap is what is measured
		worldtest.Get(t, c, base+path)
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

func TestStatsNoticeViolations(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.12.1"), Latency: 5 * time.Second}))
	c := worldtest.Client(w)
	base := w.Host(archiveHost).Base
	var both sync.WaitGroup
	for _, u := range []string{base + "/", w.Host(mirrorHost).Base + "/one.html"} { // two hosts, one IP
		both.Go(func() { worldtest.Get(t, c, u) })
	}
	both.Wait()
	w.SetLatency(0)
	worldtest.Get(t, c, base+"/private/fates.html")
	worldtest.Get(t, c, base+"/")
	worldtest.Get(t, c, w.Host(blogHost).Base+"/robots.txt", "Host", "")
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
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.13.1")}))
	c := worldtest.Client(w)
	elsewhere := w.Resolve()[newsHost]
	c.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, netip.AddrPortFrom(elsewhere, uint16(w.Port())).String())
	}}
	if a := worldtest.Get(t, c, w.Host(blogHost).Base+"/"); a.Status != http.StatusMisdirectedRequest {
		t.Errorf("status %d", a.Status)
	}
	if s := w.Stats(); len(s.Strangers) != 1 || s.Requests != 0 {
		t.Errorf("strangers %v, %d requests", s.Strangers, s.Requests)
	}
}

// The requests of a client that dies and comes back count neither as repeated nor as concurrent.
func TestCutRequestsAreApart(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewDemo(Options{FirstIP: netip.MustParseAddr("127.78.14.1")}))
	c := worldtest.Client(w)
	worldtest.Get(t, c, w.Host(blogHost).Base+"/robots.txt")
	page := w.Host(blogHost).Base + "/"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := w.Stats().Requests
	w.SetLatency(time.Hour) // it is cut before the answer, however late that is
	go func() {
		worldtest.Eventually(t, "the request has begun", func() bool { return w.Stats().Requests > asked })
		cancel()
	}()
	if err := worldtest.Whole(ctx, c, page); err == nil {
		t.Fatal("not cut")
	}
	w.SetLatency(0)
	worldtest.Get(t, c, page)
	s := w.Stats()
	if s.Cut != 1 || s.CutURLs[page] != 1 || s.URLs[page] != 1 || len(s.Repeated()) != 0 {
		t.Errorf("cut %d %v, complete %v", s.Cut, s.CutURLs, s.URLs)
	}
	if s.PeakRequests != 1 || s.PeakConnections != 1 {
		t.Errorf("peaks %d and %d", s.PeakRequests, s.PeakConnections)
	}
}

package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.7.1")}))
	c := worldtest.Client(w)
	for _, seed := range w.Seeds() {
		front := worldtest.Get(t, c, seed)
		if front.Status != 200 || !bytes.Contains(front.Body, []byte("/fault")) {
			t.Errorf("%s: status %d", seed, front.Status)
		}
		if a := worldtest.Get(t, c, seed+"after"); a.Status != 200 {
			t.Errorf("%safter: status %d", seed, a.Status)
		}
	}
	url := func(name, path string) string { return w.Host(Host(name)).Base + path }

	for _, name := range []string{"reset", "short", "badchunk", "garbage", "hangup", "bigheader"} {
		if err := worldtest.Whole(t.Context(), c, url(name, "/fault")); err == nil {
			t.Errorf("%s: a complete response", name)
		}
	}
	for _, name := range []string{"drip", "flood", "mute"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := worldtest.Whole(ctx, c, url(name, "/fault")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want no end", name, err)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := worldtest.Whole(ctx, c, url("muterobots", "/robots.txt")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("muterobots: %v", err)
	}
	for _, p := range w.Pages() {
		if p.Status == 0 || strings.HasPrefix(p.Host, "bomb.") || p.Status == 404 {
			continue
		}
		if a := worldtest.Get(t, c, p.URL); a.Status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.Status, p.Status)
		}
	}
	if got := len(webworld.Links(webworld.MustParse(url("manylinks", "/")), worldtest.Get(t, c, url("manylinks", "/fault")).Body)); got != 100_000 {
		t.Errorf("%d links", got)
	}
	if a := worldtest.Get(t, c, url("metadata", "/fault")); a.Header.Get("Location") != "http://169.254.169.254/latest/meta-data" {
		t.Errorf("metadata: location %q", a.Header.Get("Location"))
	}
	if a := worldtest.Get(t, c, url("bigrobots", "/robots.txt")); len(a.Body) < 5<<20 {
		t.Errorf("robots.txt of %d bytes", len(a.Body))
	}
	z, err := gzip.NewReader(bytes.NewReader(worldtest.Get(t, c, url("cutgzip", "/fault")).Body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(z); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut gzip: %v", err)
	}
}

func TestBombIsABomb(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.8.1")}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.Host(Host("bomb")).Base+"/fault", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := worldtest.Client(w).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, z, 50<<20); err != nil {
		t.Errorf("only %d bytes: %v", n, err)
	}
}

func TestRobotsHops(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.9.1")}))
	c := worldtest.Client(w)
	u := webworld.MustParse(w.Host(Host("robotshops")).Base + "/robots.txt")
	hops := 0
	for a := worldtest.Get(t, c, u.String()); a.Status == 302; a = worldtest.Get(t, c, u.String()) {
		u = u.ResolveReference(webworld.MustParse(a.Header.Get("Location")))
		hops++
	}
	if hops != 6 {
		t.Errorf("%d redirects", hops)
	}
	if s := w.Stats(); s.Robots != 7 || len(s.RobotsLate) != 0 {
		t.Errorf("%d requests for robots.txt, late %v", s.Robots, s.RobotsLate)
	}
}

func TestCloseFreesTheAddresses(t *testing.T) {
	t.Parallel()
	w := New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.15.1")})
	worldtest.Start(t, w)
	hung := make(chan error, 1)
	go func() {
		hung <- worldtest.Whole(context.Background(), worldtest.Client(w), w.Host(Host("mute")).Base+"/fault")
	}()
	worldtest.Eventually(t, "the request has begun", func() bool { return w.Stats().Requests > 0 })
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-hung:
		if err == nil {
			t.Error("a mute server answered")
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the mute server's connection outlived Close by two minutes")
	}
	again := New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.15.1"), Port: w.Port()})
	worldtest.Start(t, again)
	if again.Port() != w.Port() {
		t.Errorf("port %d, want %d", again.Port(), w.Port())
	}
}

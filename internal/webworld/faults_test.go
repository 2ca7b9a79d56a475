package webworld

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
)

func TestFaults(t *testing.T) {
	t.Parallel()
	w := started(t, NewFaults(Options{FirstIP: netip.MustParseAddr("127.78.7.1")}))
	c := client(w)
	for _, seed := range w.Seeds() {
		front := get(t, c, seed)
		if front.status != 200 || !bytes.Contains(front.body, []byte("/fault")) {
			t.Errorf("%s: status %d", seed, front.status)
		}
		if a := get(t, c, seed+"after"); a.status != 200 {
			t.Errorf("%safter: status %d", seed, a.status)
		}
	}
	url := func(name, path string) string { return w.sites[faultHost(name)].base + path }

	for _, name := range []string{"reset", "short", "badchunk", "garbage", "hangup", "bigheader"} {
		if err := whole(t.Context(), c, url(name, "/fault")); err == nil {
			t.Errorf("%s: a complete response", name)
		}
	}
	for _, name := range []string{"drip", "flood", "mute"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := whole(ctx, c, url(name, "/fault")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want no end", name, err)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := whole(ctx, c, url("muterobots", "/robots.txt")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("muterobots: %v", err)
	}
	for _, p := range w.Pages() {
		if p.Status == 0 || strings.HasPrefix(p.Host, "bomb.") || p.Status == 404 {
			continue
		}
		if a := get(t, c, p.URL); a.status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.status, p.Status)
		}
	}
	if got := len(extract(mustParse(url("manylinks", "/")), get(t, c, url("manylinks", "/fault")).body)); got != 100_000 {
		t.Errorf("%d links", got)
	}
	if a := get(t, c, url("metadata", "/fault")); a.header.Get("Location") != "http://169.254.169.254/latest/meta-data" {
		t.Errorf("metadata: location %q", a.header.Get("Location"))
	}
	if a := get(t, c, url("bigrobots", "/robots.txt")); len(a.body) < 5<<20 {
		t.Errorf("robots.txt of %d bytes", len(a.body))
	}
	z, err := gzip.NewReader(bytes.NewReader(get(t, c, url("cutgzip", "/fault")).body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(z); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut gzip: %v", err)
	}
}

// whole reads a response to its end.
func whole(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func TestBombIsABomb(t *testing.T) {
	t.Parallel()
	w := started(t, NewFaults(Options{FirstIP: netip.MustParseAddr("127.78.8.1")}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.sites[faultHost("bomb")].base+"/fault", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client(w).Do(req)
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
	w := started(t, NewFaults(Options{FirstIP: netip.MustParseAddr("127.78.9.1")}))
	c := client(w)
	u := mustParse(w.sites[faultHost("robotshops")].base + "/robots.txt")
	hops := 0
	for a := get(t, c, u.String()); a.status == 302; a = get(t, c, u.String()) {
		u = u.ResolveReference(mustParse(a.header.Get("Location")))
		hops++
	}
	if hops != 6 {
		t.Errorf("%d redirects", hops)
	}
	if s := w.Stats(); s.Robots != 7 || len(s.RobotsLate) != 0 {
		t.Errorf("%d requests for robots.txt, late %v", s.Robots, s.RobotsLate)
	}
}

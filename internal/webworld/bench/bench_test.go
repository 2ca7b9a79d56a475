package bench

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// Two of three hosts of a shared world lie at so many addresses, evenly.
func TestSharedAddresses(t *testing.T) {
	at := map[netip.Addr]int{}
	for _, ip := range worldtest.Start(t, NewShared(webworld.Options{FirstIP: netip.MustParseAddr("127.78.6.1")}, 30, 1, 4)).Resolve() {
		at[ip]++
	}
	counts := map[int]int{}
	for _, n := range at {
		counts[n]++
	}
	if len(counts) != 2 || counts[1] != 10 || counts[5] != 4 {
		t.Errorf("addresses by hosts: %v", counts)
	}
}

func TestBenchWorld(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.5.1")}, 10, 40))
	c := worldtest.Client(w)
	var sizes, zips []int
	cross, all := 0, 0
	counts := map[int]int{}
	relevant, forbidden := 0, 0
	listed := map[string]bool{}
	for _, p := range w.Pages() {
		listed[p.URL] = true
	}
	for _, p := range w.Pages() {
		a := worldtest.Get(t, c, p.URL, "Accept-Encoding", "gzip")
		if counts[a.Status]++; a.Status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.Status, p.Status)
		}
		if a.Status != 200 {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(a.Body))
		if err != nil {
			t.Fatalf("%s: %v", p.URL, err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", p.URL, err)
		}
		sizes, zips = append(sizes, len(body)), append(zips, len(a.Body))
		links := webworld.Links(webworld.MustParse(p.URL), body)
		if len(links) != benchLinks {
			t.Errorf("%s: %d links", p.URL, len(links))
		}
		for _, l := range links {
			if all++; l.URL.Hostname() != p.Host {
				cross++
			}
			if !listed[l.URL.String()] {
				t.Errorf("%s links to %s, which is not listed", p.URL, l.URL)
			}
		}
		relevant += index(p.Relevant)
		forbidden += index(!p.Allowed)
	}
	slices.Sort(sizes)
	slices.Sort(zips)
	t.Logf("size median %d, 99th %d; compressed median %d; statuses %v; %d relevant, %d disallowed, %d of %d links cross",
		sizes[len(sizes)/2], sizes[len(sizes)*99/100], zips[len(zips)/2], counts, relevant, forbidden, cross, all)
	if m := sizes[len(sizes)/2]; m < 27_000 || m > 31_000 {
		t.Errorf("median size %d, want about 29 KB", m)
	}
	if m := zips[len(zips)/2]; m < 9_700 || m > 11_700 {
		t.Errorf("median compressed size %d, want about 10.7 KB", m)
	}
	if len(sizes) != 400 || counts[301] != 10 || counts[404] != 10 || forbidden != 10 {
		t.Errorf("%d pages, statuses %v, %d disallowed", len(sizes), counts, forbidden)
	}
	plain := worldtest.Get(t, c, w.Seeds()[3])
	if zip := worldtest.Get(t, c, w.Seeds()[3], "Accept-Encoding", "gzip"); bytes.Equal(zip.Body, plain.Body) || plain.Header.Get("Content-Encoding") != "" {
		t.Error("compressed without being asked")
	}
}

func BenchmarkPage(b *testing.B) {
	w := worldtest.Start(b, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.6.1")}, 2, 40))
	s := w.Host(w.Sites()[0].Host)
	u := webworld.MustParse(w.Pages()[5].URL)
	for b.Loop() {
		webworld.Join(s.Find(u).Compressed())
	}
}

// Requests one after the other, as fast as can be, with a new connection each, must not look concurrent.
func TestSequentialIsNotConcurrent(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.11.1")}, 1, 40))
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
func alone(t *testing.T, w *webworld.World, rawURL string) {
	t.Helper()
	u := webworld.MustParse(rawURL)
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

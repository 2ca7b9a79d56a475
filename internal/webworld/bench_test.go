package webworld

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/netip"
	"slices"
	"testing"
)

func TestBenchWorld(t *testing.T) {
	t.Parallel()
	w := started(t, NewBench(Options{FirstIP: netip.MustParseAddr("127.78.5.1")}, 10, 40))
	c := client(w)
	var sizes, zips []int
	cross, all := 0, 0
	counts := map[int]int{}
	relevant, forbidden := 0, 0
	listed := map[string]bool{}
	for _, p := range w.Pages() {
		listed[p.URL] = true
	}
	for _, p := range w.Pages() {
		a := get(t, c, p.URL, "Accept-Encoding", "gzip")
		if counts[a.status]++; a.status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, a.status, p.Status)
		}
		if a.status != 200 {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			t.Fatalf("%s: %v", p.URL, err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", p.URL, err)
		}
		sizes, zips = append(sizes, len(body)), append(zips, len(a.body))
		links := extract(mustParse(p.URL), body)
		if len(links) != benchLinks {
			t.Errorf("%s: %d links", p.URL, len(links))
		}
		for _, l := range links {
			if all++; l.url.Hostname() != p.Host {
				cross++
			}
			if !listed[l.url.String()] {
				t.Errorf("%s links to %s, which is not listed", p.URL, l.url)
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
	plain := get(t, c, w.Seeds()[3])
	if zip := get(t, c, w.Seeds()[3], "Accept-Encoding", "gzip"); bytes.Equal(zip.body, plain.body) || plain.header.Get("Content-Encoding") != "" {
		t.Error("compressed without being asked")
	}
}

func BenchmarkPage(b *testing.B) {
	w := started(b, NewBench(Options{FirstIP: netip.MustParseAddr("127.78.6.1")}, 2, 40))
	s := w.order[0]
	u := mustParse(w.Pages()[5].URL)
	for b.Loop() {
		join(s.find(u).compressed())
	}
}

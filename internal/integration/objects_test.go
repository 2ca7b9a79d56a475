package integration

import (
	"errors"
	"io"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// TestLongObjects crawls a blog, a forum and a wiki, once with the strict helper and once without. The archive has web objects of all
// three, with the rule that found them, and the strict helper needs fewer requests for them.
func TestLongObjects(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	requests, bodies := map[string]int{}, map[string]map[string]bool{}
	for i, mode := range []string{crawl.HelperStrict, crawl.HelperOff} {
		world := Serve(t, webworld.NewDemo(webworld.Options{Seed: 1, FirstIP: netip.AddrFrom4([4]byte{127, 94, byte(i), 1})}))
		d := demoDefinition("objects-"+mode, world)
		d.Scope.Hosts = append(d.Scope.Hosts, forumHost)
		d.Helper = mode
		d.Politeness.MinDelay, d.Politeness.Factor = 0, 0
		d.Politeness.MaxCrawlDelay = crawl.Duration(100 * time.Millisecond)
		dir := simRun(t, server, world, d, variant{name: "objects-" + mode, perQueue: 17, bundle: 64, lanes: 256})
		Check(t, dir)
		store, err := archive.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		payloads := payloads(t, dir, store, d.Name)
		applications := map[string]int{}
		bodies[mode] = map[string]bool{}
		err = archive.Manifests(t.Context(), store, "", d.Name, func(m archive.Manifest) error {
			requests[mode] += m.Pages
			if (m.Objects == nil) != (m.Counts.Objects == 0) {
				t.Errorf("%s names %v for %d objects", m.Batch, m.Objects, m.Counts.Objects)
			}
			if m.Objects == nil {
				return nil
			}
			return archive.ReadObjects(t.Context(), store, m.Objects.Key, func(o archive.WebObject) error {
				in, archived := payloads[o.URL]
				if !archived {
					t.Errorf("the page of %+v is not in the archive", o)
				}
				if err := extract.Fill(page.Parse(in, page.DefaultLimits()), &o.Object); err != nil {
					t.Errorf("%s: %v", o.URL, err)
				}
				if o.URL == "" || o.Date.IsZero() || o.Type == "" || o.Rule == "" || o.Base == "" || o.Confidence <= 0 {
					t.Errorf("%+v", o)
				}
				if body := o.Properties.Get("body"); body != "" && o.Application != "" && o.Application != "generic" {
					applications[o.Application]++
					bodies[mode][body] = true
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"WordPress", "phpBB", "MediaWiki"} {
			if applications[name] == 0 {
				t.Errorf("%s: no object of %s has a body; there are %v", mode, name, applications)
			}
		}
		t.Logf("%s: %d pages, %d texts, %v", mode, requests[mode], len(bodies[mode]), applications)
	}
	missing := 0
	for body := range bodies[crawl.HelperOff] {
		if !bodies[crawl.HelperStrict][body] {
			missing++
			t.Logf("strict misses %.100q", body)
		}
	}
	if requests[crawl.HelperStrict] >= requests[crawl.HelperOff] || missing*20 > len(bodies[crawl.HelperOff]) {
		t.Errorf("strict asks for %d pages, off for %d; strict misses %d of %d texts", requests[crawl.HelperStrict], requests[crawl.HelperOff], missing, len(bodies[crawl.HelperOff]))
	}
}

// payloads are the decoded bodies of a crawl's pages by URL, from its WARC files; for revisits, the bodies of the captures that they
// refer to.
func payloads(t *testing.T, dir string, store archive.Store, name string) map[string]page.Input {
	t.Helper()
	byDigest, digests := map[string]page.Input{}, map[string]string{}
	err := archive.Manifests(t.Context(), store, "", name, func(m archive.Manifest) error {
		return archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
			digests[i.URL] = i.Digest
			if i.Revisit {
				return nil
			}
			return archive.ReadWARC(filepath.Join(dir, m.WARC.Key), i.Offset, func(rec archive.Captured) (bool, error) {
				answer, err := rec.Answer()
				if err != nil {
					return false, err
				}
				body, err := io.ReadAll(answer.Body)
				byDigest[i.Digest] = page.Input{MIME: answer.Header.Get("Content-Type"), Body: body}
				return false, errors.Join(err, answer.Body.Close())
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]page.Input{}
	for url, digest := range digests {
		if in, known := byDigest[digest]; known {
			in.URL = url
			pages[url] = in
		}
	}
	return pages
}

package integration

import (
	"context"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// workerKills are the moments at which the worker is killed; the other is any moment, which is chosen at random.
var workerKills = []string{
	"a requisite is claimed and asked for", "all is fetched and the manifest is not put", "the manifest is put and the batch is not committed", "",
}

// killWorker kills the worker at a moment of workerKills that is not the last.
func killWorker(t *testing.T, rig *killRig, web *manners.Recurring, moment string, outage time.Duration) bool {
	t.Helper()
	reached := make(chan struct{})
	if moment == workerKills[0] {
		once := sync.Once{}
		web.Stop(func(r *http.Request) {
			once.Do(func() {
				close(reached)
				<-r.Context().Done()
			})
		})
		defer web.Stop(nil)
	} else {
		rig.gate.stop.Store(&gateStop{reached, moment == workerKills[2]})
		defer rig.gate.stop.Store(nil)
	}
	return rig.killAt(t, moment, reached, outage)
}

// recurTotals are what the totals of a run say of what a recurring crawl finds.
func recurTotals(list []manners.Recurred) (t frontier.Totals) {
	for _, f := range list {
		switch {
		case f.Requisite:
			t.Requisites++
			t.RequisitesArchived++
		case f.Status == http.StatusOK:
			t.Pages++
		default:
			t.Errors++
		}
		t.CountBecame(crawl.Became(f.Became))
	}
	return t
}

// askedSince are the requests for each URL that the servers have seen since a snapshot, and how many of them are beyond the first.
func askedSince(before, now webworld.Stats) (asked map[string]int, repeated int) {
	asked = map[string]int{}
	for url, n := range now.URLs {
		if n -= before.URLs[url]; n > 0 && !isRobots(url) {
			asked[url] = n
			repeated += n - 1
		}
	}
	for url, n := range now.CutURLs {
		if !isRobots(url) {
			repeated += n - before.CutURLs[url]
		}
	}
	return asked, repeated
}

// recurSegment is a segment of a run, as it is read from a copy of the archive.
type recurSegment struct {
	run      uint32
	put      time.Time            // of the manifest
	captures map[string]time.Time // by URL
	missing  map[string]int       // by page: its requisites that were not archived
}

// recurred checks what the archive has of the last run: each URL once and no other, what became of it, and how many requisites of each page were missing.
func (r *killRig) recurred(t *testing.T, name string, run uint32, finds []manners.Recurred) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	store, err := archive.Open(ctx, r.store, r.s3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s3Download(t, store, dir)
	report := Faultless(t, dir)
	changed := map[string]time.Time{}
	if err := store.List(ctx, name+"/segments/", func(o archive.Object) error { changed[o.Key] = o.Changed; return nil }); err != nil {
		t.Fatal(err)
	}
	var segments []recurSegment
	became, first := map[string]crawl.Became{}, map[string]time.Time{} // first capture in the archive
	err = archive.Manifests(ctx, store, "", name, func(m archive.Manifest) error {
		if m.GivenBack {
			return nil
		}
		s := recurSegment{run: m.Run, captures: map[string]time.Time{}, missing: map[string]int{}}
		s.put = changed[archive.Layout{Crawl: name}.Manifest(m.Segment())]
		err := archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
			if i.Robots() {
				return nil
			}
			if _, twice := s.captures[i.URL]; twice {
				t.Errorf("run %d: %s is twice in a segment", m.Run, i.URL)
			}
			s.captures[i.URL] = i.Date
			if at, known := first[i.URL]; !known || i.Date.Before(at) {
				first[i.URL] = i.Date
			}
			return nil
		})
		if err == nil && m.WARC.Key != "" {
			s.missing = missingRequisites(unpacked(t, filepath.Join(dir, filepath.FromSlash(m.WARC.Key))))
		}
		segments = append(segments, s)
		if err != nil || m.Run != run {
			return err
		}
		return archive.ReadLog(ctx, store, &m, func(l archive.Logged) error {
			if l.Kind == "done" || l.Kind == "unmodified" {
				became[l.URL] = l.Became
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]manners.Recurred{}
	for _, f := range finds {
		known[f.URL] = f
	}
	captures := map[string]int{}
	for _, s := range segments {
		for url, of := range s.captures {
			if f, is := known[url]; s.run == run {
				captures[url]++
				if !is {
					t.Errorf("run %d: %s is in the archive, which is not among the URLs that may be fetched", run, url)
				}
				lacks := s.lacks(f, first)
				if n := s.missing[url]; n < lacks[0] || n > lacks[1] {
					t.Errorf("run %d: %s, of %v, says that %d requisites are missing, %d to %d are of %q", run, url, of, n, lacks[0], lacks[1], f.Embeds)
				}
			}
		}
	}
	for url, f := range known {
		if captures[url] != 1 {
			t.Errorf("run %d: %s is in the archive %d times, want once", run, url, captures[url])
		}
		if became[url] != crawl.Became(f.Became) {
			t.Errorf("run %d: the log says that %s became %q, want %q", run, url, became[url], f.Became)
		}
	}
	t.Logf("run %d: %d URLs are archived, %d segments and %d orphans of all runs", run, len(captures), len(segments), len(report.Orphans))
}

// lacks are how many requisites of a page must have been missing when its segment was made, and how many may: those that were fetched after its manifest was put
// are missing, those that any other segment has may be, those that it has itself, and those of earlier runs, are not.
func (s *recurSegment) lacks(f manners.Recurred, first map[string]time.Time) (bounds [2]int) {
	if s.missing[f.URL] == 0 && f.Status != http.StatusOK {
		return bounds
	}
	for _, url := range f.Embeds {
		if _, own := s.captures[url]; own || s.run > 1 {
			continue
		}
		bounds[1]++
		if first[url].After(s.put.Add(time.Second)) { // S3 knows seconds
			bounds[0]++
		}
	}
	return bounds
}

var (
	targetIn  = regexp.MustCompile(`\r\nWARC-Target-URI: <?([^>\r]+)`)
	missingIn = regexp.MustCompile(`\r\nmuninn-requisites-missing: (\d+)\r\n`)
)

// missingRequisites reads from a WARC file how many requisites of each page were missing.
func missingRequisites(warc string) map[string]int {
	missing := map[string]int{}
	for _, record := range strings.Split(warc, "WARC/1.1\r\n") {
		n, url := missingIn.FindStringSubmatch(record), targetIn.FindStringSubmatch(record)
		if n != nil && url != nil {
			missing[url[1]], _ = strconv.Atoi(n[1])
		}
	}
	return missing
}

// recurIntervals checks the intervals that runs with the shortest interval of a second have left: each counted once.
func (r *killRig) recurIntervals(t *testing.T, name string, runs [][]manners.Recurred) {
	t.Helper()
	want := map[string]time.Duration{}
	for i, finds := range runs {
		for _, f := range finds {
			switch {
			case i == 0 || f.Became == "new" || f.Became == "changed":
				want[f.URL] = time.Second
			case f.Requisite || f.Became == "unchanged" || f.Status == http.StatusNotFound:
				want[f.URL] *= 2
			}
		}
	}
	r.worker.kill(t)
	f, err := frontier.Open(filepath.Join(r.data, frontier.Folder), frontier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, url := range slices.Sorted(maps.Keys(want)) {
		u, err := urls.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Crawl(name).URLs().Explain(u)
		if err != nil || e.Interval.D() != want[url] || e.State != frontier.URLDone {
			t.Errorf("%s is %s with an interval of %v, want %v: %v", url, e.State, e.Interval, want[url], err)
		}
	}
}

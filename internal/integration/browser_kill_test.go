package integration

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/single"
)

// TestLongBrowserKilled kills the worker while it opens the pages of a single-page site: while a page waits for what its script has asked for; when a page was opened, and the next one
// is asked for; and between the picture of a page and its document. No page is lost, none is twice in the archive, the address never sees two requests at a time, nor one
// before its time. A second run, in which the scripts have not changed (304), archives each page whole once more.
func TestLongBrowserKilled(t *testing.T) {
	chromium := fixture.Chromium(t, browser.Find)
	for _, c := range []struct {
		name, site string
		hold       func(path string, pages int) bool // the request at whose time the worker is killed; so many pages were asked for before
		cut        bool                              // what the spool has from the last document on
	}{
		{"while a page waits for a load", "lists", func(path string, _ int) bool { return path == "/api/group/2" }, false},
		{"when a page was opened", "shadow", func(path string, pages int) bool { return strings.HasPrefix(path, "/card/") && pages == 3 }, false},
		{"between picture and document", "shadow", func(path string, pages int) bool { return strings.HasPrefix(path, "/card/") && pages == 3 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := slices.IndexFunc(single.Sites(), func(s *single.Site) bool { return s.Name == c.site })
			k := &killedSite{Site: single.Sites()[at], host: c.site + ".test", hold: c.hold, held: make(chan string, 1)}
			k.run(t, chromium, c.cut)
		})
	}
}

// killedSite is a single-page site whose crawler is killed at one of its requests.
type killedSite struct {
	*single.Site
	host  string
	hold  func(path string, pages int) bool
	held  chan string // the path of that request
	once  bool        // it has come
	pages int         // requests for pages
}

func (k *killedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !k.once && k.hold(path, k.pages) { // requests come one by one
		k.once = true
		k.held <- path
		<-r.Context().Done()
		return
	}
	if slices.ContainsFunc(k.Pages, func(p single.Page) bool { return p.Path == path }) {
		k.pages++
	}
	if strings.HasSuffix(path, ".js") {
		if w.Header().Set("ETag", `"1"`); r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	k.Site.ServeHTTP(w, r)
}

func (k *killedSite) run(t *testing.T, chromium string, cut bool) {
	web := servePlain(t, k.ServeHTTP, "127.97.1.1")
	server, dir := StartServer(t), t.TempDir()
	store := filepath.Join(dir, "archive")
	flags := []string{"--resolve", k.host + "=127.97.1.1", "--browser", chromium, "--batch-time", "2m"}
	if os.Getuid() == 0 {
		flags = append(flags, "--browser-sandbox=false")
	}
	worker := newKilledWorker(t, dir, server.Address, store, archive.S3{}, &webworld.World{}, flags...)
	worker.start(t)
	t.Cleanup(func() {
		worker.kill(t)
		if t.Failed() {
			t.Logf("the end of the worker's log:\n%s", worker.lastWords())
		}
	})
	d := web.definition("killed", k.host+"/")
	d.Scope.Within, d.Browser = crawl.WithinHost, crawl.BrowserAuto
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(killDelay), crawl.Duration(time.Second)
	held := ""
	for run := 1; run <= 2; run++ {
		StartCrawl(t, server.Client, d)
		if run == 1 {
			held = <-k.held
			worker.kill(t)
			if cut {
				cutDocument(t, filepath.Join(dir, "data"))
			}
			worker.start(t)
		}
		Result(t, server.Client, d.Name, CrawlTime)
		k.archivedWhole(t, store, web.port, run)
	}
	k.politely(t, web, held)
}

// archivedWhole checks that the archive has each page once a run, with its texts.
func (k *killedSite) archivedWhole(t *testing.T, store, port string, runs int) {
	t.Helper()
	report, all := Faultless(t, store), ""
	files, _ := filepath.Glob(filepath.Join(store, "killed", "data", "*.warc.gz"))
	for _, file := range files {
		all += unpacked(t, file)
	}
	documents, views := map[string][]string{}, strings.Count(all, "WARC-Target-URI: urn:view:")
	for _, record := range strings.Split(all, "WARC/1.1\r\n") {
		if _, rest, is := strings.Cut(record, "WARC-Target-URI: urn:dom:"); is {
			url, _, _ := strings.Cut(rest, "\r\n")
			documents[url] = append(documents[url], rest)
		}
	}
	for _, p := range k.Pages {
		url := "http://" + k.host + ":" + port + p.Path
		if n := report.Pages[url]; n != runs || len(documents[url]) != runs {
			t.Errorf("after run %d: %s is archived %d times, with %d documents", runs, url, n, len(documents[url]))
		}
		for i, document := range documents[url] {
			for _, text := range p.Texts {
				if !strings.Contains(document, text) {
					t.Errorf("document %d of %s lacks %q", i+1, url, text)
				}
			}
		}
	}
	if len(documents) != len(k.Pages) || views != runs*len(k.Pages) {
		t.Errorf("after run %d: documents of %d pages and %d pictures; the site has %d pages", runs, len(documents), views, len(k.Pages))
	}
}

// politely checks what the server saw.
func (k *killedSite) politely(t *testing.T, web *plainWeb, held string) {
	t.Helper()
	if n := web.peak["127.97.1.1"]; n != 1 {
		t.Errorf("%d requests at a time", n)
	}
	log, asked := web.requests(), map[string]int{}
	slices.SortFunc(log, func(a, b plainRequest) int { return a.start.Compare(b.start) })
	for i, r := range log {
		if asked[r.path]++; i > 0 && r.start.Sub(log[i-1].end) < killDelay {
			t.Errorf("%s is asked for %s after %s", r.path, r.start.Sub(log[i-1].end), log[i-1].path)
		}
	}
	for path, n := range asked {
		most := 2 // runs
		if path == held || strings.HasSuffix(path, ".js") || path == "/favicon.ico" {
			most += 3 // what pages share a worker that was killed does not remember; after a 304 it is asked for without condition
		}
		if n > most {
			t.Errorf("%s is asked for %d times", path, n)
		}
	}
}

// cutDocument leaves the spool as a worker does that is killed between the picture of a page and its document: the log ends there.
func cutDocument(t *testing.T, data string) {
	t.Helper()
	cuts := 0
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "exchanges.log" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		end := -1
		for at := 0; at+20 <= len(raw); { // a frame: magic, three lengths, three parts, and a sum; see internal/spool
			head, request := int(binary.BigEndian.Uint32(raw[at+4:])), int(binary.BigEndian.Uint32(raw[at+8:]))
			next := at + 20 + head + request + int(binary.BigEndian.Uint64(raw[at+12:])) + 4
			if next > len(raw) {
				break
			}
			if bytes.Contains(raw[at+20:at+20+head], []byte(crawl.ExchangeOpened)) {
				end = at
			}
			at = next
		}
		if end >= 0 {
			cuts++
			return os.Truncate(path, int64(end))
		}
		return nil
	})
	if err != nil || cuts != 1 {
		t.Fatalf("%d logs have a document: %v", cuts, err)
	}
}

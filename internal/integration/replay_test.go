package integration

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/browsertest"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/illustrated"
)

// TestReplay: ReplayWeb.page shows each page of a crawled web as the live web shows it in the same browser: all that it requests at first is
// there, documents, texts and images are the same, and so are all but a few pixels. Of pages that the player cannot show alike, all that the browser
// requests live is archived. `make test-replay` fetches the player and runs this test.
func TestReplay(t *testing.T) {
	folder := os.Getenv("MUNINN_REPLAYWEBPAGE")
	if folder == "" {
		t.Skip("MUNINN_REPLAYWEBPAGE names no folder of ReplayWeb.page: `make test-replay` fetches it")
	}
	chromium := fixture.Chromium(t, browser.Find)
	world := Serve(t, illustrated.New(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr("127.97.0.1")}, replayedPages(t)))
	d := Definition("illustrated", world)
	d.Scope.Within = crawl.WithinHost
	s := newSite(t, world, d)
	began := time.Now()
	if code, said := s.muninn(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, lines(said))
	}
	archived := Check(t, s.archive()).Pages
	t.Logf("%d URLs archived in %v", len(archived), time.Since(began))

	r := &replayer{t: t, live: map[string]browsertest.View{}, keep: os.Getenv("MUNINN_REPLAY_KEEP")}
	var err error
	if r.browser, err = browsertest.Start(t.Context(), chromium, world.Resolve()); err != nil {
		t.Fatal(err)
	}
	defer r.browser.Close()
	began = time.Now()
	for _, p := range world.Pages() {
		if p.Kind == "page" || p.Kind == illustrated.HardPage {
			r.see(p, archived)
		}
	}
	t.Logf("%d pages, which request %d URLs, seen live in %v", len(r.pages), r.requests, time.Since(began))
	_ = world.Close() // nothing comes from the live web any more

	files := replayedFiles(t, s.archive(), d.Name)
	if r.player, err = browsertest.NewPlayer(t.Context(), folder, files...); err != nil {
		t.Fatal(err)
	}
	defer r.player.Close()
	if err := r.browser.Load(r.player, r.pages[0].URL); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	for _, p := range r.pages {
		r.compare(p)
	}
	t.Logf("replayed in %v: %d pages are alike, %d of those that the player cannot show differ", time.Since(began), r.alike, r.unplayed)
}

// replayedFiles are the WARC files of a crawl; with MUNINN_REPLAY_WACZ, a WACZ file that all of it was exported to.
func replayedFiles(t *testing.T, dir, name string) []string {
	t.Helper()
	if os.Getenv("MUNINN_REPLAY_WACZ") == "" {
		files, _ := filepath.Glob(filepath.Join(dir, name, "data", "*.warc.gz"))
		return files
	}
	to := t.TempDir()
	o := export.Order{Name: name, Format: export.WACZ, Size: 1 << 40, Crawls: []archive.CrawlAt{{Name: name}}, Software: "Muninn test"}
	if _, err := export.Run(t.Context(), openStore(t, dir), openStore(t, to), o, nil); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(to, "*.wacz"))
	return files
}

// replayedPages is how many pages the web has: MUNINN_REPLAY_PAGES, or so many that 300 of them are such as the player can show.
func replayedPages(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MUNINN_REPLAY_PAGES")
	if text == "" {
		return 334
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("MUNINN_REPLAY_PAGES: %v", err)
	}
	return n
}

// replayer compares pages with their replay.
type replayer struct {
	t               *testing.T
	browser         *browsertest.Browser
	player          *browsertest.Player
	keep            string // folder for pictures of pages that differ; none if empty
	pages           []webworld.Page
	live            map[string]browsertest.View
	requests        int
	alike, unplayed int
}

// see views a live page, all of whose requests must be archived.
func (r *replayer) see(p webworld.Page, archived map[string]int) {
	r.t.Helper()
	view, err := r.browser.Open(p.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	r.pages, r.live[p.URL] = append(r.pages, p), view
	for _, x := range view.Requests {
		r.requests++
		if u := browsertest.Canonical(x.URL); x.Status != 0 && archived[u] == 0 {
			r.t.Errorf("%s: it requests %s, which is not archived", p.URL, u)
		}
	}
}

// compare replays a page.
func (r *replayer) compare(p webworld.Page) {
	r.t.Helper()
	replay, err := r.browser.Replay(r.player, p.URL)
	if err != nil {
		r.t.Error(err)
		return
	}
	found := browsertest.Differences(r.live[p.URL], replay)
	if r.keep != "" && len(found) > 0 {
		name := filepath.Join(r.keep, strings.NewReplacer("/", "_", ":", "_").Replace(p.URL))
		if err := errors.Join(os.WriteFile(name+".live.png", r.live[p.URL].Picture, 0o600), os.WriteFile(name+".replay.png", replay.Picture, 0o600)); err != nil {
			r.t.Fatal(err)
		}
	}
	switch {
	case len(found) == 0:
		r.alike++
	case p.Kind == illustrated.HardPage:
		r.unplayed++
	default:
		for _, f := range found {
			r.t.Errorf("%s: %s", p.URL, f)
		}
	}
}

package page

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"github.com/muninn-archive/muninn/internal/urls"
)

// TestFeedsBesideGofeed: of feeds that the library gofeed reads, Muninn finds each URL of a page or a file that the library finds: of the samples of crawler-commons, and of its own. Muninn has
// a reader of its own because the library gives nothing of a feed that is cut off, and no links of the texts.
func TestFeedsBesideGofeed(t *testing.T) {
	t.Run("its own", func(t *testing.T) {
		dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mmcdole/gofeed").Output()
		if err != nil {
			t.Skip("the module's folder is not known:", err)
		}
		compareFeeds(t, filepath.Join(strings.TrimSpace(string(dir)), "testdata"), 30)
	})
	t.Run("crawler-commons", func(t *testing.T) {
		dir := testData(t, "conformance", "crawler-commons", "src", "test", "resources")
		compareFeeds(t, dir, 3)
		raw, err := os.ReadFile(filepath.Join(dir, "rss", "xmlRss_pubDate.xml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, tenths := range []int{6, 7, 8, 9} {
			cut := raw[:len(raw)*tenths/10]
			if _, err := gofeed.NewParser().ParseString(string(cut)); err == nil {
				t.Errorf("the library reads %d tenths of a feed: what is its own reader for?", tenths)
			}
			if d := Parse(Input{URL: "http://www.example.com/", MIME: "application/rss+xml", Body: cut}, DefaultLimits()); len(d.Links) < 4 {
				t.Errorf("%d links of %d tenths of a feed", len(d.Links), tenths)
			}
		}
	})
}

// compareFeeds compares the feeds of a folder, at least so many.
func compareFeeds(t *testing.T, dir string, least int) {
	t.Helper()
	const at = "http://www.example.com/feeds/feed.xml"
	base, err := urls.NewResolver(at)
	if err != nil {
		t.Fatal(err)
	}
	feeds, found := 0, 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		feed, err := gofeed.NewParser().ParseString(string(raw))
		if err != nil { // of another kind, or damaged
			return nil
		}
		kind := "application/xml"
		if filepath.Ext(path) == ".json" {
			kind = "application/feed+json"
		}
		ours := map[string]bool{at: true}
		for _, l := range Parse(Input{URL: at, MIME: kind, Body: raw}, DefaultLimits()).Links {
			ours[l.URL] = true
		}
		list := urlsOf(feed)
		if len(list) > 0 {
			feeds++
		}
		for _, ref := range list {
			u, err := base.Resolve(ref)
			if err != nil {
				continue
			}
			if found++; !ours[u.String()] {
				t.Errorf("%s: %s is not found", strings.TrimPrefix(path, dir), u)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d feeds with %d URLs", feeds, found); feeds < least || found < 5*least {
		t.Errorf("%d feeds with %d URLs, at least %d are expected", feeds, found, least)
	}
}

// urlsOf are the URLs of pages and files that the library finds in a feed, without the feed's own.
func urlsOf(feed *gofeed.Feed) (list []string) {
	list = append(append(list, feed.Link), feed.Links...)
	for _, item := range feed.Items {
		list = append(append(list, item.Link), item.Links...)
		for _, e := range item.Enclosures {
			list = append(list, e.URL)
		}
	}
	own := feed.FeedLink
	kept := list[:0]
	for _, ref := range list {
		if ref != "" && ref != own {
			kept = append(kept, ref)
		}
	}
	return kept
}

package robots

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSitemaps(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"Sitemap: http://a.test/1\nUser-agent: *\nsitemap:/2\nDisallow: /\nSITEMAP : /3 # all\r\nSite-map: /4\nSitemap: /1x\nSitemap: http://a.test/1\nSitemap:\nSitemap /5", "http://a.test/1 /2 /3 /4 /1x /5"},
		{"User-agent: *\nDisallow: /sitemap", ""}, {"", ""}, {"\xff\xfeS\x00i\x00t\x00e\x00m\x00a\x00p\x00:\x00/\x00a\x00", "/a"},
	} {
		if got := strings.Join(Sitemaps([]byte(test.body)), " "); got != test.want {
			t.Errorf("%q: %q, want %q", test.body, got, test.want)
		}
	}
	many := ""
	for i := range MaxSitemaps + 9 {
		many += "Sitemap: /" + strings.Repeat("x", i+1) + "\n"
	}
	if n := len(Sitemaps([]byte(many))); n != MaxSitemaps {
		t.Errorf("%d sitemaps", n)
	}
}

// TestSitemapSamples reads the samples of crawler-commons.
func TestSitemapSamples(t *testing.T) {
	dir := filepath.Join(dataRoot(t), "crawler-commons/src/test/resources/robots")
	for name, want := range map[string][]string{
		"sitemap-robots-dedup.txt": {"http://example.org/sitemap.xml"}, "relative-sitemap-robots.txt": {"/sitemap.xml"},
	} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := Sitemaps(raw); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

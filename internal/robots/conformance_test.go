package robots

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/urls"
)

func dataRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("MUNINN_TESTDATA")
	if root == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance tables")
	}
	return filepath.Join(root, "conformance")
}

// deviations are the cases of Google's table that Muninn decides in another way.
var deviations = map[string]string{
	"GoogleOnly_AcceptUserAgentUpToFirstSpace http://foo.bar/x/y":   "a user agent of two words has the first as its token",
	"GoogleOnly_IndexHTMLisDirectory http://foo.com/allowed-slash/": "that index.html stands for its directory is Google's own rule",
	"ID_Encoding http://foo.bar/foo/bar/baz":                        "RFC 9309 §2.2.2 takes escapes off unreserved characters",
	"ID_Encoding http://foo.bar/foo/bar/ツ":                          "RFC 9309 §2.2.2 escapes what is not ASCII in the URL too",
}

func TestGoogle(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(dataRoot(t), "google-robots.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Test, URL string
		File      string `json:"robots_txt"`
		Agent     string `json:"user_agent"`
		Allowed   bool
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	agree := 0
	seen := map[string]bool{}
	for _, c := range cases {
		path := "/"
		if _, rest, ok := strings.Cut(c.URL, "://"); ok {
			if _, after, ok := strings.Cut(rest, "/"); ok {
				path = "/" + after
			}
		}
		if u, err := urls.Parse(c.URL); err == nil {
			path = u.RequestURI()
		}
		if Parse([]byte(c.File), c.Agent).Allowed(path) == c.Allowed {
			agree++
			continue
		}
		name := c.Test + " " + c.URL
		seen[name] = true
		if deviations[name] == "" {
			t.Errorf("%s: %q for %s: want %v", name, c.File, c.Agent, c.Allowed)
		} else {
			t.Logf("%s differs: %s", name, deviations[name])
		}
	}
	for name := range deviations {
		if !seen[name] {
			t.Errorf("%s agrees now: it is no deviation", name)
		}
	}
	t.Logf("%d of %d agree", agree, len(cases))
}

// TestCrawlerCommons reads files that were difficult for other parsers, and checks rules of each of them.
func TestCrawlerCommons(t *testing.T) {
	dir := filepath.Join(dataRoot(t), "crawler-commons/src/test/resources/robots")
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, agent := range []string{"Muninn", "foobot", "googlebot", "*", ""} {
			rules := Parse(raw, agent)
			_, _ = rules.Allowed("/a/b?c=%d"), rules.Delay()
		}
	}
	checked := map[string]bool{}
	for _, c := range []struct {
		file, agent, path string
		allowed           bool
	}{
		{"rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif", false},
		{"rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/other", true},
		{"rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif?a", false},
		{"rfc9309-example-simple-robots.txt", "foobot", "/foo", false},
		{"rfc9309-example-simple-robots.txt", "otherbot", "/a.gif", false},
		{"rfc9309-example-simple-robots.txt", "foobot", "/example/allowed.gif", true},
		{"rfc9309-example-simple-robots.txt", "barbot", "/example/page.html", false},
		{"rfc9309-example-simple-robots.txt", "quxbot", "/example/page.html", true},
		{"rfc9309-example-rule-group-merging.txt", "examplebot", "/baz", false},
		{"rfc9309-example-rule-group-merging.txt", "examplebot", "/foo", false},
		{"rfc9309-example-rule-group-merging.txt", "bazbot", "/foo", true},
		{"rfc9309-example-rule-group-merging.txt", "quxbot", "/baz", true},
		{"crawl-delay-group-merging.txt", "mybot", "/private/x", false},
		{"crawl-delay-group-merging.txt", "yourbot", "/private/x", false},
		{"extensions-group-merging.txt", "mybot", "/private/", false},
		{"extensions-group-merging.txt", "yourbot", "/login/", false},
		{"extensions-group-merging.txt", "mybot", "/login/", false},
		{"extensions-group-merging.txt", "foobot", "/llms.txt", true},
		{"extensions-group-merging.txt", "foobot", "/x", false},
		{"extension-robots.txt", "mybot", "/private/", false},
		{"extension-robots.txt", "foobot", "/private/", true},
		{"extension-robots.txt", "otherbot", "/admin/", false},
		{"extended-standard-robots.txt", "botx", "/x", true},
		{"merge-rules.txt", "wget", "/foo/bar", true}, // allowed and forbidden by rules of one length
		{"merge-rules.txt", "wget", "/tmp/bar", false},
		{"merge-rules.txt", "curl", "/x", false},
		{"merge-rules.txt", "foobot", "/foo/bar", false},
		{"precedence-of-rules.txt", "testy", "/foo/bar", true},
		{"precedence-of-rules.txt", "testy", "/foo/buz", false},
		{"precedence-of-rules.txt", "testy", "/foo", false},
		{"precedence-of-rules.txt", "wget", "/foo", true},
		{"precedence-of-rules.txt", "wget", "/index.html", true},
		{"precedence-of-rules.txt", "wget", "/other", false},
		{"robots-with-utf8-bom.txt", "foobot", "/profile", false},
		{"robots-with-utf16le-bom.txt", "foobot", "/profile", false},
		{"robots-with-utf16be-bom.txt", "foobot", "/a/output/print", false},
		{"robots-with-utf16be-bom.txt", "googlebot", "/other", true},
		{"relative-sitemap-robots.txt", "foobot", "/cache/x", false},
		{"sitemap-robots.txt", "foobot", "/x", true},
		{"sitemap-robots-dedup.txt", "foobot", "/x", true},
		{"malformed-path.txt", "foobot", "/wiki/Wikipedia_talk:Mediation_Committee/", false},
		{"malformed-path.txt", "foobot", "/wiki/Main", true},
		{"many-user-agents.txt", "wget", "/", false},
		{"many-user-agents.txt", "blackwidow", "/", false},
		{"astore.amazon.com-robots.txt", "foobot", "/x", true},
		{"directive-typos-robots.txt", "bot", "/dissalow/", false}, // bot1 to bot4 are one token: digits are no part of it
		{"directive-typos-robots.txt", "bot", "/desallow/", true},
		{"directive-typos-robots.txt", "bot", "/useragent/", false},
		{"format-errors-robots.txt", "bot", "/whitespace-before-colon", true},
		{"format-errors-robots.txt", "bot", "/x", false},

		{"wildcards.txt", "foobot", "/gp/registry/wishlist/1/reserve", false},
		{"wildcards.txt", "foobot", "/wishlist/universal-button", true},
		{"wildcards.txt", "foobot", "/any/gcrnsts", false},
		{"www.flot.com-robots.txt", "foobot", "/img/a.png", false},
		{"www.flot.com-robots.txt", "foobot", "/x", true},
		{"twitter.com-robots.txt", "googlebot", "/a/with_friends", false},
		{"twitter.com-robots.txt", "googlebot", "/search?q=a", false},
	} {
		raw, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(raw, c.agent).Allowed(c.path); got != c.allowed {
			t.Errorf("%s: %s for %s: %v", c.file, c.path, c.agent, got)
		}
		checked[c.file] = true
	}
	for file, delay := range map[string]time.Duration{
		"astore.amazon.com-robots.txt": 5 * time.Second, "dos-line-endings.txt": time.Second, "sitemap-robots.txt": 0,
	} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(raw, "foobot").Delay(); got != delay {
			t.Errorf("%s: a delay of %v, want %v", file, got, delay)
		}
		checked[file] = true
	}
	for _, file := range files {
		if name := filepath.Base(file); !checked[name] {
			t.Errorf("%s is read, but none of its rules is checked", name)
		}
	}
}

package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestSeeds: seeds bound the scope, example URLs of the topic do not; a wrong seed is reported with its position.
func TestSeeds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seeds.txt")
	if err := os.WriteFile(file, []byte("# ravens\n\nhttp://b.example/x #odd # of a friend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.txt")
	if err := os.WriteFile(wrong, []byte("http://a.example/\nfoo:bar\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d               crawl.Definition
		found, bounding []string
		err             string
	}{
		"none":       {},
		"a URL":      {d: crawl.Definition{Seeds: []crawl.Seed{{URL: "HTTP://A.example"}}}, found: []string{"http://a.example/"}, bounding: []string{"http://a.example/"}},
		"a sitemap":  {d: crawl.Definition{Seeds: []crawl.Seed{{Sitemap: "http://a.example/sitemap.xml"}}}, found: []string{"http://a.example/sitemap.xml"}, bounding: []string{"http://a.example/sitemap.xml"}},
		"a file":     {d: crawl.Definition{Seeds: []crawl.Seed{{File: file}}}, found: []string{"http://b.example/x"}, bounding: []string{"http://b.example/x"}},
		"an example": {d: crawl.Definition{Seeds: []crawl.Seed{{URL: "http://a.example/"}}, Topic: crawl.Topic{Examples: []crawl.Example{{URL: "http://c.example/e"}}}}, found: []string{"http://a.example/", "http://c.example/e"}, bounding: []string{"http://a.example/"}},
		"no URL":     {d: crawl.Definition{Seeds: []crawl.Seed{{URL: "http://a.example/"}, {URL: "foo:bar"}}}, err: "seeds[1]"},
		"no file":    {d: crawl.Definition{Seeds: []crawl.Seed{{File: filepath.Join(t.TempDir(), "gone")}}}, err: "read by the worker"},
		"a bad line": {d: crawl.Definition{Seeds: []crawl.Seed{{File: wrong}}}, err: "line 2"},
		"no example": {d: crawl.Definition{Topic: crawl.Topic{Examples: []crawl.Example{{URL: "foo:bar"}}}}, err: "topic.examples[0]"},
	} {
		found, bounding, err := Seeds(c.d)
		var refused *crawl.InputError
		if c.err != "" {
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var urls []string
		for _, d := range found {
			urls = append(urls, d.URL)
			if d.Path != "S" || d.Score != 1 {
				t.Errorf("%s: %+v", name, d)
			}
		}
		if err != nil || !slices.Equal(urls, c.found) || !slices.Equal(bounding, c.bounding) {
			t.Errorf("%s: %v, %v, %v", name, urls, bounding, err)
		}
	}
}

// User information in a seed is refused, and the error does not repeat it.
func TestSeedsWithUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seeds.txt")
	if err := os.WriteFile(file, []byte("https://example.org/\nhttps://joe:hush@example.org/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []crawl.Definition{{Seeds: []crawl.Seed{{File: file}}}, {Seeds: []crawl.Seed{{URL: "https://joe:hush@example.org/"}}}} {
		_, _, err := Seeds(d)
		if err == nil || !strings.Contains(err.Error(), "has a user name") || strings.Contains(err.Error(), "hush") {
			t.Error(err)
		}
	}
}

// A wrong URL in a file of seeds is reported with its line; a file that is too long, before any URL is parsed.
func TestSeedFile(t *testing.T) {
	for words, want := range map[string]string{
		"https://example.org/\nhttps://example.org:25/\n":                   "line 2 is not a URL to crawl: port 25 is that of another service",
		"# seeds\n\nhush hush\n":                                            "line 3 is not a URL to crawl",
		"https://example.org/\n" + strings.Repeat("x", urls.MaxLine) + "\n": "line 2 has more than 65536 bytes",
		"no URL\n" + strings.Repeat("\n", urls.MaxLines):                    "has more than 1000000 lines",
	} {
		file := filepath.Join(t.TempDir(), "seeds.txt")
		if err := os.WriteFile(file, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Seeds(crawl.Definition{Seeds: []crawl.Seed{{File: file}}})
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%.300v, want %q", err, want)
		}
	}
}

// A pipe in the place of a file of seeds does not block.
func TestSeedPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seeds.txt")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Dir(file), "/dev/zero"} {
		_, _, err := Seeds(crawl.Definition{Seeds: []crawl.Seed{{File: name}}})
		if err == nil || !strings.Contains(err.Error(), name+" is a folder, a pipe or a device") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

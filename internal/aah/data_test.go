package aah

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// sameLevel maps the levels of the labels to those of the base, by application.
var sameLevel = map[string]map[string][]string{
	"WordPress": {"post": {"article"}, "page": {"article"}, "list": {"archive", "search"}, "front": {"front"}, "login/register": {"login"}},
	"MediaWiki": {"post": {"article"}, "front": {"article"}, "list": {"category", "special"}},
	"phpBB":     {"thread": {"thread"}, "list": {"list of threads", "search"}, "front": {"list of forums"}, "profile/members": {"profile"}},
}

type labelled struct {
	File, CMS, Level, URL string
}

type tally struct{ pages, detected, labelled, agree, terminal, hollow, objects int }

// TestRealPages measures the shipped base on saved pages whose application is known.
func TestRealPages(t *testing.T) {
	dir := os.Getenv("MUNINN_DATA")
	if dir == "" {
		t.Skip("MUNINN_DATA is not set: the folder of real pages is not at hand")
	}
	dir = filepath.Join(dir, "aah")
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := New(base, DefaultLimits())
	f, err := os.Open(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tallies, wrong := map[string]*tally{}, 0
	var misses []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l labelled
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		d, raw := apply(t, h, filepath.Join(dir, l.File), l.URL)
		levels, known := sameLevel[l.CMS]
		if !known {
			if sameLevel[d.Application] != nil {
				wrong++
				misses = append(misses, fmt.Sprintf("%s is %s, taken for %s by %s", l.File, l.CMS, d.Application, d.Rule))
			}
			continue
		}
		n := tallies[l.CMS]
		if n == nil {
			n = &tally{}
			tallies[l.CMS] = n
		}
		n.pages++
		if d.Application != l.CMS {
			misses = append(misses, fmt.Sprintf("%s (%s): taken for %q", l.File, l.CMS, d.Application))
			continue
		}
		n.detected++
		count(n, l, d, levels[l.Level], &misses)
		if l.CMS == "phpBB" && !bytes.Contains(raw, []byte(`class="postbody"`)) && d.Level == "thread" {
			n.terminal-- // "The topic you requested does not exist", without a post
			n.hollow++
		}
	}
	sort.Strings(misses)
	t.Log(strings.Join(misses, "\n"))
	for name, n := range tallies {
		t.Logf("%s: detected %d of %d, level agrees %d of %d, objects on %d of %d terminal pages (and %d without content)", name, n.detected, n.pages, n.agree, n.labelled, n.objects, n.terminal, n.hollow)
		if n.detected*100 < n.pages*95 || n.agree*100 < n.labelled*85 || n.objects*100 < n.terminal*90 {
			t.Errorf("%s: the base does worse than it did", name)
		}
	}
	if wrong > 5 {
		t.Errorf("%d pages of other applications are taken for one of these", wrong)
	}
}

func count(n *tally, l labelled, d *page.Document, want []string, misses *[]string) {
	if len(want) > 0 {
		n.labelled++
		agrees := false
		for _, level := range want {
			agrees = agrees || d.Level == level
		}
		if agrees {
			n.agree++
		} else {
			*misses = append(*misses, fmt.Sprintf("%s (%s): level %q, labelled %s %s", l.File, l.CMS, d.Level, l.Level, l.URL))
		}
	}
	if d.Level == "article" || d.Level == "thread" {
		n.terminal++
		body := false
		for _, o := range d.Objects {
			body = body || o.Properties["body"] != ""
		}
		if body {
			n.objects++
		} else {
			*misses = append(*misses, fmt.Sprintf("%s (%s): no object with a body on level %s; %d objects", l.File, l.CMS, d.Level, len(d.Objects)))
		}
	}
}

func apply(t *testing.T, h *Helper, path, url string) (*page.Document, []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if url == "" {
		url = "http://a.test/unknown/page"
	}
	d := page.Parse(page.Input{URL: url, MIME: "text/html", Body: raw}, page.DefaultLimits())
	h.Apply(d, raw)
	return d, raw
}

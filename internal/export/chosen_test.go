package export_test

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/export"
)

// TestChosen: decisions on single captures keep one of two captures of a URL, with its closure; the original of a revisit comes though its decision
// drops it.
func TestChosen(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	world(t, from)
	o := order("c")
	later := epoch.Add(24 * time.Hour)
	o.Chosen = export.NewChosen("selection s, version 2")
	o.Chosen.Add("c", "http://a.example/page", epoch, export.Decision{By: "ann", Why: "old"})
	o.Chosen.Add("c", "http://a.example/page", later, export.Decision{Keep: true, By: "ann", Why: "=new"})
	o.Chosen.Add("d", "http://a.example/other", epoch, export.Decision{Keep: true, By: "of another crawl"})
	result := run(t, from, openDir(t, dir), o)
	if result.Groups[export.WhyKept] != 1 || result.Groups[export.WhyOriginal] != 1 {
		t.Errorf("%+v", result.Groups)
	}
	_, list := records(t, filepath.Join(dir, "*.warc.gz"))
	for what, want := range map[string]bool{"revisit http://a.example/page": true, "response http://a.example/page": true, "response http://a.example/other": false, "revisit http://a.example/copy": false} {
		if slices.Contains(list, what) != want {
			t.Errorf("%s: exported is %v", what, !want)
		}
	}
	to := openDir(t, t.TempDir())
	made, err := export.WriteDecisions(t.Context(), from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := archive.ReadAll(t.Context(), to, made.File.Key, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{
		{"http://a.example/page", "2026-03-04T05:06:07Z", "drop", "ann", "old", "c"},
		{"http://a.example/page", "2026-03-05T05:06:07Z", "keep", "ann", "'=new", "c"},
		{"http://a.example/other", "2026-03-04T05:06:07Z", "drop", "selection s, version 2", "it is no page that can be read: it is exported if a kept page needs it", "c"},
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("there is no %q", want)
		}
	}
	o.Chosen.Add("c", "http://a.example/new", epoch, export.Decision{By: "bob"})
	if other, err := export.WriteDecisions(t.Context(), from, to, o); err != nil || other.Passed || other.File.Key == made.File.Key {
		t.Errorf("other decisions have the table of the first: %+v, %v", other, err)
	}
}

// TestChosenWrong: decisions beside rules, and decisions on crawls of one name, are refused.
func TestChosenWrong(t *testing.T) {
	o := order("c")
	o.Chosen, o.Keep = export.NewChosen("x"), keeping("http://a.example/")
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "use one of them") {
		t.Error(err)
	}
	o.Keep, o.Crawls = nil, append(o.Crawls, archive.CrawlAt{Prefix: "p", Name: "c"})
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), `two are named "c"`) {
		t.Error(err)
	}
}

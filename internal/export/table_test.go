package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/page"
)

// TestDecisions: the CSV has a line for each capture, with who decided, and why; a text of a person is no formula.
func TestDecisions(t *testing.T) {
	from, to := openDir(t, t.TempDir()), openDir(t, t.TempDir())
	world(t, from)
	o := order("c")
	o.Keep = &export.Rules{List: []export.Rule{
		{URL: "http://a.example/other", Drop: true, By: "=HYPERLINK(1)", Why: "says \"nothing\",\nreally"}, {URL: "http://a.example/", Prefix: true, By: "rule 2"},
	}}
	made, err := export.WriteDecisions(t.Context(), from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := archive.ReadAll(t.Context(), to, made.File.Key, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(rows) != 15 || made.Rows != 14 {
		t.Fatalf("%d rows of %d: %v", len(rows), made.Rows, err)
	}
	for _, want := range [][]string{
		{"http://a.example/other", "2026-03-04T05:06:07Z", "drop", "'=HYPERLINK(1)", "says \"nothing\",\nreally", "c"},
		{"http://a.example/page", "2026-03-05T05:06:07Z", "keep", "rule 2", "", "c"},
		{"http://b.example/bg.png", "2026-03-04T05:06:07Z", "drop", "no rule", "no rule matches the URL", "c"},
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("there is no %q", want)
		}
	}
	again, err := export.WriteDecisions(t.Context(), from, to, o)
	if err != nil || !again.Passed || again.File.Key != made.File.Key {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestParquet: the tables of captures and of web objects, as another reader of Parquet sees them, have what the archive has; a second time they have the same bytes.
func TestParquet(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	to := openDir(t, dir)
	world(t, from)
	objects(t, from)
	o := order("c", "e")
	o.Keep = keeping("http://a.example/*")
	made, err := export.WriteCaptures(t.Context(), from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	captures, err := parquet.ReadFile[export.CaptureRow](filepath.Join(dir, made.File.Key))
	if err != nil || len(captures) != made.Rows || len(captures) != 15 {
		t.Fatalf("%d captures of %d: %v", len(captures), made.Rows, err)
	}
	at := slices.IndexFunc(captures, func(r export.CaptureRow) bool { return r.URL == "http://a.example/middle" })
	if r := captures[at]; r.Crawl != "c" || r.Status != 302 || r.Via != "http://a.example/old" || r.Hops != "R" || r.SURT != "example,a)/middle" || !r.Keep || r.Run != 1 ||
		!r.Date.Equal(epoch) || r.Score == nil || *r.Score != 0.5 || !strings.HasSuffix(r.WARC, ".warc.gz") || r.Length == 0 {
		t.Errorf("%+v", r)
	}
	made, err = export.WriteObjects(t.Context(), from, to, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[export.ObjectRow](filepath.Join(dir, made.File.Key))
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d objects: %v", len(rows), err)
	}
	if r := rows[0]; r.Crawl != "e" || r.Type != "post" || r.Author != "Ä" || r.Text != "two\n\nlines" || !strings.Contains(r.Properties, `"author"`) || r.Application != "phpbb" {
		t.Errorf("%+v", r)
	}
	other := t.TempDir()
	for _, write := range []func() (export.Tabled, error){
		func() (export.Tabled, error) { return export.WriteCaptures(t.Context(), from, openDir(t, other), o) },
		func() (export.Tabled, error) {
			return export.WriteObjects(t.Context(), from, openDir(t, other), o, nil)
		},
	} {
		if _, err := write(); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, files(t, dir), files(t, other))
}

// objects archives a page with a web object.
func objects(t *testing.T, store archive.Store) {
	t.Helper()
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "e", Batch: "e.example-1@w1.1", Nonce: "0123456789abcdef", Worker: "w1"}, epoch, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := exchange{url: "http://e.example/thread", path: "S", body: "<p>two<p>lines", title: "A thread"}.capture()
	c.Page.Application = "phpbb"
	c.Page.Objects = []crawl.Object{{Type: "post", Confidence: 0.9, Properties: crawl.Properties{{Name: "author", Value: "Ä"}, {Name: "body", Value: "two\n\nlines"}}}}
	if _, err := s.Add(c); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
}

// TestOpenedObjects: the texts of objects are cut out of the document that a browser has made of a page, and out of PDF files.
func TestOpenedObjects(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	first := func(text string) []crawl.Object {
		at := &crawl.Place{Blocks: []int{0}, Limit: 100, Bytes: len(text), Sum: crawl.SumOf(text)}
		return []crawl.Object{{Type: "article", Properties: crawl.Properties{{Name: "body", Value: text, Place: at}}}}
	}
	batch{crawl: "c", name: "a.example-1@w1.1", shown: "http://a.example/page", exchanges: []exchange{
		{url: "http://a.example/page", path: "S", body: "<p>as it came", objects: first("as shown")},
		{url: "http://a.example/paper", path: "S", mime: "application/pdf", body: "%PDF-1.7", objects: first("of the paper")},
	}}.commit(t, from)
	paper := func(context.Context, []byte, int) (page.Paper, error) {
		return page.Paper{Pages: []string{"of the paper"}}, nil
	}
	made, err := export.WriteObjects(t.Context(), from, openDir(t, dir), order("c"), paper)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[export.ObjectRow](filepath.Join(dir, made.File.Key))
	if err != nil || len(rows) != 2 || rows[0].Text != "as shown" || rows[1].Text != "of the paper" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// TestDamagedTables: tables of a damaged archive have what can be read, and say what they lack; once it is repaired, whole ones are written.
func TestDamagedTables(t *testing.T) {
	for _, test := range []struct {
		name, suffix string
		write        func(context.Context, archive.Store, archive.Store, export.Order) (export.Tabled, error)
		fewer        bool // rows
	}{
		{"captures of a WARC file that is cut off", ".warc.gz", export.WriteCaptures, false},
		{"objects of a WARC file that is cut off", ".warc.gz", func(ctx context.Context, from, to archive.Store, o export.Order) (export.Tabled, error) {
			return export.WriteObjects(ctx, from, to, o, nil)
		}, true},
		{"captures of an index that is cut off", ".cdxj", export.WriteCaptures, true},
		{"decisions of an index that is cut off", ".cdxj", export.WriteDecisions, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			from, to := openDir(t, dir), openDir(t, t.TempDir())
			world(t, from)
			objects(t, from)
			o := order("c", "e")
			var name string
			err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
				if strings.Contains(path, "e.example") && strings.HasSuffix(path, test.suffix) {
					name = path
				}
				return err
			})
			if err != nil || name == "" {
				t.Fatalf("no file %s: %v", test.suffix, err)
			}
			whole, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, whole[:len(whole)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			broken, err := test.write(t.Context(), from, to, o)
			if err != nil || len(broken.Damaged) != 1 {
				t.Fatalf("%+v, %v", broken, err)
			}
			if again, err := test.write(t.Context(), from, to, o); err != nil || !again.Passed || len(again.Damaged) != 1 || again.File.Key != broken.File.Key {
				t.Errorf("again: %+v, %v", again, err)
			}
			if err := os.WriteFile(name, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			repaired, err := test.write(t.Context(), from, to, o)
			if err != nil || repaired.Passed || repaired.File.Key == broken.File.Key || len(repaired.Damaged) > 0 || (repaired.Rows > broken.Rows) != test.fewer {
				t.Errorf("repaired: %+v, broken: %+v, %v", repaired, broken, err)
			}
		})
	}
}

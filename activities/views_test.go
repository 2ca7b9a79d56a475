package activities

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// found are the URLs of the catalogue of a database, and the number of documents of its index.
func found(t *testing.T, where string) (urls []string, documents int) {
	t.Helper()
	db, err := views.OpenDatabase(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Catalogue.Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(e catalogue.Entry) error {
		urls = append(urls, e.URL)
		return nil
	})
	a, errSearch := db.Index.Search(t.Context(), query.Query{}, search.Options{Limit: 1})
	if err := errors.Join(err, errSearch); err != nil {
		t.Fatal(err)
	}
	return urls, a.Total
}

// TestViews: segments are added to the views once, by their names or all of a crawl, and a further attempt continues behind the cursor. Without a database
// workers say that there are no views; one that does not answer is tried again.
func TestViews(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	of := DerivedFrom{Crawl: rigCrawl, Step: "text"}
	pending := PendingInput{DerivedFrom: of, Most: 10}
	page, err := call[PendingSegments](r, r.Pending, pending)
	if err != nil || page.Views || len(page.Segments) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	first := page.Segments[0]
	if _, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of}); err == nil || !strings.Contains(err.Error(), "no database") {
		t.Error(err)
	}
	r.Database = &Database{Where: "postgres://nobody@127.0.0.1:1/none"}
	if _, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of}); err == nil {
		t.Error("views without a database")
	}
	r.Database = &Database{Where: where}
	defer func() { r.must(r.Database.Close()) }()
	if page, err = call[PendingSegments](r, r.Pending, pending); err != nil || !page.Views {
		t.Errorf("%+v, %v", page, err)
	}
	// Before it is derived, a segment is in the catalogue alone.
	if out, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of, Segments: []string{first}}); err != nil || out.Captures != 1 || out.Texts != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = call[DeriveResult](r, r.Derive, DeriveInput{DerivedFrom: of, Segment: first})
	r.must(err)
	for _, want := range []ViewsResult{{Texts: 1}, {}} {
		if out, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of, Segments: []string{first}}); err != nil || out.Captures != 0 || out.Texts != want.Texts {
			t.Errorf("%+v, %v, want %+v", out, err, want)
		}
	}
	urls, documents := found(t, where)
	if len(urls) == 0 || documents == 0 {
		t.Errorf("%q, %d documents", urls, documents)
	}
	second := r.copySegment(first)
	r.env.SetHeartbeatDetails(second)
	if out, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of}); err != nil || out.Captures != 0 {
		t.Errorf("behind the cursor: %+v, %v", out, err)
	}
	r.env.SetHeartbeatDetails(first)
	if out, err := call[ViewsResult](r, r.Views, ViewsInput{DerivedFrom: of}); err != nil || out.Captures+len(out.Damaged) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	after, _ := found(t, where)
	if slices.Sort(after); len(after) < len(urls) {
		t.Errorf("%q became %q", urls, after)
	}
}

// copySegment puts the manifest of a segment under another name, behind it: a fault of the archive.
func (r *rig) copySegment(name string) string {
	r.t.Helper()
	layout := archive.Layout{Crawl: rigCrawl}
	from, err := os.Open(filepath.Join(r.dir, layout.Manifest(name)))
	r.must(err)
	defer func() { _ = from.Close() }()
	raw, err := io.ReadAll(from)
	r.must(err)
	other := "z" + name
	r.must(os.WriteFile(filepath.Join(r.dir, layout.Manifest(other)), raw, 0o600))
	return other
}

// TestViewsInputs: names that lead out of the archive are refused.
func TestViewsInputs(t *testing.T) {
	good := ViewsInput{DerivedFrom: DerivedFrom{Crawl: "c", Step: "text"}, Segments: []string{"a.example-1@w.0-0123456789abcdef"}}
	bad := good
	bad.Segments = []string{"../x"}
	other := good
	other.Crawl = "../c"
	if checkInput(good) != nil || checkInput(bad) == nil || checkInput(other) == nil {
		t.Errorf("%v, %v, %v", checkInput(good), checkInput(bad), checkInput(other))
	}
}

package room_test

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/room/views"
)

// inDatabase are views of an archive in a database.
func inDatabase(t *testing.T, r *rig, where string) *views.Views {
	t.Helper()
	db, err := views.OpenDatabase(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Check(t.Context(), []archive.Store{r.store}); err != nil {
		t.Error(err)
	}
	return views.New(views.Config{
		Archives: []archive.Store{r.store}, Catalogue: db.Catalogue, Index: db.Index, Derive: true, Dir: r.temp(), Now: func() time.Time { return r.now },
	})
}

// ranks are what the two indexes count differently: bleve by BM25, PostgreSQL by ts_rank.
var ranks = regexp.MustCompile(`"rank": [0-9.e-]+`)

// twin is the JSON of a page, without ranks.
func twin(t *testing.T, h http.Handler, target string) []byte {
	t.Helper()
	sep := "?"
	if strings.Contains(target, "?") {
		sep = "&"
	}
	w := ask(t, h, target+sep+"format=json")
	return ranks.ReplaceAll(w.Body.Bytes(), nil)
}

// TestPostgres: a room whose views are in PostgreSQL has the pages of one whose views are in a folder. Two servers that build the views of a database
// at a time do not disturb each other, and find what the other one has added; views of another archive are not used.
func TestPostgres(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	local := ravens(t)
	_, want := local.open()
	both := [2]*views.Views{inDatabase(t, local, where), inDatabase(t, local, where)}
	var building sync.WaitGroup
	for _, v := range both {
		building.Go(func() {
			for range 3 {
				if err := v.Pass(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	building.Wait()
	for i, v := range both {
		if s := v.State(); s.Segments != 3 || s.Viewed != 3 || len(s.Faults) > 0 {
			t.Errorf("server %d: %+v", i, s)
		}
		other := *local
		other.views = v
		_, got := other.open()
		for _, p := range pages {
			if a, b := twin(t, want, p.target), twin(t, got, p.target); !bytes.Equal(a, b) {
				t.Errorf("server %d: %s\n%s\nin place of\n%s", i, p.target, b, a)
			}
		}
	}
	another := newRig(t)
	another.segment("c", "a.example-9@w.1", 1, exchange{url: "http://a.example/", body: "<p>another archive"})
	db, err := views.OpenDatabase(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var stale *views.Stale
	if err := db.Check(t.Context(), []archive.Store{another.store}); !errors.As(err, &stale) || stale.Crawl != "c" {
		t.Errorf("%v", err)
	}
}

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// visibleWithin is the time in which readers find a page after the manifest of its segment is in the archive.
const visibleWithin = time.Minute

// TestLongVisible: readers find what a crawl archives while it runs, in S3: in a room with views of its own, which follows the archive, and in one whose
// views are in a database that the workers add to. The clock of a page begins with its manifest, whose time the store has in whole seconds.
func TestLongVisible(t *testing.T) {
	t.Parallel()
	process, s3 := newS3(t)
	process.start(t)
	t.Cleanup(func() { process.kill(t) })
	database := pgtest.Start(t).Database(t)
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 8, Latency: 1500 * time.Millisecond}, 4, 24))
	conf := Config(server, world, t.TempDir())
	conf.Archive, conf.S3, conf.Views = moveStore, s3, database
	StartWorker(t, conf)
	d := Definition("visible", world)
	d.Order.PerQueue = 3
	StartCrawl(t, server.Client, d)
	derivation := startDerivation(t, server, d.Name)
	store, err := archive.Open(t.Context(), moveStore, s3)
	if err != nil {
		t.Fatal(err)
	}
	awaitPages(t, world, 8) // a room wants an archive that has a crawl
	committed, rooms := map[string]time.Time{}, map[string]*watchedRoom{}
	for name, args := range map[string][]string{
		"own": {"--data", t.TempDir()}, "database": {"--views", database, "--derive=false"},
	} {
		base, _ := startRoomWith(t, []string{"MUNINN_S3_ACCESS_KEY=" + s3.AccessKey, "MUNINN_S3_SECRET_KEY=" + s3.SecretKey},
			append(args, "--archive", moveStore, "--s3-endpoint", s3.Endpoint, "--listen", "127.0.0.1:0")...)
		rooms[name] = &watchedRoom{base: base, seen: map[string]time.Time{}}
	}
	ended := make(chan error, 1)
	go func() { ended <- derivation.Get(t.Context(), nil) }()
	during, over := 0, false
	for late := time.Now().Add(CrawlTime); ; time.Sleep(200 * time.Millisecond) {
		for _, r := range rooms {
			r.look(t)
		}
		committedPages(t, store, d.Name, committed) // afterwards: what is found is archived
		select {
		case err := <-ended:
			if over = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		if !over {
			during = min(len(rooms["own"].seen), len(rooms["database"].seen))
		} else if len(rooms["own"].seen) >= len(committed) && len(rooms["database"].seen) >= len(committed) {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("%d pages are archived; readers find %d and %d", len(committed), len(rooms["own"].seen), len(rooms["database"].seen))
		}
	}
	if len(committed) < 90 || during == 0 {
		t.Errorf("%d pages are archived; before the end %d are found", len(committed), during)
	}
	for name, r := range rooms {
		var most time.Duration
		for url, at := range r.seen {
			if committed[url].IsZero() {
				t.Errorf("%s: %s is found and not archived", name, url)
			}
			most = max(most, at.Sub(committed[url]))
		}
		if t.Logf("%s: %d pages, the last one %v after its manifest", name, len(r.seen), most.Round(time.Millisecond)); most > visibleWithin {
			t.Errorf("%s: want %v", name, visibleWithin)
		}
	}
}

// watchedRoom is a room, and when it was first seen to find a page.
type watchedRoom struct {
	base string
	seen map[string]time.Time
}

// look asks for all that the room finds.
func (r *watchedRoom) look(t *testing.T) {
	t.Helper()
	for page := 1; ; page++ {
		var found struct {
			Total int
			Hits  []struct{ URL string }
		}
		getJSON(t, fmt.Sprintf("%s/search?q=type:page&fold=no&facets=no&hits=100&page=%d", r.base, page), &found)
		for _, h := range found.Hits {
			if r.seen[h.URL].IsZero() {
				r.seen[h.URL] = time.Now()
			}
		}
		if page*100 >= found.Total {
			return
		}
	}
}

// committedPages adds the pages of a crawl that its archive has, with the time of their manifest.
func committedPages(t *testing.T, store archive.Store, crawl string, known map[string]time.Time) {
	t.Helper()
	changed := map[string]time.Time{}
	err := store.List(t.Context(), archive.Layout{Crawl: crawl}.Manifests(), func(o archive.Object) error {
		if name, is := archive.SegmentOf(o.Key); is {
			changed[name] = o.Changed
		}
		return nil
	})
	if err == nil {
		err = archive.Manifests(t.Context(), store, "", crawl, func(m archive.Manifest) error {
			return archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
				if i.Status == 200 && i.MIME == "text/html" && known[i.URL].IsZero() && !changed[m.Segment()].IsZero() {
					known[i.URL] = changed[m.Segment()]
				}
				return nil
			})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

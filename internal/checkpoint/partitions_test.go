package checkpoint

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/score"
)

// newSpreadWorker is a worker whose crawl is spread: it owns all partitions.
func newSpreadWorker(t testing.TB, seed uint64) *worker {
	t.Helper()
	return newSpreadWorkerOf(t, seed, opened(t, t.TempDir()), crawl.Recrawl{})
}

// newSpreadWorkerOf is one with a frontier, and with bounds of the intervals of pages.
func newSpreadWorkerOf(t testing.TB, seed uint64, f *frontier.Frontier, bounds crawl.Recrawl) *worker {
	t.Helper()
	w := newWorker(t, seed)
	plan, err := w.Crawl("c").Plan()
	must(t, err)
	w.rig.Frontier = f
	plan.Definition.Spread, plan.Definition.Recrawl = true, bounds
	_, err = w.Begin("c", "owner", 1, plan.Definition, nil, false)
	must(t, err)
	_, _, err = w.Crawl("c").UseArchive(frontier.Place{Where: w.store.String()})
	must(t, err)
	must(t, KeepBegun(t.Context(), w.store, "w", Begun{Definition: plan.Definition, Run: 1, Archives: plan.Archives}))
	w.offerSeed()
	return w
}

// offerSeed queues the seed as the run's beginning does.
func (w *worker) offerSeed() {
	w.t.Helper()
	plan, err := w.Crawl("c").Plan()
	must(w.t, err)
	found, _, err := pipeline.Seeds(plan.Definition)
	must(w.t, err)
	must(w.t, w.Crawl("c").URLs().Offer("seeds", found))
}

// checkpointAll makes a checkpoint of a worker that owns all partitions.
func (w *worker) checkpointAll() {
	w.t.Helper()
	w.now = w.now.Add(time.Hour)
	tenures := map[int]uint64{}
	for p := range ring.Partitions {
		tenures[p] = 5
	}
	_, err := Make(w.t.Context(), w.store, w.Frontier, Worker{Name: "w", Instance: "folder", Epoch: 7, Tenures: func() map[int]uint64 { return tenures }}, w.now)
	must(w.t, err)
	mark, err := w.Crawl("c").Watermark()
	must(w.t, err)
	w.batch = max(w.batch, int(mark.Below)) // no claim is made here, and it stands
}

// partitionsOf makes partitions in a frontier.
func partitionsOf(f *frontier.Frontier, store archive.Store) *Partitions {
	return &Partitions{
		Store: store, Open: func(context.Context, string) (archive.Store, error) { return store, nil }, Frontier: f, Log: slog.New(slog.DiscardHandler),
		Cleared: func(_ context.Context, _ frontier.Partition, do func() error) error { return do() },
		Engine:  pipeline.New(f, nil, score.NewDictionary(), page.DefaultLimits(), time.Now),
	}
}

// every lists the partitions of one of some workers.
func every(n, of int) (list []frontier.Partition) {
	for p := n; p < frontier.Partitions; p += of {
		list = append(list, frontier.Partition(p))
	}
	return list
}

// together is what some frontiers know together; nobody knows what another one does.
func together(t testing.TB, all ...*frontier.Frontier) map[string]string {
	t.Helper()
	known := map[string]string{}
	for _, f := range all {
		of, _ := knowledge(t, f)
		for url, what := range of {
			if known[url] != "" {
				t.Errorf("%s is known twice", url)
			}
			known[url] = what
		}
	}
	return known
}

func sameKnowledge(t testing.TB, was, now map[string]string) {
	t.Helper()
	faults := 0
	for url, want := range was {
		if now[url] != want {
			if faults++; faults < 5 {
				t.Errorf("%s\nis  %s\nwas %s", url, now[url], want)
			}
		}
	}
	if len(now) != len(was) || faults > 0 {
		t.Errorf("%d URLs are known, %d were, %d differ", len(now), len(was), faults)
	}
}

// TestPartitionsCutOff: cut off after any number of objects, a rebuild of partitions is continued by the next call, also of another process and with further
// partitions; in the end they have what the lost worker had, and little was read twice.
func TestPartitionsCutOff(t *testing.T) {
	w := newSpreadWorker(t, 9)
	for range 10 {
		w.run(true)
	}
	w.checkpointAll()
	const since = 60
	for range since {
		w.run(true)
	}
	dir := t.TempDir()
	f, err := frontier.Open(dir, frontier.Options{NoSync: true})
	must(t, err)
	cuts, links := 0, 0
	for list := every(0, 2); ; {
		cut := &cutGets{Store: w.store, left: 25}
		r := partitionsOf(f, cut)
		r.NoteEvery = 4
		err := r.Run(t.Context(), list)
		links += cut.links
		if len(list) < frontier.Partitions && err != nil { // more are asked for
			list = every(0, 1)
			continue
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if cuts++; cuts > 100 {
			t.Fatal("it does not come to an end")
		}
		must(t, f.Close())
		f, err = frontier.Open(dir, frontier.Options{NoSync: true})
		must(t, err)
	}
	defer func() { _ = f.Close() }()
	sameKnowledge(t, together(t, w.Frontier), together(t, f))
	if most := 2*since + cuts*(segmentsAhead+8); cuts < 2 || links > most {
		t.Errorf("it was cut off %d times, and has read %d sidecars of %d, once for each half of the partitions; want %d at most", cuts, links, since, most)
	}
	notes, err := f.Crawl("c").RebuildNotes(every(0, 1))
	if must(t, err); len(notes) > 0 {
		t.Errorf("%d notes are left", len(notes))
	}
}

// TestLongPartitions makes the partitions of a lost worker again in two others, half of them each, and prints memory, time, and what was read.
func TestLongPartitions(t *testing.T) {
	segments := 200
	if n, err := strconv.Atoi(os.Getenv("MUNINN_REBUILD_SEGMENTS")); err == nil {
		segments = n
	}
	w := newSpreadWorker(t, 1)
	w.hosts, w.pages = 2000, 1000
	for i := range segments {
		if w.run(true); i == segments/10 {
			w.checkpointAll()
		}
	}
	var made []*frontier.Frontier
	for n := range 2 {
		f := opened(t, t.TempDir())
		counts := &countedStore{Store: w.store, reads: map[string]int{}}
		peak := heapPeak()
		from := time.Now()
		must(t, partitionsOf(f, counts).Run(t.Context(), every(n, 2)))
		t.Logf("%d partitions, %d segments, %d URLs: %s; the heap has grown by %d MB at most; reads %v", frontier.Partitions/2, segments, len(w.known), time.Since(from).Round(time.Second/10), peak(t)>>20, counts.reads)
		made = append(made, f)
	}
	sameKnowledge(t, together(t, w.Frontier), together(t, made...))
}

// rebuildHeap is how much the heap may grow while a frontier is rebuilt, in bytes, of however many segments: Badger's tables in memory, two of 64 MB for each store that is
// written, and what is read ahead.
const rebuildHeap = 512 << 20

// heapPeak measures until it is asked, and fails the test if the heap has grown by more than is allowed.
func heapPeak() func(*testing.T) uint64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, ended := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				ended <- peak
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func(t *testing.T) uint64 {
		t.Helper()
		close(done)
		grown := <-ended - before.HeapInuse
		if grown > rebuildHeap {
			t.Errorf("the heap has grown by %d MB, want %d at most", grown>>20, rebuildHeap>>20)
		}
		return grown
	}
}

// countedStore counts reads by the kind of object.
type countedStore struct {
	archive.Store
	mu    sync.Mutex
	reads map[string]int
}

func (s *countedStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.count("whole", key)
	return s.Store.Get(ctx, key)
}

func (s *countedStore) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s.count("part of", key)
	return s.Store.GetRange(ctx, key, offset, length)
}

func (s *countedStore) count(how, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, kind, _ := strings.Cut(path.Base(key), ".")
	s.reads[how+" "+kind[strings.LastIndexByte(kind, '.')+1:]]++
}

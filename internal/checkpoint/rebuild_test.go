package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// worker is a rig whose batches go into the archive and into the frontier, as a worker's do.
type worker struct {
	*rig
	random  *rand.Rand
	waiting []string // URLs that no batch has had
	known   map[string]bool
	hosts   int // that links lead to
	pages   int // of each
	batch   int
	late    []frontier.Commit // archived, and not in the frontier
	inRun   uint32            // that manifests name; 0: none, as earlier versions
	later   bool              // the lives of batches are not their first ones
}

// commit commits what is archived.
func (w *worker) commit() {
	w.t.Helper()
	for _, c := range w.late {
		must(w.t, w.Crawl("c").Commit(c))
	}
	w.late = nil
}

func newWorker(t testing.TB, seed uint64) *worker {
	t.Helper()
	w := &worker{rig: newRig(t), random: rand.New(rand.NewPCG(seed, 3)), known: map[string]bool{}, hosts: 40, pages: 60}
	_, _, err := w.Crawl("c").UseArchive(frontier.Place{Where: w.store.String()})
	must(t, err)
	w.found("http://a.example/")
	w.offer("http://a.example/")
	return w
}

func (w *worker) found(url string) {
	if !w.known[url] {
		w.known[url] = true
		w.waiting = append(w.waiting, url)
	}
}

// run makes a batch: some URLs that wait are fetched, others fail, and pages have links. Archived alone, the batch is one whose worker was
// killed between ARCHIVE and Commit.
func (w *worker) run(commit bool) {
	w.t.Helper()
	w.batch++
	w.now = w.now.Add(time.Second)
	label := archive.Label{Crawl: "c", Batch: fmt.Sprintf("a.example-%d@w.7", w.batch), Nonce: fmt.Sprintf("%016x", w.batch), Worker: "w", Run: w.inRun}
	if w.later {
		label.Nonce = "f" + label.Nonce[1:]
	}
	s, err := archive.NewSegment(w.t.TempDir(), label, w.now, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	must(w.t, err)
	defer s.Close()
	c := frontier.Commit{Batch: label.Batch, Originals: map[string]crawl.Visit{}}
	take := min(1+w.random.IntN(4), len(w.waiting))
	taken, left := w.waiting[:take], w.waiting[take:]
	if w.random.IntN(2) == 0 { // those that were found last
		left, taken = w.waiting[:len(w.waiting)-take], w.waiting[len(w.waiting)-take:]
	}
	taken = slices.Clone(taken)
	w.waiting = left
	for _, url := range taken {
		if w.random.IntN(6) == 0 {
			o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeFailed, Reason: "no route"}, Score: -1}
			must(w.t, s.Log(archive.Logged{Time: w.now, URL: url, Kind: archive.LoggedKind(o.Kind), Reason: o.Reason, Attempt: 1}))
			c.Outcomes = append(c.Outcomes, o)
			continue
		}
		found := w.capture(url)
		rec, err := s.Add(found)
		must(w.t, err)
		line := archive.LoggedExchange(&found.Exchange, 1)
		line.Print = w.print(url)
		must(w.t, s.Log(line))
		rec.Visit.ETag, rec.Visit.LastModified = "", "" // are in the WARC alone
		o := crawl.PageOutcome{Outcome: found.Outcome, Score: found.Page.Verdict.Score, Print: line.Print}
		o.Visit = rec.Visit
		c.Originals[rec.Digest] = rec.Visit
		c.Outcomes = append(c.Outcomes, o)
		for i := range found.Page.Links {
			c.Discoveries = append(c.Discoveries, found.Page.Links[i].Discovery(&found.Page.Verdict.Links[i], crawl.Origin{URL: url, Path: "S"}, crawl.LinkNeeds{}))
		}
	}
	_, err = s.Commit(w.t.Context(), w.store)
	must(w.t, err)
	if w.late = append(w.late, c); commit {
		w.commit()
	}
}

// print is what a page reads like: those of the host of the calendar are all alike.
func (w *worker) print(url string) *crawl.Print {
	p := &crawl.Print{All: w.random.Uint64(), Own: w.random.Uint64(), Words: 300, OwnWords: 200}
	if strings.HasPrefix(url, calendarHost) {
		*p = crawl.Print{All: 7, Own: 7, Words: 20, OwnWords: 10}
	}
	return p
}

// calendarHost has a calendar without end.
const calendarHost = "http://calendar.example/"

// calendar adds links to days of it to a page.
func (w *worker) calendar(p *crawl.Judged) {
	for range 8 {
		to := fmt.Sprintf("%sday?date=%d", calendarHost, w.random.IntN(1e6))
		w.found(to)
		p.Links = append(p.Links, crawl.Outlink{URL: to, Hop: crawl.HopLink, Context: "a/@href", Block: -1})
		p.Verdict.Links = append(p.Verdict.Links, crawl.LinkVerdict{Score: 0.5})
	}
}

// capture is a page with links to others.
func (w *worker) capture(url string) archive.Capture {
	header, body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "<p>"+url
	text := func(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: url, IP: "192.0.2.1", Started: w.now.Truncate(time.Second), Status: 200, HeaderBytes: int64(len(header)), MIME: "text/html", Path: "S",
			Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200, Bytes: 100},
		},
		Request: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), Response: text(header + body), Header: text(header), Body: text(body),
	}
	p := &crawl.Judged{Verdict: crawl.Verdict{Score: float64(w.random.IntN(100)) / 100}}
	p.URL = url
	if url == "http://a.example/" || strings.HasPrefix(url, calendarHost) {
		w.calendar(p)
	}
	others := w.random.IntN(12)
	if strings.HasPrefix(url, calendarHost) {
		others = 0
	}
	for range others {
		to := fmt.Sprintf("http://h%d.example/%d", w.random.IntN(w.hosts), w.random.IntN(w.pages))
		w.found(to)
		p.Links = append(p.Links, crawl.Outlink{URL: to, Hop: crawl.HopLink, Context: "a/@href", Block: -1})
		p.Verdict.Links = append(p.Verdict.Links, crawl.LinkVerdict{Score: float64(w.random.IntN(100)) / 100})
	}
	c.Page = p
	return c
}

func (w *worker) rebuild(store archive.Store) *Rebuild {
	return &Rebuild{
		Data: w.t.(*testing.T).TempDir(), Worker: "w", Store: store, Options: frontier.Options{NoSync: true}, Log: slog.New(slog.DiscardHandler),
		Open: func(context.Context, string) (archive.Store, error) { return store, nil },
		Engine: func(f *frontier.Frontier) *pipeline.Engine {
			return pipeline.New(f, nil, score.NewDictionary(), page.DefaultLimits(), time.Now)
		},
	}
}

// knowledge is what a frontier knows of each URL, and of the run.
func knowledge(t testing.TB, f *frontier.Frontier) (list map[string]string, totals string) {
	t.Helper()
	return sampled(t, f, 1)
}

// sampled is the knowledge of a frontier: what it explains of one URL of each so many, chosen by their text, and the states of the others. For the
// place of a URL in its queue Explain walks through the queue.
func sampled(t testing.TB, f *frontier.Frontier, one uint32) (list map[string]string, totals string) {
	t.Helper()
	list = map[string]string{}
	must(t, f.Crawl("c").URLs().Known(func(url, state string) error {
		list[url] = state
		return nil
	}))
	for url := range list {
		if fnv.Sum32(url)%one != 0 {
			continue
		}
		e, err := f.Crawl("c").URLs().Explain(trusted(t, url))
		must(t, err)
		list[url] = fmt.Sprintf("%+v", e)
	}
	s, err := f.Crawl("c").Status()
	must(t, err)
	s.Totals.Bytes = 0 // of an exchange on the wire; the index has those of the record
	return list, fmt.Sprintf("%d wait in %d queues, %+v; traps %v", s.Waiting, s.Queues, s.Totals, s.Traps)
}

func trusted(t testing.TB, url string) urls.URL {
	t.Helper()
	u, err := urls.Trusted(url)
	must(t, err)
	return u
}

func same(t *testing.T, was, now *frontier.Frontier) {
	t.Helper()
	sameSample(t, was, now, 1)
}

func sameSample(t *testing.T, was, now *frontier.Frontier, one uint32) {
	t.Helper()
	want, wantTotals := sampled(t, was, one)
	got, gotTotals := sampled(t, now, one)
	for url := range want {
		if got[url] != want[url] {
			t.Errorf("%s\nis  %s\nwas %s", url, got[url], want[url])
		}
	}
	if len(got) != len(want) || gotTotals != wantTotals {
		t.Errorf("%d URLs, was %d: %s\nwas %s", len(got), len(want), gotTotals, wantTotals)
	}
}

// TestRebuild: a frontier that is rebuilt from a checkpoint and the segments since has the URLs, the states, the scores and the totals of the
// lost one; also of a batch that was archived before the checkpoint and committed after it.
func TestRebuild(t *testing.T) {
	closed := 0
	for seed := range uint64(3) {
		w := newWorker(t, seed)
		for range 20 {
			w.run(true)
		}
		w.checkpoint()
		for range 10 {
			w.run(true)
		}
		w.run(false)
		w.checkpoint()
		w.commit()
		for range 20 {
			w.run(true)
		}
		w.run(false)
		r := w.rebuild(w.store)
		out, err := r.Run(t.Context())
		must(t, err)
		w.commit()
		if out.Segments != 22 {
			t.Errorf("%+v", out)
		}
		if list, err := os.ReadDir(r.Data); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		same(t, w.Frontier, opened(t, out.Frontier))
		s, err := w.Crawl("c").Status()
		must(t, err)
		closed += len(s.Traps)
		if _, err := r.Run(t.Context()); !errors.Is(err, ErrFrontier) {
			t.Errorf("with a frontier: %v", err)
		}
		r.Data, r.Worker = t.TempDir(), "another"
		if _, err := r.Run(t.Context()); !errors.Is(err, ErrNone) {
			t.Errorf("of another worker: %v", err)
		}
	}
	if closed == 0 {
		t.Error("no calendar was closed as a trap")
	}
}

// cutGets fails after a number of reads, as if the command was killed then.
type cutGets struct {
	archive.Store
	left  int
	links int // sidecars that were read
	mu    sync.Mutex
}

func (s *cutGets) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasSuffix(key, ".part") || strings.HasSuffix(key, ".links.zst") {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left--; s.left < 0 {
			return nil, errCut
		}
		if strings.HasSuffix(key, ".links.zst") {
			s.links++
		}
	}
	return s.Store.Get(ctx, key)
}

// TestRebuildCutOff: cut off after any number of objects, a rebuild is continued by the next call, and ends with the same frontier.
func TestRebuildCutOff(t *testing.T) {
	w := newWorker(t, 9)
	for range 6 {
		w.run(true)
	}
	w.checkpoint()
	for range 12 {
		w.run(true)
	}
	r := w.rebuild(nil)
	cuts, replayed := 0, 0
	for left := 1; ; left += 3 {
		cut := &cutGets{Store: w.store, left: left}
		r.Store, r.Open = cut, func(context.Context, string) (archive.Store, error) { return cut, nil }
		out, err := r.Run(t.Context())
		replayed += out.Segments
		if err == nil {
			same(t, w.Frontier, opened(t, out.Frontier))
			break
		}
		if cuts++; !errors.Is(err, errCut) {
			t.Fatal(err)
		}
	}
	if cuts < 4 || replayed != 12 {
		t.Errorf("it was cut off %d times, and has brought in %d segments of 12", cuts, replayed)
	}
}

// explained is of how many URLs TestLongRebuild compares all that is explained of them.
const explained = 2000

// TestLongRebuild rebuilds the frontier of a crawl of many segments, in memory that does not grow with their number, and prints memory and time.
func TestLongRebuild(t *testing.T) {
	segments := 2000
	if n, err := strconv.Atoi(os.Getenv("MUNINN_REBUILD_SEGMENTS")); err == nil {
		segments = n
	}
	w := newWorker(t, 1)
	w.hosts, w.pages = 2000, 1000
	for i := range segments {
		if w.run(true); i == segments/10 {
			w.checkpoint()
		}
	}
	r := w.rebuild(w.store)
	peak, from := heapPeak(), time.Now()
	out, err := r.Run(t.Context())
	must(t, err)
	t.Logf("%d segments of %d since the checkpoint, %d URLs: %s; the heap has grown by %d MB at most", out.Segments, segments, len(w.known), time.Since(from).Round(time.Second), peak(t)>>20)
	sameSample(t, w.Frontier, opened(t, out.Frontier), uint32(max(1, len(w.known)/explained)))
}

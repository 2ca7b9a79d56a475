package learning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/share"
	"github.com/muninn-archive/muninn/internal/text"
)

const testCrawl = "ravens"

// rig is a worker: its frontier with a spread crawl, and its exchange.
type rig struct {
	*frontier.Frontier
	Exchange
	t       testing.TB
	name    string
	dir     string
	now     time.Time
	leads   bool
	workers int
	at      int // pages that it has committed
	edit    func(*order.Page)
}

func newRig(t testing.TB, store archive.Store, name string, edit func(*crawl.Definition)) *rig {
	t.Helper()
	r := &rig{t: t, name: name, dir: t.TempDir(), now: time.Unix(1_800_000_000, 0)}
	r.Exchange = Exchange{
		Store:  func(context.Context) (archive.Store, error) { return store, nil },
		Stream: name + "@1", Every: 25, Snapshot: SnapshotEvery,
		Leads: func() bool { return r.leads }, Workers: func() int { return r.workers }, Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler),
	}
	r.open()
	t.Cleanup(func() { _ = r.Close() })
	d := crawl.DefaultDefinition()
	d.Name, d.Spread, d.Seeds, d.Scope.Within = testCrawl, true, []crawl.Seed{{URL: "http://a.example/"}}, crawl.WithinWeb
	d.Topic.Keywords, d.Order.Strategy = []string{"raven"}, crawl.StrategyFused
	if edit != nil {
		edit(&d)
	}
	_, err := r.Begin(testCrawl, "owner", 0, d, []string{"http://a.example/"}, false)
	r.must(err)
	return r
}

func (r *rig) open() {
	r.t.Helper()
	f, err := frontier.Open(r.dir, frontier.Options{NoSync: true})
	r.must(err)
	r.Frontier, r.Exchange.Frontier, r.runs = f, f, nil
}

// restart is a kill: what is not on disk is lost.
func (r *rig) restart() {
	r.t.Helper()
	r.must(r.Close())
	r.open()
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// step exchanges, once Wait is over.
func (r *rig) step() {
	r.t.Helper()
	r.now = r.now.Add(Wait)
	r.must(r.Step(r.t.Context()))
}

func words(list string) text.HashedVector {
	counts := map[string]float64{}
	for _, w := range strings.Fields(list) {
		counts[w]++
	}
	return text.NewHashedVector(counts)
}

// pageOf is a page with a link to a raven, and one to a soup.
func pageOf(url string, raven bool) *order.Page {
	body := "soup pot water onion salt nest"
	if raven {
		body = "raven crow feather wing beak nest"
	}
	return &order.Page{URL: url, Title: words(body[:5]), Text: words(body), Score: -1, Links: []order.Link{
		{URL: url + "/x", Anchor: words("Corvus corax"), Name: "Corvus corax", TagPath: "html/body/h2/a"},
		{URL: url + "/y", Anchor: words("lunch today"), Name: "Lunch today", TagPath: "html/body/div/a"},
	}}
}

// probes are the features of the two links.
func probes() (raven, soup []byte) {
	links := order.NewFused(nil, order.DefaultSettings()).Judge(pageOf("http://probe.example/", true), nil).Links
	return links[0].LinkFeatures, links[1].LinkFeatures
}

// commit commits n pages: links by the first anchor lead to pages of the topic, those by the second do not.
func (r *rig) commit(n int) {
	r.t.Helper()
	raven, soup := probes()
	by := order.NewFused(nil, order.DefaultSettings())
	c := frontier.Commit{Batch: fmt.Sprintf("%s-%d", r.name, r.at)}
	var seeds []crawl.Discovery
	for range n {
		is := r.at%2 == 0
		url, worth, kept := fmt.Sprintf("http://%s.example/%d", r.name, r.at), 0.02, soup
		if is {
			worth, kept = 0.98, raven
		}
		p := pageOf(url, is)
		if r.edit != nil {
			r.edit(p)
		}
		judged := by.Judge(p, nil)
		seeds = append(seeds, crawl.Discovery{URL: url, Path: "L", Score: .5, LinkFeatures: kept})
		c.Outcomes = append(c.Outcomes, crawl.PageOutcome{
			Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: worth, PageFeatures: judged.PageFeatures,
		})
		r.at++
	}
	r.must(r.Crawl(testCrawl).Commit(frontier.Commit{Batch: c.Batch + "-links", Discoveries: seeds}))
	r.must(r.Crawl(testCrawl).Commit(c))
}

func (r *rig) learned() *order.Fused { return r.Crawl(testCrawl).Learning().Order() }

// unsent is up to which update the worker has passed over its log, and up to which it is to read it now.
func (r *rig) unsent() (from, to uint64) {
	r.t.Helper()
	stream := frontier.LearningStream{Owner: "owner", Name: r.Stream}
	l := r.Crawl(testCrawl).Learning()
	marks, err := l.LearningMarks(stream)
	r.must(err)
	_, next, err := l.Unsent(stream, objectBytes, 1)
	r.must(err)
	return marks[r.Stream].Update, next.Update
}

// apart is how much better the link to a raven is than the other.
func (r *rig) apart() float64 {
	raven, soup := probes()
	return r.learned().Priority(raven) - r.learned().Priority(soup)
}

// newStore is an empty store: of the S3 server of `make test-s3`, or a folder.
func newStore(t testing.TB) archive.Store {
	t.Helper()
	where, s3 := t.TempDir(), archive.S3{
		Endpoint: os.Getenv("MUNINN_TEST_S3"), AccessKey: os.Getenv("MUNINN_TEST_S3_ACCESS_KEY"), SecretKey: os.Getenv("MUNINN_TEST_S3_SECRET_KEY"), Region: "us-east-1",
	}
	if s3.Endpoint != "" {
		where = fmt.Sprintf("s3://%s/learning/%s-%d", os.Getenv("MUNINN_TEST_S3_BUCKET"), t.Name(), time.Now().UnixNano())
	}
	store, err := archive.Open(t.Context(), where, s3)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func objects(t testing.TB, store archive.Store) (list []archive.Object) {
	t.Helper()
	err := store.List(t.Context(), "", func(o archive.Object) error {
		list = append(list, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func keys(t testing.TB, store archive.Store) (list []string) {
	t.Helper()
	for _, o := range objects(t, store) {
		list = append(list, o.Key)
	}
	return list
}

// TestLearnsFromOthers: a worker scores a link that only another one's pages have taught as that one does; and of two that both learn, both know all.
func TestLearnsFromOthers(t *testing.T) {
	store := newStore(t)
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	before := b.apart()
	for range 6 {
		a.commit(20)
		a.step()
	}
	b.step()
	if a.apart() < before+.1 || math.Abs(a.apart()-b.apart()) > 1e-9 {
		t.Errorf("the links are %.3f apart for a and %.3f for b, %.3f before", a.apart(), b.apart(), before)
	}
	b.commit(20)
	b.step()
	a.step()
	for _, r := range []*rig{a, b} {
		if n := r.learned().Pages(); n != 140 {
			t.Errorf("%s has learned from %d pages", r.name, n)
		}
	}
}

// TestLearnsFromSample: of four workers, each learns from all of another one's first pages, and from a third of those behind them.
func TestLearnsFromSample(t *testing.T) {
	store := newStore(t)
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	a.workers = 4
	exchange := func(pages int) int {
		before := b.learned().Pages()
		for range pages / 50 {
			a.commit(50)
			a.step()
			b.step()
		}
		return b.learned().Pages() - before
	}
	if took := exchange(share.LearnAll - 50); took != share.LearnAll-50 {
		t.Errorf("%d of the first %d pages are learned from", took, share.LearnAll-50)
	}
	if took := exchange(300); took < 90 || took > 110 {
		t.Errorf("%d of 300 later pages are learned from", took)
	}
}

// TestTakenPassedOver: a worker that has only taken what another one has sent does not read it again for what it may send.
func TestTakenPassedOver(t *testing.T) {
	store := newStore(t)
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	a.commit(20)
	a.step()
	b.step()
	b.step()
	from, to := b.unsent()
	if b.learned().Pages() != 20 || from != to {
		t.Errorf("it reads its log from update %d to %d again", from, to)
	}
	b.commit(1)
	b.step()
	if from, to = b.unsent(); from != to || len(keys(t, store)) != 2 {
		t.Errorf("it reads its log from update %d to %d again; objects %q", from, to, keys(t, store))
	}
}

// lostGet is a store that answers listings, and no more reads than so many.
type lostGet struct {
	archive.Store
	reads int
}

func (s *lostGet) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.reads--; s.reads < 0 {
		return nil, errCutOff
	}
	return s.Store.Get(ctx, key)
}

// TestUntaken: what a worker cannot read is counted as not taken, until it can, or the run ends.
func TestUntaken(t *testing.T) {
	shared := newStore(t)
	a, b := newRig(t, shared, "a", nil), newRig(t, shared, "b", nil)
	for range 3 {
		a.commit(20)
		a.step()
	}
	b.Untaken = &Backlog{}
	lost := &lostGet{shared, 1}
	b.Store = func(context.Context) (archive.Store, error) { return lost, nil }
	try := func(reads, want int) {
		t.Helper()
		lost.reads, b.now = reads, b.now.Add(Wait)
		if err := b.Step(t.Context()); (err == nil) != (want == 0) {
			t.Error(err)
		}
		if n := b.Untaken.Of(testCrawl); n != want {
			t.Errorf("%d objects are not taken, want %d", n, want)
		}
	}
	try(1, 2)
	try(0, 2)
	try(2, 0)
	a.commit(20)
	a.step()
	b.now = b.now.Add(time.Minute)
	try(0, 1)
	b.must(b.Crawl(testCrawl).End("owner"))
	try(0, 0)
}

// cutOff is a store that fails behind what it has put.
type cutOff struct {
	archive.Store
	fails bool
}

var errCutOff = errors.New("cut off")

func (s *cutOff) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	err := s.Store.PutIfAbsent(ctx, key, data)
	if err == nil && s.fails {
		return errCutOff
	}
	return err
}

// TestKilledBehindPut: an object that was put by a process which was killed right then counts as it is, and nothing is learned twice.
func TestKilledBehindPut(t *testing.T) {
	store := &cutOff{Store: newStore(t), fails: true}
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	a.commit(20)
	if err := a.Step(t.Context()); !errors.Is(err, errCutOff) {
		t.Fatal(err)
	}
	b.step()
	store.fails = false
	a.restart()
	a.commit(20)
	a.step()
	b.commit(1)
	b.step()
	b.restart()
	b.step()
	a.commit(1)
	a.step()
	if got := len(keys(t, store)); got != 4 {
		t.Errorf("%d objects: %q", got, keys(t, store))
	}
	if n, m := a.learned().Pages(), b.learned().Pages(); n != 42 || m != 41 {
		t.Errorf("they have learned from %d and %d pages", n, m)
	}
}

// TestFailedWaits: an exchange that fails is done again after Wait, and sends all.
func TestFailedWaits(t *testing.T) {
	store := newStore(t)
	a := newRig(t, store, "a", nil)
	open, opened := a.Store, 0
	a.Store = func(context.Context) (archive.Store, error) { opened++; return nil, errCutOff }
	a.commit(30)
	for range 3 {
		a.now = a.now.Add(Wait / 4)
		_ = a.Step(t.Context())
	}
	if opened != 1 || len(keys(t, store)) != 0 {
		t.Errorf("the store was tried %d times", opened)
	}
	a.Store = open
	a.commit(30)
	a.step()
	if got := len(keys(t, store)); got != 1 {
		t.Errorf("%d objects", got)
	}
}

// TestJoinsLate: the first worker writes snapshots, and deletes what the one before has. A worker that joins then, and one whose disk was lost, know
// what the others know; so does one that was away while objects were deleted.
func TestJoinsLate(t *testing.T) {
	store := newStore(t)
	a, b, away := newRig(t, store, "a", nil), newRig(t, store, "b", nil), newRig(t, store, "away", nil)
	a.leads = true
	for _, r := range []*rig{a, b, away} {
		r.Exchange.Snapshot = 100
	}
	away.commit(10)
	away.step()
	for range 12 {
		for _, r := range []*rig{b, a} {
			r.commit(20)
			r.step()
		}
	}
	snapshots, updates := 0, 0
	for _, key := range keys(t, store) {
		if strings.Contains(key, "/snapshots/") {
			snapshots++
		} else {
			updates++
		}
	}
	if snapshots != 2 || updates > 12 {
		t.Errorf("%d snapshots and %d objects of updates are kept", snapshots, updates)
	}
	late, lost := newRig(t, store, "late", nil), newRig(t, store, "b", nil)
	lost.Stream = "b@2"
	away.commit(1)
	b.commit(1)
	for _, r := range []*rig{away, b, late, lost} {
		r.step()
	}
	for _, r := range []*rig{b, late, lost, away} {
		if n := r.learned().Pages(); n < 490 || n > 492 {
			t.Errorf("%s has learned from %d pages", r.name, n)
		}
		if math.Abs(r.apart()-a.apart()) > .02 {
			t.Errorf("%s has the links %.3f apart, a %.3f", r.name, r.apart(), a.apart())
		}
	}
}

// TestPassedOver: objects that are damaged, of another version or another topic are passed over.
func TestPassedOver(t *testing.T) {
	store := newStore(t)
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	other := newRig(t, store, "other", func(d *crawl.Definition) { d.Topic.Keywords = []string{"soup"} })
	put := func(key string) {
		a.must(store.PutIfAbsent(t.Context(), key, []byte("no object")))
	}
	put(archive.Frontiers{}.LearningUpdates(testCrawl, "owner", "x@1", 1))
	put(archive.Frontiers{}.LearningSnapshot(testCrawl, "owner", "x@1", 9000))
	put(archive.Frontiers{}.LearningOf(testCrawl, "owner") + "README")
	other.commit(20)
	other.step()
	a.commit(20)
	a.step()
	b.step()
	if n := b.learned().Pages(); n != 20 {
		t.Errorf("b has learned from %d pages", n)
	}
}

// TestBoundPaysNothing: a bound crawl is not exchanged, nor is one whose order does not learn.
func TestBoundPaysNothing(t *testing.T) {
	for name, edit := range map[string]func(*crawl.Definition){
		"bound":    func(d *crawl.Definition) { d.Spread = false },
		"learns 0": func(d *crawl.Definition) { d.Order.Strategy = "breadth-first" },
	} {
		r := newRig(t, nil, "a", edit)
		r.Store = func(context.Context) (archive.Store, error) {
			t.Errorf("%s: the archive is asked", name)
			return nil, errCutOff
		}
		r.commit(20)
		r.step()
	}
}

// TestEnded: when the run has ended, the first worker deletes what was exchanged; at the next run, what another process has left.
func TestEnded(t *testing.T) {
	store := newStore(t)
	a := newRig(t, store, "a", nil)
	a.leads = true
	a.commit(20)
	a.step()
	a.must(store.PutIfAbsent(t.Context(), archive.Frontiers{}.LearningUpdates(testCrawl, "former", "z@1", 3), []byte("old")))
	if len(keys(t, store)) != 2 {
		t.Fatal("nothing is there")
	}
	a.restart()
	a.step()
	if got := keys(t, store); len(got) != 1 || !strings.Contains(got[0], "a@1") {
		t.Errorf("%q is left of former runs", got)
	}
	a.must(a.Crawl(testCrawl).End("owner"))
	a.step()
	if got := keys(t, store); len(got) != 0 {
		t.Errorf("%q is left", got)
	}
}

// TestQuiet: while nothing changes, a worker lists the archive less and less often, at least once a minute; what another one sends, and pages of its own,
// end that.
func TestQuiet(t *testing.T) {
	store := newStore(t)
	a, b := newRig(t, store, "a", nil), newRig(t, store, "b", nil)
	opened := 0
	b.Store = func(context.Context) (archive.Store, error) { opened++; return store, nil }
	pass := func(seconds int) (exchanges int) {
		opened = 0
		for range seconds {
			b.now = b.now.Add(time.Second)
			b.must(b.Step(t.Context()))
		}
		return opened
	}
	pass(10 * 60)
	if n := pass(10 * 60); n < 10 || n > 11 {
		t.Errorf("%d exchanges in 10 quiet minutes", n)
	}
	a.commit(20)
	a.step()
	if pass(60); b.learned().Pages() != 20 {
		t.Errorf("it has learned from %d pages", b.learned().Pages())
	}
	pass(10 * 60)
	b.commit(1)
	if pass(2); len(keys(t, store)) != 2 {
		t.Errorf("two seconds after its page %q is there", keys(t, store))
	}
	if n := pass(10); n < 2 {
		t.Errorf("%d exchanges in 10 s after its page", n)
	}
}

// TestDue: at first, after more and more pages, and after a time.
func TestDue(t *testing.T) {
	at := time.Unix(0, 0)
	for _, c := range []struct {
		run   run
		pages int64
		after time.Duration
		want  bool
	}{
		{run{pages: -1}, 0, 0, true},
		{run{pages: 0}, 0, time.Second, false},
		{run{pages: 0}, 0, 2 * time.Second, true},
		{run{pages: 0}, 4, 0, false},
		{run{pages: 5000}, 5001, 9 * time.Second, false},
		{run{pages: 5000}, 5001, 10 * time.Second, true},
		{run{pages: 0}, 5, 0, true},
		{run{pages: 400}, 449, 0, false},
		{run{pages: 400}, 460, 0, true},
		{run{pages: 100_000}, 100_099, 0, false},
		{run{pages: 100_000}, 100_100, 0, true},
		{run{pages: 100_000}, 0, 0, true}, // another run
		{run{pages: 0, idle: 1}, 0, 3 * time.Second, false},
		{run{pages: 0, idle: 1}, 0, 4 * time.Second, true},
		{run{pages: 0, idle: 1}, 1, 2 * time.Second, true},
		{run{pages: 0, idle: 1000}, 0, 59 * time.Second, false},
		{run{pages: 0, idle: 1000}, 0, time.Minute, true},
		{run{pages: 5000, idle: 2}, 5000, 39 * time.Second, false},
		{run{pages: 0, failed: true}, 400, Wait / 2, false},
		{run{pages: 0, failed: true}, 0, Wait, true},
	} {
		c.run.tried = at
		if got := c.run.due(c.pages, 100, at.Add(c.after)); got != c.want {
			t.Errorf("%+v at %d pages, %s later: %v", c.run, c.pages, c.after, got)
		}
	}
}

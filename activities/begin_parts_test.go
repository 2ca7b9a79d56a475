package activities

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// beginByParts begins a run with the partitions that are there.
func (r *clusterRig) beginByParts(run uint32, edit func(*crawl.Definition)) BeginResult {
	r.t.Helper()
	out, err := call[BeginResult](r.rig, r.Begin, BeginInput{Definition: r.definition(edit), Owner: fmt.Sprint("owner ", run), Holder: r.holder(), Run: run, Parts: true})
	r.must(err)
	return out
}

// exporting has a worker start to write the exports of the partitions that it is to hand over: nothing may be committed there any more.
func (r *clusterRig) exporting(c *cluster) (partitions int) {
	r.Membership.Take(c.state.View(r.name))
	r.Membership.With(func(rules *ring.Membership) {
		for p := range ring.Partitions {
			if rules.StartExport(p) {
				partitions++
			}
		}
	})
	return partitions
}

// TestBeginByParts: two workers begin the second run of a crawl while one exports partitions to the other. Neither waits. The seeds and the pages of the first run are queued in each
// partition once, those of the others by their owners, those that are on their way by the worker that loads them, and they are counted once.
func TestBeginByParts(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w := c.rigs["w"]
	seeds := func(d *crawl.Definition) {
		d.Spread, d.Seeds = true, nil
		for i := range 40 {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprintf("http://h%d.example/", i)})
		}
	}
	if out := w.beginByParts(1, seeds); out.Unseeded {
		t.Error("partitions wait in a quiet ring")
	}
	for range 8 { // 40 hosts, ten of them a round, with two pages each
		in := w.batch()
		w.open(in, linking)
		w.must(w.do(w.Process, in))
		w.must(w.do(w.Commit, in))
	}
	_, err := call[EndResult](w.rig, w.End, EndInput{Crawl: rigCrawl, Owner: "owner 1", NoReport: true})
	w.must(err)
	asked := map[string]bool{} // by the second run
	for url, state := range w.states() {
		if state == "done" {
			asked[url] = true
		}
	}
	fresh := func(d *crawl.Definition) {
		seeds(d)
		for i := range 20 {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprintf("http://n%d.example/", i)})
		}
	}
	for i := range 20 {
		asked[fmt.Sprintf("http://n%d.example/", i)] = true
	}

	u := c.join("u")
	if w.exporting(c) == 0 {
		t.Fatal("no partition moves")
	}
	if out := w.beginByParts(2, fresh); !out.Unseeded {
		t.Error("no partition waits at w")
	}
	u.beginByParts(2, fresh)
	c.quiet()
	for _, r := range c.rigs {
		r.must(r.do(r.QueueRest, RestInput{Crawl: rigCrawl, Owner: "owner 2", Run: 2, Holder: r.holder()}))
		if plan, err := r.Frontier.Crawl(rigCrawl).Plan(); err != nil || plan.Unseeded {
			t.Errorf("partitions wait at %s in a quiet ring, %v", r.name, err)
		}
	}
	known, view := int64(0), c.state.View("")
	for url := range asked {
		parsed, err := urls.Trusted(url)
		w.must(err)
		owner, _ := view.Owner(ring.PartitionOf(parsed.PLD()))
		if e, err := c.rigs[owner.Name].Frontier.Crawl(rigCrawl).URLs().Explain(parsed); err != nil || e.Run != 2 || e.State != "waiting" {
			t.Errorf("%s is %s in run %d at %s, %v", url, e.State, e.Run, owner.Name, err)
		}
	}
	for _, r := range []*clusterRig{w, u} {
		status, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		known += status.Totals.Known
	}
	if len(asked) < 100 || known != int64(len(asked)) {
		t.Errorf("%d URLs are counted, %d are to be asked", known, len(asked))
	}
}

// TestBeginByPartsIsNotIdle: a worker with nothing in its frontier is not idle while a seed of its partitions is not queued.
func TestBeginByPartsIsNotIdle(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w := c.rigs["w"]
	c.join("u")
	w.exporting(c)
	seed := ""
	for i := 0; seed == ""; i++ {
		u, err := urls.Trusted(fmt.Sprintf("http://h%d.example/", i))
		w.must(err)
		if p := frontier.Partition(ring.PartitionOf(u.PLD())); errors.Is(w.Check(ring.Commit, p, w.Epoch()), ring.ErrNotNow) {
			seed = u.String()
		}
	}
	one := func(d *crawl.Definition) { d.Spread, d.Seeds = true, []crawl.Seed{{URL: seed}} }
	out := w.beginByParts(1, one)
	idle, err := w.Frontier.Crawl(rigCrawl).Idle()
	if err != nil || !out.Unseeded || idle.Idle || len(w.states()) > 0 {
		t.Errorf("unseeded: %t; it says %+v, %v; it knows %v", out.Unseeded, idle, err, w.states())
	}
}

// TestTakenOverSeeds: a crawl was terminated, and is started again with further seeds. One worker leaves the ring without having taken the run over. Who loads its partitions queues the
// further seeds there, also if it has read those of the former definition a moment ago.
func TestTakenOverSeeds(t *testing.T) {
	c := newCluster(t, "u", "w")
	c.quiet()
	u, w := c.rigs["u"], c.rigs["w"]
	seeds := func(d *crawl.Definition) {
		d.Spread, d.Seeds = true, []crawl.Seed{{URL: rigSeed}}
		for i := range 40 {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprintf("http://h%d.example/", i)})
		}
	}
	further := func(d *crawl.Definition) {
		seeds(d)
		for i := range 40 {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprintf("http://n%d.example/", i)})
		}
	}
	for _, r := range c.rigs {
		r.beginByParts(1, seeds)
		gone := &mocks.Client{}
		gone.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, mock.Anything).Return(nil, serviceerror.NewNotFound("gone"))
		r.Client = gone
	}
	plan, err := u.Frontier.Crawl(rigCrawl).Plan()
	u.must(err)
	_, err = u.seeds.in(0, plan)
	u.must(err)
	begin := BeginInput{Definition: u.definition(further), Owner: "owner 2", Holder: u.holder(), Run: 1, Parts: true}
	_, err = call[BeginResult](u.rig, u.Begin, begin)
	u.must(err)
	if known := len(u.states()); known == 0 || known == 81 {
		t.Fatalf("%d URLs are known to u", known)
	}
	c.state.Leave(c.now, "w", w.Membership.of.Process)
	c.quiet()
	if known := len(u.states()); known != 81 {
		t.Errorf("%d seeds of 81 are known to the worker that has all partitions", known)
	}
}

// fileOfSeeds are the seeds of 40 hosts, in a file that the worker may read.
func (r *clusterRig) fileOfSeeds(path string) func(*crawl.Definition) {
	r.t.Helper()
	r.Allow.Seeds = []string{filepath.Dir(path)}
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("http://h%d.example/\n", i)
	}
	r.must(os.WriteFile(path, []byte(text), 0o600))
	return func(d *crawl.Definition) { d.Spread, d.Seeds = true, []crawl.Seed{{File: path}} }
}

// away is a store that cannot be asked: that panics.
type away struct{ archive.Store }

func (away) String() string { return "away" }

// TestQueueRest: as long as partitions are on their way, the worker reads neither seeds nor archive for them. When they are there it needs the file of seeds; what it lacks then it can have later.
func TestQueueRest(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w := c.rigs["w"]
	path := filepath.Join(t.TempDir(), "seeds.txt")
	seeds := w.fileOfSeeds(path)
	c.join("u")
	w.exporting(c)
	if out := w.beginByParts(1, seeds); !out.Unseeded {
		t.Fatal("no partition waits")
	}
	in, known := RestInput{Crawl: rigCrawl, Owner: "owner 1", Run: 1, Holder: w.holder()}, len(w.states())
	w.must(os.Rename(path, path+".away"))
	store, err := w.Archives.Open(t.Context(), "")
	w.must(err)
	w.through(func(archive.Store) archive.Store { return away{} })
	if left, err := w.queueRestOnce(t.Context(), in); err != nil || left == 0 || left == frontier.Partitions || known == 0 || known == 40 {
		t.Fatalf("%d partitions are left, %v; %d seeds are known", left, err, known)
	}
	w.through(func(archive.Store) archive.Store { return store })
	c.die("u")
	c.quiet()
	input := (*crawl.InputError)(nil)
	if err := w.do(w.QueueRest, in); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("without its file of seeds: %v", err)
	}
	if plan, err := w.Frontier.Crawl(rigCrawl).Plan(); err != nil || !plan.Unseeded || len(w.states()) != known {
		t.Errorf("it has queued them nevertheless: %v; %d seeds", err, len(w.states()))
	}
	if _, err := PartitionsOf(w.Activities).Load(t.Context(), w.lacking(), noObject); !errors.As(err, &input) {
		t.Errorf("a partition is loaded without the seeds: %v", err)
	}
	w.must(os.Rename(path+".away", path))
	w.must(w.do(w.QueueRest, in))
	if plan, err := w.Frontier.Crawl(rigCrawl).Plan(); err != nil || plan.Unseeded || len(w.states()) != 40 {
		t.Errorf("at last %d seeds are known, %v", len(w.states()), err)
	}
}

// lacking is a partition that may lack its seeds.
func (r *clusterRig) lacking() int {
	lacking, err := r.Frontier.Crawl(rigCrawl).Unseeded(1, "owner 1")
	r.must(err)
	return int(lacking.Mine[0])
}

// TestNotDueCountsOnce: pages that a run leaves out, because their interval is not over, are counted once, whichever worker has their partition when it begins.
func TestNotDueCountsOnce(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w, day := c.rigs["w"], crawl.Duration(24*time.Hour)
	edit := func(d *crawl.Definition) {
		d.Spread, d.Seeds, d.Recrawl = true, nil, crawl.Recrawl{Min: day, Max: day}
		for i := range 40 {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprintf("http://h%d.example/", i)})
		}
	}
	w.beginByParts(1, edit)
	for range 4 {
		in := w.batch()
		w.open(in, linking)
		w.must(w.do(w.Process, in))
		w.must(w.do(w.Commit, in))
	}
	_, err := call[EndResult](w.rig, w.End, EndInput{Crawl: rigCrawl, Owner: "owner 1", NoReport: true})
	w.must(err)
	pages := int64(0)
	for _, state := range w.states() {
		if state == "done" {
			pages++
		}
	}
	u := c.join("u")
	w.exporting(c)
	w.beginByParts(2, edit)
	u.beginByParts(2, edit)
	c.quiet()
	notDue := int64(0)
	for _, r := range c.rigs {
		r.must(r.do(r.QueueRest, RestInput{Crawl: rigCrawl, Owner: "owner 2", Run: 2, Holder: r.holder()}))
		r.beginByParts(2, edit) // again, which counts nothing
		status, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		notDue += status.Totals.NotDue
	}
	if notDue != pages || pages < 40 {
		t.Errorf("%d pages are not due, %d are counted", pages, notDue)
	}
}

// TestNotDueOfRetries: pages that are not due are counted once, however often the step that queues the rest of a run fails, and if another owner takes the run over.
func TestNotDueOfRetries(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w, day := c.rigs["w"], crawl.Duration(24*time.Hour)
	path := filepath.Join(t.TempDir(), "seeds.txt")
	seeds := w.fileOfSeeds(path)
	edit := func(d *crawl.Definition) {
		seeds(d)
		d.Recrawl = crawl.Recrawl{Min: day, Max: day}
	}
	w.beginByParts(1, edit)
	for range 8 { // the seeds, then what they link to
		in := w.batch()
		w.open(in, linking)
		w.must(w.do(w.Process, in))
		w.must(w.do(w.Commit, in))
	}
	_, err := call[EndResult](w.rig, w.End, EndInput{Crawl: rigCrawl, Owner: "owner 1", NoReport: true})
	w.must(err)
	pages := int64(0)
	for _, state := range w.states() {
		if state == "done" {
			pages++
		}
	}
	counted := func(when string, want int64) {
		t.Helper()
		status, err := w.Frontier.Crawl(rigCrawl).Status()
		w.must(err)
		if got := status.Totals.NotDue; got != want || pages < 60 {
			t.Errorf("%s: of %d pages %d are not due, %d are counted", when, pages, want, got)
		}
	}
	c.join("u")
	w.exporting(c)
	w.beginByParts(2, edit)
	w.must(os.Rename(path, path+".away"))
	c.die("u")
	c.quiet()
	in := RestInput{Crawl: rigCrawl, Owner: "owner 2", Run: 2, Holder: w.holder()}
	for range 3 {
		if err := w.do(w.QueueRest, in); err == nil {
			t.Error("it queues seeds without their file")
		}
	}
	w.must(os.Rename(path+".away", path))
	w.must(w.do(w.QueueRest, in))
	counted("after retries", pages)
	_, err = w.Frontier.Begin(rigCrawl, "owner 3", 2, w.definition(edit), nil, true)
	w.must(err)
	in.Owner = "owner 3"
	w.must(w.do(w.QueueRest, in))
	counted("taken over", pages-40) // the seeds are in the run by now
}

// TestSeedsAreForgotten: the seeds that loads read are not kept for longer than they are of use.
func TestSeedsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seeds knownSeeds
		kept := func() int {
			seeds.mu.Lock()
			defer seeds.mu.Unlock()
			return len(seeds.of)
		}
		plan := frontier.Plan{Run: 1, Definition: crawl.Definition{Name: "c", Seeds: []crawl.Seed{{URL: rigSeed}}}}
		for _, owner := range []string{"one", "two"} {
			plan.Owner = owner
			if _, err := seeds.in(0, plan); err != nil {
				t.Fatal(err)
			}
			time.Sleep(seedsKept / 2)
		}
		time.Sleep(time.Second) // those of the first owner would be forgotten by now
		synctest.Wait()
		if n := kept(); n != 1 {
			t.Errorf("%d lists are kept", n)
		}
		time.Sleep(seedsKept / 2)
		synctest.Wait()
		if n := kept(); n != 0 {
			t.Errorf("%d lists are kept after %v", n, seedsKept)
		}
	})
}

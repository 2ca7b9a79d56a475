package activities

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// beginByParts begins a run with the partitions that are there.
func (r *clusterRig) beginByParts(run uint32, edit func(*crawl.Definition), rest bool) BeginResult {
	r.t.Helper()
	out, err := call[BeginResult](r.rig, r.Begin, BeginInput{Definition: r.definition(edit), Owner: fmt.Sprint("owner ", run), Holder: r.holder(), Run: run, Parts: true, Rest: rest})
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
	if out := w.beginByParts(1, seeds, false); out.Unseeded {
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
	if out := w.beginByParts(2, fresh, false); !out.Unseeded {
		t.Error("no partition waits at w")
	}
	u.beginByParts(2, fresh, false)
	c.quiet()
	if out := w.beginByParts(2, fresh, true); out.Unseeded {
		t.Error("partitions wait at w in a quiet ring")
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
	out := w.beginByParts(1, one, false)
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
		r.beginByParts(1, seeds, false)
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

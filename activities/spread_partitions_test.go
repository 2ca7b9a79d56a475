package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/stretchr/testify/mock"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// cluster is a ring whose workers have a frontier each, and one archive.
type cluster struct {
	t     *testing.T
	state *ring.State
	now   time.Time
	dir   string // of the archive
	rigs  map[string]*clusterRig
	// faults are those of objects that could not be loaded
	faults []string
	// stepped is called after each step of a worker, if it is not nil
	stepped func()
}

type clusterRig struct {
	*rig
	name   string
	folder string // of the frontier
	tasks  *Tasks
	ctx    context.Context // of the process
	kill   func()
}

// Epoch and Check are the rights of the present process.
func (r *clusterRig) Epoch() uint64 { return r.Membership.Rights().Epoch() }
func (r *clusterRig) Check(act ring.Act, p frontier.Partition, epoch uint64) error {
	return r.Membership.Rights().Check(act, p, epoch)
}

func (r *clusterRig) openFrontier() {
	r.t.Helper()
	front, err := frontier.Open(r.folder, frontier.Options{Rights: r, NoSync: true, Table: testTable})
	r.must(err)
	r.t.Cleanup(func() { _ = front.Close() })
	r.Frontier, r.Engine = front, pipeline.New(front, r.Engine.Helper, score.NewDictionary(), page.DefaultLimits(), time.Now)
	Observe(r.Engine)
	r.Engine.Worker = r.name
}

func newCluster(t *testing.T, workers ...string) *cluster {
	c := &cluster{t: t, state: ring.New(ring.DefaultLimits()), now: time.Now(), dir: t.TempDir(), rigs: map[string]*clusterRig{}}
	for _, name := range workers {
		c.join(name)
	}
	return c
}

// join adds a worker with an empty frontier.
func (c *cluster) join(name string) *clusterRig {
	c.t.Helper()
	r := &clusterRig{rig: newRig(c.t), name: name, folder: c.t.TempDir()}
	r.dir, r.Archives.Default, r.Settings.Worker = c.dir, c.dir, name
	r.Membership = NewMembership(name, "")
	r.must(r.Frontier.Close()) // that of the rig, whose rights are not these
	r.openFrontier()
	c.rigs[name] = r
	c.register(name, name+"'s process")
	return r
}

// register has a process of a worker take part.
func (c *cluster) register(name, process string) {
	c.t.Helper()
	r := c.rigs[name]
	answer := c.state.Register(c.now, ring.Registration{Name: name, Instance: name, Process: process, Queue: name, Shards: 1})
	if !answer.Accepted {
		c.t.Fatal(answer.Reason)
	}
	r.Membership = NewMembership(name, process)
	r.Membership.Registered(time.Now(), answer)
	r.Membership.Take(c.state.View(name))
	r.tasks = NewTasks(r.Membership, PartitionsOf(r.Activities), time.Now)
	r.ctx, r.kill = context.WithCancel(c.t.Context())
}

// restart kills the process of a worker, and starts another on its folder.
func (c *cluster) restart(name string) {
	c.t.Helper()
	r := c.rigs[name]
	former := r.Membership.of.Process
	r.kill()
	r.tasks.Wait()
	r.must(r.Frontier.Close())
	r.openFrontier()
	c.state.Lost(c.now, name, former)
	c.register(name, former+"+")
}

// step gives a worker its view, and has it do what that asks for.
func (c *cluster) step(name string) error {
	r := c.rigs[name]
	// Its heartbeats are answered: on a machine that is busy for longer than a permit lasts it would have none, and Sweep would delete nothing.
	r.Membership.With(func(m *ring.Membership) { m.Heard(time.Now(), m.Since()) })
	r.Membership.Take(c.state.View(name))
	return r.tasks.Pass(r.ctx, func(_ context.Context, done RingReports) error {
		for _, l := range done.Loaded {
			if l.Fault != "" {
				c.faults = append(c.faults, l.Fault)
			}
		}
		c.state.Exported(c.now, done.Worker, done.Process, done.Exported)
		c.state.Loaded(c.now, done.Worker, done.Process, done.Loaded)
		return nil
	})
}

// quiet has all workers do what is asked of them until nothing is.
func (c *cluster) quiet() {
	c.t.Helper()
	for range 2 { // the second time nobody has anything to do
		for range 1000 {
			epoch := c.state.Epoch()
			for _, name := range slices.Sorted(maps.Keys(c.rigs)) {
				if err := c.step(name); err != nil {
					c.t.Fatal(err)
				}
				if c.stepped != nil {
					c.stepped()
				}
			}
			if c.state.Epoch() == epoch && c.idle() {
				break
			}
		}
	}
	for _, g := range c.state.View("").Groups() {
		if g.Step != ring.Owned {
			c.t.Fatalf("%+v", g)
		}
	}
}

func (c *cluster) idle() bool {
	for _, r := range c.rigs {
		r.tasks.mu.Lock()
		n := len(r.tasks.running)
		r.tasks.mu.Unlock()
		if n > 0 {
			return false
		}
	}
	return true
}

// knowledge is what the workers know of the URLs of the crawl; each must be known to the owner of its partition alone. Via is left out: of two links of
// one batch to a URL, the archive does not say which was first.
func (c *cluster) knowledge() map[string]string {
	c.t.Helper()
	all, view := map[string]string{}, c.state.View("")
	for name, r := range c.rigs {
		if _, member := view.Worker(name); !member || !r.Frontier.Knows(rigCrawl) {
			continue // what a worker keeps that has left is dropped when it comes back
		}
		for url := range r.states() {
			u, err := urls.Trusted(url)
			r.must(err)
			e, err := r.Frontier.Crawl(rigCrawl).URLs().Explain(u)
			r.must(err)
			if _, twice := all[url]; twice {
				c.t.Errorf("%s is known twice", url)
			}
			all[url] = fmt.Sprint(e.State, e.Path, e.Run, e.Attempts, e.Links, e.First, e.Last, e.Mean, e.Max, e.PLD, e.Waiting)
			if owner, owned := view.Owner(ring.PartitionOf(u.PLD())); owned && owner.Name != name {
				c.t.Errorf("%s is known to %s, and its partition is %s's", url, name, owner.Name)
			}
		}
	}
	return all
}

// same compares what was known with what is.
func (c *cluster) same(was map[string]string) {
	c.t.Helper()
	now := c.knowledge()
	faults := 0
	for url, want := range was {
		if now[url] == want {
			continue
		}
		if faults++; faults < 5 {
			c.t.Errorf("%s\nis  %s\nwas %s", url, now[url], want)
		}
	}
	if len(now) != len(was) {
		c.t.Errorf("%d URLs are known, %d were", len(now), len(was))
	}
}

// kept fails the test if a URL is on no worker's disk: who exports a partition must keep it until its next owner has it.
func (c *cluster) kept(was map[string]string) {
	c.t.Helper()
	known := map[string]bool{}
	for _, r := range c.rigs {
		if !r.Frontier.Knows(rigCrawl) {
			continue
		}
		for url := range r.states() {
			known[url] = true
		}
	}
	for url := range was {
		if !known[url] {
			c.t.Fatalf("no worker has %s", url)
		}
	}
}

// spread makes a definition that of a crawl over all workers.
func spread(d *crawl.Definition) { d.Spread = true }

// beginRun begins a run that others have begun, as the crawl does on a worker that joins.
func (r *clusterRig) beginRun(owner string, run uint32) {
	r.t.Helper()
	_, err := call[BeginResult](r.rig, r.Begin, BeginInput{Definition: r.definition(spread), Owner: owner, Holder: r.holder(), Run: run})
	r.must(err)
}

// fill gives a worker that owns everything URLs of many PLDs, some of which it has fetched.
func (r *clusterRig) fill() {
	r.t.Helper()
	r.beginRun("one", 1)
	var found []crawl.Discovery
	for i := range 120 {
		found = append(found, crawl.Discovery{URL: fmt.Sprintf("http://h%d.example/%d", i%60, i), Path: "L", Score: float64(i%10) / 10})
	}
	r.must(r.Frontier.Crawl(rigCrawl).URLs().Offer("more", found))
	r.fetchBatch()
}

// fetchBatch takes a batch through all of its steps.
func (r *clusterRig) fetchBatch() {
	r.t.Helper()
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
}

// TestPartitionsMove: workers join and leave, and what a spread crawl knows goes where the ring says, by way of the archive; what a bound crawl
// knows stays.
func TestPartitionsMove(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w := c.rigs["w"]
	w.fill()
	bound, err := call[BeginResult](w.rig, w.Begin, BeginInput{Definition: w.definition(func(d *crawl.Definition) { d.Name = "bound" }), Owner: "two", Holder: w.holder()})
	w.must(err)
	was := c.knowledge()
	c.stepped = func() { // w looks at each view, also while others have not loaded yet what it has exported
		w.must(c.step("w"))
		c.kept(was)
	}
	v := c.join("v")
	c.quiet()
	c.same(was)
	if n := len(v.states()); n < len(was)/4 {
		t.Errorf("v has %d URLs of %d", n, len(was))
	}
	v.beginRun("one", 1)
	c.join("u")
	c.quiet()
	c.same(was)
	c.state.Leave(c.now, "w", "w's process")
	c.quiet()
	c.same(was)
	c.stepped = nil
	c.register("w", "another process") // late: what it has is old
	c.quiet()
	c.same(was)
	for _, r := range c.rigs {
		_, err := PartitionsOf(r.Activities).Sweep(t.Context(), r.Membership.Tenures())
		r.must(err)
	}
	store, err := w.Archives.Open(t.Context(), "")
	w.must(err)
	w.must(store.List(t.Context(), archive.Frontiers{}.HandOvers(), func(o archive.Object) error {
		t.Errorf("%s is left", o.Key)
		return nil
	}))
	if s, err := w.Frontier.Crawl("bound").Status(); err != nil || s.Waiting != 1 || bound.Run != 1 || v.Frontier.Knows("bound") {
		t.Errorf("%d URLs of the bound crawl wait, %v", s.Waiting, err)
	}
}

// lamedStore fails when it is asked in the middle of what it is asked for, at times.
type lamedStore struct {
	archive.Store
	fails func() bool
}

var errLamed = errors.New("the store does not answer")

// lamed is a reader that ends with an error.
type lamed struct{ io.Reader }

func (l lamed) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != nil {
		err = errLamed
	}
	return n, err
}

func (s lamedStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	object, err := s.Store.Get(ctx, key)
	if err != nil || !s.fails() {
		return object, err
	}
	defer func() { _ = object.Close() }()
	half, err := io.ReadAll(io.LimitReader(object, 300))
	return io.NopCloser(lamed{bytes.NewReader(half)}), err
}

func (s lamedStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if s.fails() {
		return errLamed
	}
	if err := s.Store.Put(ctx, key, r, size); err != nil || !s.fails() {
		return err
	}
	return errLamed // the object is there, and nobody knows
}

// TestPartitionsMoveKilled: workers join, leave and are killed at any moment of a hand-over, and the archive fails at times: in the end everything
// is known that was, to the owners alone.
func TestPartitionsMoveKilled(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		c := newCluster(t, "w")
		c.quiet()
		c.rigs["w"].fill()
		was := c.knowledge()
		calm := atomic.Bool{}
		lame := func(name string) {
			faults := rand.New(rand.NewPCG(uint64(seed), 6))
			var mu sync.Mutex
			c.rigs[name].through(func(s archive.Store) archive.Store {
				return lamedStore{s, func() bool {
					mu.Lock()
					defer mu.Unlock()
					return !calm.Load() && faults.IntN(8) == 0
				}}
			})
		}
		lame("w")
		gone := map[string]bool{}
		for _, joins := range []string{"v", "u"} {
			c.join(joins)
			lame(joins)
			for range 25 {
				names := slices.Sorted(maps.Keys(c.rigs))
				name := names[random.IntN(len(names))]
				switch random.IntN(5) {
				case 0:
					if !gone[name] {
						c.restart(name)
					}
				case 1:
					if joins == "u" && !gone[name] && len(gone) == 0 {
						c.state.Leave(c.now, name, c.rigs[name].Membership.of.Process)
						gone[name] = true
					}
				default:
					_ = c.step(name) // it is tried again
				}
			}
		}
		calm.Store(true)
		for name := range gone { // it may have been killed before it had handed over everything
			if view := c.state.View(""); !view.Has(c.rigs[name].Membership.of.Process) {
				c.register(name, c.rigs[name].Membership.of.Process+" again")
			}
		}
		for range 100 { // faults of the time before are over
			for name := range c.rigs {
				_ = c.step(name)
			}
		}
		if len(c.faults) > 0 {
			t.Fatalf("seed %d: an archive that fails is taken for one whose objects are broken: %v", seed, c.faults)
		}
		c.quiet()
		c.same(was)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// brokenStore breaks the objects of partitions, or fails, when it is read.
type brokenStore struct {
	archive.Store
	broken func(key string) error
}

func (s brokenStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.Contains(key, "partitions/") {
		switch err := s.broken(key); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return io.NopCloser(strings.NewReader("no object")), nil
		case err != nil:
			return nil, err
		}
	}
	return s.Store.Get(ctx, key)
}

// TestLoadFaults: an archive that does not answer is asked again; an object that is broken or gone is reported, so that the partition is
// rebuilt.
func TestLoadFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault    error
		reported bool
	}{"away": {errors.New("no answer"), false}, "gone": {archive.ErrNotFound, true}, "broken": {io.ErrUnexpectedEOF, true}} {
		c := newCluster(t, "w")
		c.quiet()
		c.rigs["w"].fill()
		v := c.join("v")
		v.through(func(s archive.Store) archive.Store {
			return brokenStore{s, func(string) error { return test.fault }}
		})
		p, object := v.toLoad(c, "w")
		fault, err := PartitionsOf(v.Activities).Load(t.Context(), p, object)
		if (err == nil) != test.reported || (fault != "") != test.reported {
			t.Errorf("%s: %q, %v", name, fault, err)
		}
	}
}

// toLoad is a partition that a worker is to load, with its object, as soon as another one has exported it.
func (r *clusterRig) toLoad(c *cluster, from string) (partition int, object string) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); object == "" && time.Now().Before(deadline); {
		r.must(c.step(from))
		r.Membership.Take(c.state.View(r.name))
		r.Membership.With(func(m *ring.Membership) {
			for _, a := range m.Tasks() {
				if a.Act == ring.Load && a.Object != noObject {
					partition, object = a.Partition, a.Object
				}
			}
		})
	}
	if object == "" {
		r.t.Fatal("nothing is to be loaded")
	}
	return partition, object
}

// TestBeginWhileOneLeaves: a run begins at w while v leaves, which does not begin it. The seeds in the partitions of v are queued where these are loaded.
func TestBeginWhileOneLeaves(t *testing.T) {
	c := newCluster(t, "w", "v")
	c.quiet()
	w, want := c.rigs["w"], map[string]string{}
	c.state.Leave(c.now, "v", "v's process")
	w.Membership.Take(c.state.View("w"))
	_, err := call[BeginResult](w.rig, w.Begin, BeginInput{Owner: "one", Run: 1, Holder: w.holder(), Definition: w.definition(func(d *crawl.Definition) {
		d.Spread, d.Seeds = true, nil
		for i := range 40 {
			url := fmt.Sprintf("http://h%d.example/", i)
			d.Seeds, want[url] = append(d.Seeds, crawl.Seed{URL: url}), "waiting"
		}
	})})
	w.must(err)
	if now := w.states(); len(now) == 0 || len(now) == len(want) {
		t.Fatalf("of %d seeds %d are in partitions of w", len(want), len(now))
	}
	c.quiet()
	if now := w.states(); !maps.Equal(now, want) {
		t.Errorf("%d seeds are known to the worker that is left, want %d: %v", len(now), len(want), now)
	}
}

// TestSecondRunWhileOneLeaves: a second run begins at w while v leaves, which does not begin it. What the first run has crawled in the partitions of v is offered again where these are loaded, as
// w has done in its own.
func TestSecondRunWhileOneLeaves(t *testing.T) {
	c := newCluster(t, "w")
	c.quiet()
	w := c.rigs["w"]
	w.fill()
	c.join("v")
	c.quiet()
	v := c.rigs["v"]
	v.beginRun("one", 1)
	v.fetchBatch()
	was := c.knowledge()
	for _, r := range []*clusterRig{w, v} {
		r.must(r.Frontier.Crawl(rigCrawl).End("one"))
	}
	c.state.Leave(c.now, "v", "v's process")
	w.Membership.Take(c.state.View("w"))
	w.beginRun("two", 2)
	c.quiet()
	now := w.states()
	for url := range was {
		if now[url] != "waiting" {
			t.Errorf("%s is %q in the second run", url, now[url])
		}
	}
	if len(was) < 100 {
		t.Errorf("%d URLs are known: the test tests little", len(was))
	}
}

// TestLoadBesideBound: what a spread crawl has that is over, and whose name a bound crawl has here, does not keep a partition from being loaded; what one
// has that may be in progress is not lost.
func TestLoadBesideBound(t *testing.T) {
	for name, test := range map[string]struct {
		run   uint32 // of the bound crawl; the spread one has had run 3
		ended bool
		waits bool
	}{
		"the bound one is in progress": {run: 1}, "it has had a later run": {run: 4, ended: true}, "it has had an earlier run": {run: 1, ended: true, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, "w")
			c.quiet()
			w := c.rigs["w"]
			w.beginRun("one", 3)
			for i := range 30 {
				url := fmt.Sprintf("http://h%d.example/", i)
				w.must(w.Frontier.Crawl(rigCrawl).URLs().Offer(url, []crawl.Discovery{{URL: url, Path: "L"}}))
			}
			v := c.join("v")
			_, err := v.Frontier.Begin(rigCrawl, "two", test.run, v.definition(nil), nil, false)
			v.must(err)
			v.must(v.Frontier.Crawl(rigCrawl).URLs().Offer("own", []crawl.Discovery{{URL: "http://h1.example/own", Path: "L"}}))
			if test.ended {
				v.must(v.Frontier.Crawl(rigCrawl).End("two"))
			}
			was := v.states()
			p, object := v.toLoad(c, "w")
			fault, err := PartitionsOf(v.Activities).Load(t.Context(), p, object)
			if errors.Is(err, frontier.ErrBound) != test.waits || err != nil && !test.waits || fault != "" {
				t.Errorf("%q, %v", fault, err)
			}
			if now := v.states(); !maps.Equal(was, now) {
				t.Errorf("the bound crawl has %v, and had %v", now, was)
			}
		})
	}
}

// TestDropCancels: batches that a worker has of partitions which are not its own any more are cancelled before these are dropped, or made again; claims that
// wait for their lease are given back.
//
// A batch that was terminated when the ring had given up its worker, which is back, is started again before: only its workflow can give back what it has.
func TestDropCancels(t *testing.T) {
	rebuild := func(s SpreadPartitions, ctx context.Context, p int) error { return s.Rebuild(ctx, []int{p}) }
	for name, terminated := range map[string]bool{"": false, ", terminated before": true} {
		t.Run("dropped"+name, func(t *testing.T) { cancels(t, SpreadPartitions.Drop, terminated, nil) })
		t.Run("made again"+name, func(t *testing.T) { cancels(t, rebuild, terminated, map[string]string{rigSeed: "waiting"}) })
	}
}

func cancels(t *testing.T, do func(SpreadPartitions, context.Context, int) error, terminated bool, left map[string]string) {
	c := newCluster(t, "w")
	c.quiet()
	r := c.rigs["w"]
	r.beginRun("one", 1)
	in := r.batch()
	var cancelled, started atomic.Int32
	temporal := &mocks.Client{}
	isOpen := func() bool { return !terminated || started.Load() > 0 }
	temporal.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, "").Return(func(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		status := enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		if !isOpen() {
			status = enums.WORKFLOW_EXECUTION_STATUS_TERMINATED
		}
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflow.WorkflowExecutionInfo{Status: status}}, nil
	})
	temporal.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, client.StartWorkflowOptions, any, ...any) (client.WorkflowRun, error) {
		started.Add(1)
		return &mocks.WorkflowRun{}, nil
	})
	temporal.On("CancelWorkflow", mock.Anything, mock.Anything, "").Return(func(context.Context, string, string) error {
		if !isOpen() {
			return nil // as Temporal answers
		}
		cancelled.Add(1)
		return r.Frontier.Crawl(in.Crawl).Batch(in.Batch).GiveBack(time.Now())
	})
	r.Client = client.Client(temporal)
	u, err := urls.Trusted(rigSeed)
	r.must(err)
	p := ring.PartitionOf(u.PLD())
	if _, err := PartitionsOf(r.Activities).Export(t.Context(), p, 1); !errors.Is(err, frontier.ErrBusy) {
		t.Errorf("a partition with a batch is exported: %v", err)
	}
	r.must(do(PartitionsOf(r.Activities), t.Context(), p))
	if cancelled.Load() != 1 || !maps.Equal(r.states(), left) {
		t.Errorf("%d batches are cancelled, the frontier knows %v", cancelled.Load(), r.states())
	}
}

// checkpoint makes a checkpoint of a worker.
func (c *cluster) checkpoint(name string) {
	c.t.Helper()
	r := c.rigs[name]
	store, err := r.Archives.Open(c.t.Context(), "")
	r.must(err)
	_, err = checkpoint.Make(c.t.Context(), store, r.Frontier, checkpoint.Worker{Name: name, Instance: name, Epoch: 1, Tenures: r.Membership.Tenures, Ahead: ClockAhead(r.Activities)}, time.Now())
	r.must(err)
}

// die has a worker lose its disk, and the ring give it up.
func (c *cluster) die(name string) {
	c.t.Helper()
	r := c.rigs[name]
	c.state.Lost(c.now, name, r.Membership.of.Process)
	delete(c.rigs, name)
	c.now = c.now.Add(2 * ring.DefaultGrace)
	c.state.Tick(c.now)
}

// deliver takes a batch through all of its steps, and delivers the links to other workers before it commits.
func (c *cluster) deliver(name string, answer func(url string) string) {
	c.t.Helper()
	r := c.rigs[name]
	in := r.batch()
	r.open(in, answer)
	r.must(r.do(r.Process, in))
	plan, err := r.Frontier.Crawl(rigCrawl).Plan()
	r.must(err)
	h, err := r.destination(c.t.Context(), in, plan)
	r.must(err)
	mark, err := r.Frontier.Crawl(rigCrawl).Watermark()
	r.must(err)
	view := c.state.View("")
	owner := func(p int) string {
		w, _ := view.Owner(p)
		return w.Name
	}
	for other, to := range c.rigs {
		if other == name {
			continue
		}
		a := pipeline.Arrival{Segment: h.label, Run: plan.Run, Watermark: mark}
		for p := range ring.Partitions {
			if owner(p) == other {
				a.Partitions = append(a.Partitions, p)
			}
		}
		r.must(to.Engine.Deliver(c.t.Context(), h.store, a, func(frontier.Partition) error { return nil }))
	}
	left, err := r.result(in)
	r.must(err)
	commit, err := left.Commit(in.Batch)
	r.must(err)
	commit.Others = func(p frontier.Partition) bool { return owner(int(p)) != name }
	r.must(r.Frontier.Crawl(rigCrawl).Commit(commit))
}

// wide is a page with links to its own host and to others.
func wide(url string) string {
	n := len(url) * 7 % 60
	return fmt.Sprintf("%s<a href=\"http://h%d.example/wide\">w</a><a href=\"http://h%d.example/%d\">x</a>", linking(url), n, (n+11)%60, n)
}

// TestPartitionsRebuilt: a worker loses its disk; the others make its partitions again from their checkpoints and the segments since, no matter who
// has made these: what they know is what all workers knew together.
func TestPartitionsRebuilt(t *testing.T) {
	for name, test := range map[string]struct{ first, second bool }{
		"without a checkpoint": {false, false}, "handed over since the checkpoint": {true, false}, "with a checkpoint": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !test.second {
				t.Skip("the third case has the goroutines of the others, and more steps")
			}
			c := newCluster(t, "w")
			c.quiet()
			w := c.rigs["w"]
			w.beginRun("one", 1)
			for range 3 {
				c.deliver("w", wide)
			}
			if test.first {
				c.checkpoint("w")
			}
			c.deliver("w", wide)
			v := c.join("v")
			c.quiet()
			v.beginRun("one", 1)
			for range 2 {
				c.deliver("w", wide)
				c.deliver("v", wide)
			}
			if test.second {
				c.checkpoint("v")
				c.checkpoint("w")
			}
			c.deliver("v", wide)
			c.deliver("w", wide)
			was := c.knowledge()
			if n := len(w.states()); n == 0 || n == len(was) {
				t.Fatalf("w has %d URLs of %d", n, len(was))
			}
			c.die("w")
			c.quiet()
			c.same(was)
			u := c.join("u")
			c.quiet()
			u.beginRun("one", 1)
			c.same(was)
			if !test.second {
				return
			}
			c.checkpoint("u")
			c.die("v")
			c.quiet()
			c.same(was)
		})
	}
}

// TestRebuildBeforeBegin: a worker makes partitions again of a crawl that has not reached it, and of which there is no checkpoint, or one from
// before the crawl: it knows of the crawl what the archive has. The crawl continues there when it comes; one that has ended does not come.
func TestRebuildBeforeBegin(t *testing.T) {
	for name, test := range map[string]struct{ checkpoint, ended bool }{"no checkpoint": {}, "a checkpoint from before the crawl": {true, false}, "the run has ended": {false, true}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, "w")
			c.quiet()
			w := c.rigs["w"]
			if test.checkpoint {
				bound := w.definition(func(d *crawl.Definition) { d.Name = "bound" })
				_, err := call[BeginResult](w.rig, w.Begin, BeginInput{Definition: bound, Owner: "two", Holder: w.holder()})
				w.must(err)
				c.checkpoint("w")
			}
			w.beginRun("one", 1)
			for range 3 {
				c.deliver("w", wide)
			}
			if test.ended {
				_, err := call[EndResult](w.rig, w.End, EndInput{Crawl: rigCrawl, Owner: "one", NoReport: true})
				w.must(err)
			}
			was := c.knowledge()
			c.die("w")
			v := c.join("v")
			c.now = c.now.Add(2 * ring.DefaultGrace)
			c.state.Tick(c.now)
			c.quiet()
			c.same(was)
			if test.ended {
				return
			}
			v.beginRun("one", 1)
			c.same(was)
			if round := v.claim(); len(round.Claims) == 0 {
				t.Error("nothing can be claimed")
			}
		})
	}
}

// TestDeliveryWaitsForHandOver: links to a partition that closes are not taken by its old owner; the new one takes them when it has loaded the partition.
func TestDeliveryWaitsForHandOver(t *testing.T) {
	c := newCluster(t, "w", "u")
	c.quiet()
	w, u := c.rigs["w"], c.rigs["u"]
	w.beginRun("one", 1)
	u.beginRun("one", 1)
	from := w
	if len(w.states()) == 0 { // the other one has the seed
		from = u
	}
	in := from.batch()
	from.open(in, func(url string) string {
		links := ""
		for i := range 60 {
			links += fmt.Sprintf("<a href=\"http://h%d.example/\">x</a>", i)
		}
		return links
	})
	from.must(from.do(from.Process, in))
	old := map[*clusterRig]*clusterRig{w: u, u: w}[from]
	before := c.state.View("")
	x := c.join("x")
	old.Membership.Take(c.state.View(old.name)) // some of its partitions close by that
	from.Membership.Take(c.state.View(from.name))
	d, err := from.deliveryOf(t.Context(), in)
	from.must(err)
	for p := range ring.Partitions {
		if owner, _ := before.Owner(p); owner.Name == old.name {
			d.Partitions = append(d.Partitions, p)
		}
	}
	d.Epoch = c.state.Epoch()
	out, err := old.Deliver(t.Context(), d)
	old.must(err)
	if n := len(out.Delivered); n == 0 || n == len(d.Partitions) || out.Waits == "" {
		t.Fatalf("%d partitions of %d have taken their links, %q", n, len(d.Partitions), out.Waits)
	}
	taken := len(old.states())
	from.must(from.Frontier.Crawl(in.Crawl).Batch(in.Batch).GiveBack(time.Now())) // else its partition waits for it
	c.quiet()
	x.beginRun("one", 1)
	d.Epoch = c.state.Epoch()
	d.Partitions = slices.DeleteFunc(d.Partitions, func(p int) bool { return slices.Contains(out.Delivered, p) })
	again, err := x.Deliver(t.Context(), d)
	x.must(err)
	if len(again.Delivered) != len(d.Partitions) || len(x.states()) == 0 || taken == 0 {
		t.Errorf("%d partitions of %d have taken their links at last; x knows %d URLs, %s %d", len(again.Delivered), len(d.Partitions), len(x.states()), old.name, taken)
	}
}

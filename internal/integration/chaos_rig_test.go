package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// chaosRig has workers, each behind links of its own, a Temporal dev server and an S3 server, two crawls, and a web that survives all.
type chaosRig struct {
	plan     chaosPlan
	world    *webworld.World
	client   client.Client
	temporal *killedTemporal
	store    *killedProcess
	s3       archive.S3
	workers  []*chaosWorker // those of the plan, and then the guests
	crawls   []chaosCrawl
}

// chaosCrawl is a crawl of a part of the web.
type chaosCrawl struct {
	crawl.Definition
	queue string // if it is bound, it belongs to the worker that polls it
	pages []webworld.Page
	may   map[string]bool // URLs that its archive may have, once

	unsure int64           // URLs of may of which it may know nothing
	totals frontier.Totals // of its result
}

// chaosStore is where the workers keep what belongs to no crawl.
const chaosStore = "s3://" + killBucket + "/workers"

// chaosDir is where something of a run keeps its data and its log: below the folder of MUNINN_CHAOS_KEEP, or deleted after the test.
func chaosDir(t *testing.T, of string) string {
	t.Helper()
	return filepath.Join(cmp.Or(os.Getenv("MUNINN_CHAOS_KEEP"), t.TempDir()), of)
}

// newChaosRig starts everything but the crawls.
func newChaosRig(t *testing.T, plan chaosPlan, world *webworld.World) *chaosRig {
	t.Helper()
	r := &chaosRig{plan: plan, world: world}
	r.store, r.s3 = newS3In(t, chaosDir(t, "s3"))
	r.temporal = &killedTemporal{options: localstack.Options{Binary: Temporal(t), Data: chaosDir(t, "temporal"), Attrs: names.SearchAttributes}}
	r.temporal.start(t)
	t.Cleanup(func() { r.temporal.server.Stop() })
	r.store.start(t)
	t.Cleanup(func() { r.store.kill(t) })
	r.client = Dial(t, r.temporal.server.Address)
	if plan.ring != (ring.Limits{}) {
		_, err := r.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.ClusterID, TaskQueue: names.ClusterQueue}, names.Cluster, activities.ClusterInput{Limits: plan.ring})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range plan.workers {
		r.newWorker(t, name).start(t)
	}
	return r
}

// chaosWorker is a worker process that can be killed, lose its disk, have a full disk, and be cut off.
type chaosWorker struct {
	*killedProcess
	name, queue, data string
	links             []*link
	small             bool      // the data folder is a file system of its own
	wanted            bool      // it is to run
	failed            int       // how often it ended by itself
	again             time.Time // that it is started by tend; zero: not yet known
}

// supervisorPause is how long a worker that ended by itself stays down, as with a supervisor.
const supervisorPause = time.Second

// chaosDisk is the size of a worker's file system, chaosFree what a full one has left: less than half of the floor, below which the
// frontier refuses writes.
const (
	chaosDisk = 768 << 20
	chaosFree = int64(disk.LeastFloor)/2 - 32<<20
)

// newWorker prepares a worker and its links.
func (r *chaosRig) newWorker(t *testing.T, name string) *chaosWorker {
	t.Helper()
	dir := chaosDir(t, name)
	w := &chaosWorker{name: name, queue: names.TaskQueue, data: filepath.Join(dir, "small")}
	if r.plan.spread == 0 || r.plan.bound(name) {
		w.queue += "-" + name // a crawl that is started there is its own
	}
	if err := os.MkdirAll(w.data, 0o755); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", w.data, "tmpfs", 0, fmt.Sprint("size=", chaosDisk))
	if w.small = err == nil; w.small {
		t.Cleanup(func() { _ = syscall.Unmount(w.data, syscall.MNT_DETACH) })
	}
	temporal := newLink(t, ownAddress(), r.temporal.server.Address)
	s3 := r.s3
	store := newLink(t, ownAddress(), strings.TrimPrefix(s3.Endpoint, "http://"))
	s3.Endpoint = "http://" + store.address()
	w.links = []*link{temporal, store}
	w.killedProcess = newKilledWorker(t, dir, temporal.address(), chaosStore, s3, r.world,
		"--name", name, "--data", filepath.Join(w.data, "data"), "--task-queue", w.queue, "--politeness-shards", strconv.Itoa(r.plan.shards),
		"--disk-floor", disk.LeastFloor.String(), "--checkpoint-every", "1m")
	if fast := r.plan.clocks[name]; fast != 0 {
		w.program, w.env = wrongClock(t), append(w.env, clockOffset+"="+strconv.Itoa(int(fast.Seconds())))
	}
	t.Cleanup(func() {
		if w.cmd != nil {
			w.kill(t)
		}
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", name, w.lastWords())
		}
	})
	r.workers = append(r.workers, w)
	return w
}

func (w *chaosWorker) start(t *testing.T) {
	t.Helper()
	w.killedProcess.start(t)
	w.wanted, w.again = true, time.Time{}
}

func (w *chaosWorker) kill(t *testing.T) {
	t.Helper()
	w.wanted = false
	w.killedProcess.kill(t)
}

func (w *chaosWorker) filler() string { return filepath.Join(w.data, "filler") }

// fill leaves as little room on the worker's disk as ends all writes of the frontier.
func (w *chaosWorker) fill(t *testing.T) {
	t.Helper()
	free, err := disk.New(w.data, disk.LeastFloor).Free(w.data)
	if err != nil || free <= chaosFree {
		t.Logf("the disk of %s has %d bytes: %v", w.name, free, err)
		return
	}
	if err := os.WriteFile(w.filler(), make([]byte, free-chaosFree), 0o600); err != nil {
		t.Log(err) // the worker has taken the room meanwhile
	}
}

func (r *chaosRig) worker(name string) *chaosWorker {
	return r.workers[slices.IndexFunc(r.workers, func(w *chaosWorker) bool { return w.name == name })]
}

// do begins or ends a fault.
func (r *chaosRig) do(t *testing.T, s step) {
	t.Helper()
	t.Logf("%s ends %v, %d requests so far: %v", time.Now().Format("15:04:05.000"), s.ends, r.world.Stats().Requests, s.fault)
	switch s.Kind {
	case faultTempo:
		r.toggle(t, r.temporal, s.ends)
	case faultS3:
		r.toggle(t, r.store, s.ends)
	case faultKill, faultAway:
		r.toggle(t, r.worker(s.Victim), s.ends)
	case faultDestroy:
		r.destroy(t, r.worker(s.Victim), s.ends)
	case faultGuest, faultLost:
		r.guest(t, s)
	case faultCut, faultExile:
		for _, l := range r.worker(s.Victim).links {
			if s.ends {
				l.join()
			} else {
				l.cut()
			}
		}
	case faultFill:
		w := r.worker(s.Victim)
		switch {
		case !w.small && os.Geteuid() == 0 && r.plan.time == longChaos.time: // a container of CI may have no right to mount
			t.Errorf("%s has no small disk to fill", w.name)
		case !w.small:
			t.Log("no small disk to fill: it takes root")
		case s.ends:
			_ = os.Remove(w.filler())
		default:
			w.fill(t)
		}
	case faultShard:
		if shard, err := strconv.Atoi(s.Victim); err == nil && !s.ends {
			r.terminate(t, names.PolitenessID(shard), "a shard is terminated by the test")
		}
	}
}

func (r *chaosRig) toggle(t *testing.T, v victim, ends bool) {
	t.Helper()
	if ends {
		v.start(t)
	} else {
		v.kill(t)
	}
}

// guest adds a worker; in the end, it stops it as an operator does, or the worker is lost with its disk.
func (r *chaosRig) guest(t *testing.T, s step) {
	t.Helper()
	if !s.ends {
		r.newWorker(t, fmt.Sprint("guest-", len(r.workers))).start(t)
		return
	}
	w := r.workers[len(r.workers)-1]
	if s.Kind == faultLost {
		w.lose(t)
		return
	}
	w.wanted = false
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
}

// lose kills a worker and deletes its data folder.
func (w *chaosWorker) lose(t *testing.T) {
	t.Helper()
	w.kill(t)
	if err := os.RemoveAll(filepath.Join(w.data, "data")); err != nil {
		t.Fatal(err)
	}
}

// tend starts workers again that ended by themselves, as a supervisor does: a worker that finds no archive, or no room on its disk, does
// not start.
func (r *chaosRig) tend(t *testing.T) {
	t.Helper()
	for _, w := range r.workers {
		switch {
		case !w.wanted || !w.ended():
		case w.again.IsZero():
			w.again = time.Now().Add(supervisorPause)
			if w.failed++; w.failed%10 == 1 {
				t.Logf("%s %s ended by itself, for time %d: %s", time.Now().Format("15:04:05.000"), w.name, w.failed, w.cmd.ProcessState)
			}
		case time.Now().After(w.again):
			w.start(t)
		}
	}
}

// terminate ends a workflow, if it runs.
func (r *chaosRig) terminate(t *testing.T, id, why string) (ran bool) {
	t.Helper()
	Until(t, soon, "terminate "+id, func() string {
		err := r.client.TerminateWorkflow(t.Context(), id, "", why)
		var none *serviceerror.NotFound
		if ran = err == nil; err == nil || errors.As(err, &none) {
			return ""
		}
		return err.Error()
	})
	return ran
}

// running lists the workflows that match a query and run.
func (r *chaosRig) running(t *testing.T, query string) (ids []string, err error) {
	t.Helper()
	list, err := r.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query + " AND ExecutionStatus='Running'"})
	for _, e := range list.GetExecutions() {
		ids = append(ids, e.GetExecution().GetWorkflowId())
	}
	return ids, err
}

// destroy kills a worker and deletes its disk, and in the end starts it again, with nothing. If crawls that are bound to it run, its frontier
// is rebuilt before by the command for that, as docs/OPERATING.md says, and they are started again.
func (r *chaosRig) destroy(t *testing.T, w *chaosWorker, ends bool) {
	t.Helper()
	bound := slices.ContainsFunc(r.crawls, func(c chaosCrawl) bool { return !c.Spread && c.queue == w.queue })
	switch {
	case !ends:
		if bound && !r.hasCheckpoint(t, w) {
			t.Errorf("%s has made no checkpoint in %v without a fault", w.name, r.plan.quiet)
		}
		w.lose(t)
		return
	case !bound:
		w.start(t)
		return
	}
	var again []chaosCrawl
	for _, c := range r.crawls {
		if c.queue == w.queue && r.terminate(t, names.CrawlID(c.Name), "its worker has lost its disk") {
			again = append(again, c)
			Until(t, soon, "the batches of "+c.Name+" are terminated", func() string {
				ids, err := r.running(t, "MuninnCrawl='"+c.Name+"'")
				if err != nil {
					return err.Error()
				}
				for _, id := range ids {
					r.terminate(t, id, "its worker has lost its disk")
				}
				return strings.Join(ids, " ")
			})
		}
	}
	if len(again) > 0 {
		r.rebuild(t, w)
	}
	w.start(t)
	for _, c := range again {
		r.startCrawl(t, c)
	}
}

// rebuild makes the frontier of a worker again.
func (r *chaosRig) rebuild(t *testing.T, w *chaosWorker) {
	t.Helper()
	cmd := exec.Command(Program(t, "muninn"), "frontier", "rebuild", chaosStore, "--name", w.name, "--data", filepath.Join(w.data, "data"), "--s3-endpoint", r.s3.Endpoint)
	cmd.Env = append(os.Environ(), w.env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%v:\n%s", cmd.Args[1:3], lines(string(out)))
	if err != nil {
		t.Fatal(err)
	}
}

// hasCheckpoint reports whether the archive has a checkpoint of a worker.
func (r *chaosRig) hasCheckpoint(t *testing.T, w *chaosWorker) (has bool) {
	t.Helper()
	store, err := archive.Open(t.Context(), chaosStore, r.s3)
	if err == nil {
		err = store.List(t.Context(), archive.Frontiers{}.Checkpoints(), func(o archive.Object) error {
			is, _ := archive.Frontiers{}.IsCheckpoint(o.Key, w.name)
			has = has || is
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return has
}

func (r *chaosRig) startCrawl(t *testing.T, c chaosCrawl) {
	t.Helper()
	Until(t, soon, "start crawl "+c.Name, func() string {
		_, err := r.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.CrawlID(c.Name), TaskQueue: c.queue}, names.Crawl, c.Definition)
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// over reports whether all crawls have ended; false if Temporal does not answer.
func (r *chaosRig) over(t *testing.T) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a client tries again for longer, and faults must not come late
	defer cancel()
	for _, c := range r.crawls {
		d, err := r.client.DescribeWorkflowExecution(ctx, names.CrawlID(c.Name), "")
		if err != nil || d.GetWorkflowExecutionInfo().GetCloseTime() == nil {
			return false
		}
	}
	return true
}

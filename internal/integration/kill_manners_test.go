package integration

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// killRig has a worker, a Temporal dev server and an S3 server that are killed one by one, and a web that survives them.
type killRig struct {
	world   *webworld.World
	client  client.Client
	worker  *killedProcess
	victims map[string]victim
	s3      archive.S3
	store   string
	gate    *gate  // between the worker and S3
	data    string // folder of the worker
}

// newKillRig starts all three; program is the worker's.
func newKillRig(t *testing.T, world *webworld.World, program string) *killRig {
	t.Helper()
	store, s3 := newS3(t)
	temporal := &killedTemporal{options: localstack.Options{Binary: Temporal(t), Data: t.TempDir(), Attrs: names.SearchAttributes}}
	temporal.start(t)
	t.Cleanup(func() { temporal.server.Stop() })
	store.start(t)
	t.Cleanup(func() { store.kill(t) })
	r := &killRig{world: world, s3: s3, store: "s3://" + killBucket + "/crawls"}
	dir, near := t.TempDir(), s3
	r.gate, near.Endpoint = newGate(t, s3.Endpoint)
	r.data = filepath.Join(dir, "data")
	r.worker = newKilledWorker(t, dir, temporal.server.Address, r.store, near, world)
	r.worker.program = program
	r.worker.start(t)
	t.Cleanup(func() {
		r.worker.kill(t)
		if t.Failed() {
			t.Logf("the end of the worker's log:\n%s", r.worker.lastWords())
		}
	})
	r.client = Dial(t, temporal.server.Address)
	r.victims = map[string]victim{"worker": r.worker, "Temporal": temporal, "S3": store}
	return r
}

// ended reports whether the crawl has ended; false if Temporal does not answer.
func (r *killRig) ended(t *testing.T) bool {
	t.Helper()
	d, err := r.client.DescribeWorkflowExecution(t.Context(), names.CrawlID("killed"), "")
	return err == nil && d.GetWorkflowExecutionInfo().GetCloseTime() != nil
}

// await waits for more than a number of further requests; false if the crawl ended before.
func (r *killRig) await(t *testing.T, what string, progress int) bool {
	t.Helper()
	asked, over := r.world.Stats().Requests, false
	Until(t, soon, "the crawl continues before "+what, func() string {
		if over = r.ended(t); over || r.world.Stats().Requests > asked+progress {
			return ""
		}
		return fmt.Sprintf("the servers have seen %d requests; the worker says:\n%s", r.world.Stats().Requests, r.worker.lastWords())
	})
	return !over
}

// killOnce kills a victim after a while, and starts it again after an outage; if progress is not negative, after that many
// further requests and a while. It returns false if the crawl ended before.
func (r *killRig) killOnce(t *testing.T, name string, progress int, while, outage time.Duration) bool {
	t.Helper()
	asked := r.world.Stats().Requests
	if progress >= 0 && !r.await(t, "the kill of "+name, progress) || r.ended(t) {
		return false
	}
	<-time.After(while) // the seed has chosen the moment
	r.victims[name].kill(t)
	t.Logf("%s %s killed after %d more requests, away for %v", time.Now().Format("15:04:05.000"), name, r.world.Stats().Requests-asked, outage.Round(time.Millisecond))
	<-time.After(outage)
	r.victims[name].start(t)
	return true
}

// killAt kills the worker in the moment that reached is closed for, and starts it again after an outage. It returns false if the crawl ended before.
func (r *killRig) killAt(t *testing.T, moment string, reached <-chan struct{}, outage time.Duration) bool {
	t.Helper()
	over := false
	Until(t, soon, "the worker comes to the moment when "+moment, func() string {
		select {
		case <-reached:
			return ""
		default:
		}
		if over = r.ended(t); over {
			return ""
		}
		return "the worker says:\n" + r.worker.lastWords()
	})
	if over {
		return false
	}
	r.worker.kill(t)
	t.Logf("%s worker killed when %s, away for %v", time.Now().Format("15:04:05.000"), moment, outage.Round(time.Millisecond))
	<-time.After(outage)
	r.worker.start(t)
	return true
}

// servedPolitely checks that no request came too early, as the servers of a web saw it: least is the pause of each address.
func servedPolitely(t *testing.T, world *webworld.World, least time.Duration) {
	t.Helper()
	delays := map[string]time.Duration{}
	for _, s := range world.Sites() {
		delays[s.Host] = s.CrawlDelay
	}
	faults := webworld.Impolite(world.Trace(), least, func(host string) time.Duration { return delays[host] })
	for _, fault := range faults[:min(len(faults), 10)] {
		t.Error(fault)
	}
	if len(faults) > 10 {
		t.Errorf("%d requests came too early", len(faults))
	}
	polite(t, world.Stats(), least)
}

// traces lists the requests to each address.
func traces(world *webworld.World) string {
	byIP := map[netip.Addr]string{}
	for _, a := range world.Trace() {
		byIP[a.IP] += a.String() + "\n"
	}
	out := ""
	for ip, trace := range byIP {
		out += fmt.Sprintf("requests to %v:\n%s\n", ip, lines(trace))
	}
	return out
}

// once checks the archive of the rig.
func (r *killRig) once(t *testing.T) {
	t.Helper()
	store, err := archive.Open(t.Context(), r.store, r.s3)
	if err != nil {
		t.Fatal(err)
	}
	archivedOnce(t, store, r.world.Pages(), nil)
}

// archivedOnce checks that an archive has each allowed page once and nothing else but what it may have once, without a fault. Objects that kills left behind are
// beside the segments, and no manifest names them. It returns how many pages the archive has.
func archivedOnce(t *testing.T, store archive.Store, pages []webworld.Page, may map[string]bool) int {
	t.Helper()
	dir := t.TempDir()
	s3Download(t, store, dir)
	report := Faultless(t, dir)
	allowed, wrong := map[string]bool{}, 0
	fault := func(format string, args ...any) {
		if wrong++; wrong <= 20 {
			t.Errorf(format, args...)
		}
	}
	for _, p := range pages {
		if allowed[p.URL] = p.Allowed; p.Allowed && report.Pages[p.URL] != 1 {
			fault("archive: %s is there %d times, want once", p.URL, report.Pages[p.URL])
		}
	}
	for url, times := range report.Pages {
		if !allowed[url] && (!may[url] || times > 1) {
			fault("archive: %s is there %d times, which is not among the pages that may be fetched", url, times)
		}
	}
	if wrong > 20 {
		t.Errorf("archive: %d pages are not there once", wrong)
	}
	t.Logf("%s holds %d pages in %d segments, %d revisits, %d orphans", store, len(report.Pages), report.Segments, report.Revisits, len(report.Orphans))
	return len(report.Pages)
}

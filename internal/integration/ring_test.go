package integration

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// awaitRing waits until the ring has exactly the lines that Cluster shows of workers.
func (s *Server) awaitRing(t *testing.T, want ...string) {
	t.Helper()
	Until(t, soon, fmt.Sprintf("the ring is %q", want), func() string {
		status, err := s.ringStatus(t)
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, line := range strings.Split(status.String(), "\n") {
			if line, is := strings.CutPrefix(line, "* "); is {
				got = append(got, line)
			}
		}
		if strings.Join(got, "|") == strings.Join(want, "|") {
			return ""
		}
		return fmt.Sprintf("it is %q", got)
	})
}

// ringStatus is what Cluster shows of the ring.
func (s *Server) ringStatus(t *testing.T) (status workflows.ClusterStatus, err error) {
	value, err := s.Client.QueryWorkflow(t.Context(), names.ClusterID, "", names.QueryStatus)
	if err == nil {
		err = value.Get(&status)
	}
	return status, err
}

// awaitQuietRing waits until a worker is in the ring, and each partition has an owner and stays with it.
func (s *Server) awaitQuietRing(t *testing.T, worker string) {
	t.Helper()
	Until(t, soon, "partitions have moved to "+worker, func() string {
		status, err := s.ringStatus(t)
		switch {
		case err != nil:
			return err.Error()
		case status.PartitionsOf(worker) == "" || slices.ContainsFunc(status.Groups, func(g ring.Group) bool { return g.Step != ring.Owned }):
			return status.String()
		}
		return ""
	})
}

// TestWorkersJoinTheRing: workers register as they start; one of a name that is taken, or on the folder of another one, is refused and says
// what to do; one that is stopped leaves, and what it owned goes to the others; one that comes back has its seat again. A ring that is
// terminated is started again by those that are there.
func TestWorkersJoinTheRing(t *testing.T) {
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9}, 1, 5))
	conf := Config(server, world, t.TempDir())
	// With a short heartbeat: a worker whose name is taken waits for two of them until it is refused.
	limits := ring.Limits{Heartbeat: 3 * time.Second, Permit: ring.DefaultPermit, Grace: ring.DefaultGrace, CloseWithin: ring.DefaultCloseWithin}
	options := client.StartWorkflowOptions{ID: names.ClusterID, TaskQueue: names.ClusterQueue}
	if _, err := server.Client.ExecuteWorkflow(t.Context(), options, names.Cluster, activities.ClusterInput{Limits: limits}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	first := StartWorker(t, conf)
	t.Logf("the first worker started within %v", time.Since(began).Round(time.Millisecond))
	server.awaitRing(t, "w1: up, 1024 owned")

	second := Config(server, world, t.TempDir())
	second.Name = "w2"
	w2 := StartWorker(t, second)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")

	if text, err := Run(Program(t, "muninn"), "workers", "--temporal", server.Address); err != nil || !strings.Contains(text, "2 workers") || strings.Count(text, "512 owned") != 2 {
		t.Errorf("muninn workers: %v\n%s", err, text)
	}
	refused := func(conf worker.Config, want ...string) {
		t.Helper()
		w, err := worker.Start(t.Context(), conf, slog.New(slog.DiscardHandler))
		if err == nil {
			w.Stop()
			t.Fatalf("a worker starts that should be refused: %q", want)
		}
		for _, want := range want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("refused with %q, which lacks %q", err, want)
			}
		}
	}
	same := Config(server, world, t.TempDir())
	refused(same, `there is a worker "w1" already`, "give this worker another name")
	copied := Config(server, world, t.TempDir())
	copied.Name = "w3"
	instance, err := os.ReadFile(filepath.Join(conf.Data, activities.InstanceFile))
	if err == nil {
		err = os.MkdirAll(copied.Data, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(copied.Data, activities.InstanceFile), instance, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused(copied, "is in use", "give this worker a folder of its own")

	w2.Stop()
	server.awaitRing(t, "w1: up, 1024 owned")
	began = time.Now()
	first.Stop()
	stopped := time.Now()
	StartWorker(t, conf)
	t.Logf("the only worker stopped within %v, and started again within %v", stopped.Sub(began).Round(time.Millisecond), time.Since(stopped).Round(time.Millisecond))
	server.awaitRing(t, "w1: up, 1024 owned")

	if err := server.Client.TerminateWorkflow(t.Context(), names.ClusterID, "", "a test"); err != nil {
		t.Fatal(err)
	}
	server.awaitRing(t, "w1: up") // no permit may be held before partitions are given to anybody
}

package integration

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
	"github.com/muninn-archive/muninn/worker"
)

// The shards know their number: a worker with another number does not start, also after they have continued as new. A terminated shard
// that is started again knows that there may be leases.
func TestPolitenessShards(t *testing.T) {
	world := Serve(t, manners.NewBorrowed(webworld.Options{FirstIP: netip.MustParseAddr("127.102.0.1")}, 1, 0))
	server := StartServer(t)
	conf := Config(server, world, t.TempDir())
	conf.Shards = 2
	StartWorker(t, conf)
	other := func(shards int) string {
		wrong := Config(server, world, t.TempDir())
		wrong.Shards = shards
		w, err := worker.Start(t.Context(), wrong, slog.New(slog.DiscardHandler))
		if err == nil {
			w.Stop()
			return ""
		}
		if _, there := os.Stat(filepath.Join(wrong.Data, frontier.Folder)); there == nil {
			t.Errorf("a worker with %d shards has opened its folder before it was refused: an earlier version could not use it any more", shards)
		}
		return err.Error()
	}
	first := server.politenessRun(t)
	for range 200 { // rounds of nothing, until it continues as new
		r := &politeness.Round{From: "nobody"}
		if err := activities.StartPoliteness(t.Context(), server.Client, 0, 2, r); err != nil {
			t.Fatal(err)
		}
	}
	Until(t, soon, "the shard continues as new", func() string {
		if server.politenessRun(t) == first {
			return "it does not"
		}
		return ""
	})
	for _, shards := range []int{1, 3} {
		if got := other(shards); !strings.Contains(got, "setting politeness-shards") || !strings.Contains(got, "set it to 2") {
			t.Errorf("a worker with %d shards starts with %q", shards, got)
		}
	}
	if err := server.Client.TerminateWorkflow(t.Context(), names.PolitenessID(0), "", "a test"); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	if err := activities.StartPoliteness(t.Context(), server.Client, 0, 2, nil); err != nil {
		t.Fatal(err)
	}
	state := server.shard(t)
	if late := state.Floor.Sub(ended.Add(politeness.DefaultTTL)); late < -time.Minute || late > time.Minute || state.Shards != 2 {
		t.Errorf("%d shards; it grants what it does not know from %v on, it ended at %v", state.Shards, state.Floor, ended)
	}
}

// politenessRun is the run of the first politeness shard.
func (s *Server) politenessRun(t *testing.T) string {
	t.Helper()
	d, err := s.Client.DescribeWorkflowExecution(t.Context(), names.PolitenessID(0), "")
	if err != nil {
		t.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

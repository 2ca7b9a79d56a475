package integration

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// Each command reports at once that a crawl, schedule, worker or namespace does not exist.
func TestWrongNames(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 15}, 1, 1))
	conf := Config(server, world, t.TempDir())
	StartWorker(t, conf)
	o := operator{t, server}
	for _, c := range []struct{ args, says string }{
		{"status nobody", `there is no crawl "nobody"`},
		{"pause nobody", `there is no crawl "nobody"`},
		{"stop nobody", `there is no crawl "nobody"`},
		{"explain nobody http://a.example/", `there is no crawl "nobody"`},
		{"configure nobody order.per_queue=3", `there is no crawl "nobody"`},
		{"submit nobody http://a.example/", `there is no crawl "nobody"`},
		{"report nobody", `there is no crawl "nobody"`},
		{"learn nobody", `there is no crawl "nobody"`},
		{"log nobody", `there is no crawl "nobody"`},
		{"forget nobody", `there is no crawl "nobody"`},
		{"forget nobody --worker " + conf.Name, "does not know the crawl nobody"},
		{"forget nobody --worker away", `no worker serves the queue muninn/away: start the worker "away"`},
		{"schedule pause nobody", `there is no schedule "nobody"`},
		{"schedule delete nobody", `there is no schedule "nobody"`},
		{"status nobody --namespace none", `has no namespace "none"`},
		{"schedule list --namespace none", `has no namespace "none"`},
	} {
		if _, said := o.muninn(1, strings.Fields(c.args)...); !strings.Contains(said, c.says) {
			t.Errorf("%s: %q is not in %s", c.args, c.says, said)
		}
	}
}

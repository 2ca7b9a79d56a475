package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// `muninn host` says why a host is not asked: here it has answered 429, and another crawl wants it, too.
func TestHostCommand(t *testing.T) {
	t.Parallel()
	web := servePlain(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	}, "127.97.3.1")
	server := StartServer(t)
	StartWorker(t, web.config(t, server, map[string]string{"busy.test": "127.97.3.1"}))
	for _, name := range []string{"one", "two"} {
		d := web.definition(name, "busy.test/"+name)
		d.Budget.PerPLD = 50
		StartCrawl(t, server.Client, d)
	}
	host := func(args ...string) (string, error) {
		return Run(Program(t, "muninn"), append([]string{"host", "--temporal", server.Address}, args...)...)
	}
	var text string
	Until(t, soon, "the host is slowed down", func() (missing string) {
		var err error
		if text, err = host("busy.test"); err != nil {
			return err.Error()
		}
		for _, want := range []string{"slowed down  step 1: 429 at ", "for all crawls", "worker w1, at 127.97.3.1", "crawl one ", "crawl two ", "50 URLs left of budget.per_pld"} {
			if !strings.Contains(text, want) {
				missing += fmt.Sprintf("%q is not in\n%s", want, text)
			}
		}
		return missing
	})
	t.Logf("\n%s", text)
	raw, err := host("busy.test", "--json")
	var out struct {
		Host   string
		Shards []struct {
			Slow *politeness.SlowDown
		}
		Workers []struct {
			Worker string
			Queues []struct{ Crawl string }
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(raw), &out)
	}
	if err != nil || out.Host != "busy.test" || len(out.Shards) != 1 || out.Shards[0].Slow == nil || out.Shards[0].Slow.Why != "429" || len(out.Workers) != 1 || len(out.Workers[0].Queues) != 2 {
		t.Errorf("%s: %+v, %v", raw, out, err)
	}
	if out, err := host("http://busy.test/"); err == nil || !strings.Contains(err.Error(), "is no host") {
		t.Errorf("%s, %v", out, err)
	}
	for _, name := range []string{"one", "two"} {
		if err := server.Client.TerminateWorkflow(t.Context(), "crawl/"+name, "", "shown"); err != nil {
			t.Fatal(err)
		}
	}
}

package integration

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Two hosts lie at one address, and two at addresses of their own. What the host groups of the worker and per_ip of the definition say
// together is counted at the server.
func TestHostGroups(t *testing.T) {
	t.Parallel()
	const one, two, three = "127.97.1.1", "127.97.1.2", "127.97.1.3"
	const pause = 300 * time.Millisecond
	tests := []struct {
		name, groups string
		perIP        int
		atOnce       int // at the shared address
		together     bool
	}{
		{"per_ip of the definition alone", "", 2, 1, true},
		{"per_ip of the address alone", "{name: strong, networks: [" + one + "], each_address: true, per_ip: 2}", 1, 1, true},
		{"per_ip of both", "{name: strong, networks: [" + one + "], each_address: true, per_ip: 2}", 2, 2, true},
		{"one group of names", "{name: farm, hosts: [a.test, b.test, c.test, d.test], min_delay: 300ms}", 1, 1, false},
		{"one group of networks", "{name: farm, networks: [127.97.1.0/24], min_delay: 300ms}", 1, 1, false},
	}
	server := StartServer(t)
	for i, test := range tests {
		// The first requests to two hosts that may be asked together wait for each other: on a busy machine one could have its last page before the other has its first.
		met, both := map[string]func(){}, sync.WaitGroup{}
		if test.together {
			for _, host := range []string{"a.test", map[int]string{1: "c.test", 2: "b.test"}[test.atOnce]} {
				both.Add(1)
				met[host] = sync.OnceFunc(both.Done)
			}
		}
		web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
			if host, _, _ := strings.Cut(r.Host, ":"); met[host] != nil {
				met[host]()
				both.Wait()
			}
			time.Sleep(pause)
			_, _ = fmt.Fprint(w, "<html><body>ravens")
			for n := range 3 {
				_, _ = fmt.Fprintf(w, `<a href="/%d">more</a>`, n)
			}
		}, one, two, three)
		conf := web.config(t, server, map[string]string{"a.test": one, "b.test": one, "c.test": two, "d.test": three})
		conf.Name = fmt.Sprint("w", i)
		if test.groups != "" {
			conf.Groups = filepath.Join(t.TempDir(), "groups.yaml")
			if err := os.WriteFile(conf.Groups, []byte("groups: ["+test.groups+"]"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		worker := StartWorker(t, conf)
		d := web.definition(fmt.Sprint("groups", i), "a.test/", "b.test/", "c.test/", "d.test/")
		d.Politeness.PerIP = test.perIP
		d.Politeness.MaxDelay = crawl.Duration(time.Second)
		StartCrawl(t, server.Client, d)
		Result(t, server.Client, d.Name, CrawlTime)
		worker.Stop()
		log := web.requests()
		if len(log) != 20 { // of each host four pages, and its icon
			t.Errorf("%s: %d requests", test.name, len(log))
		}
		if peak := web.peak[one]; peak != test.atOnce {
			t.Errorf("%s: %d requests at a time at the shared address, want %d", test.name, peak, test.atOnce)
		}
		together, least := 1, time.Hour
		for i, a := range log {
			n := 1
			for k, b := range log {
				if k != i && b.start.Before(a.start) && b.end.After(a.start) {
					n++
				}
				if gap := a.start.Sub(b.end); k != i && gap >= 0 {
					least = min(least, gap)
				}
			}
			together = max(together, n)
		}
		t.Logf("%s: %d requests at a time at all addresses, %d at one; shortest pause %s", test.name, together, web.peak[one], least)
		if (together > 1) != test.together {
			t.Errorf("%s: %d requests at a time", test.name, together)
		}
		if !test.together && least < pause {
			t.Errorf("%s: a pause of %s", test.name, least)
		}
	}
}

package frontier

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

const crashDir = "MUNINN_TEST_CRASH_DIR"

// crashLinks are the outlinks that a batch finds.
func crashLinks(batch string) (links []crawl.Discovery) {
	for i := range 20 {
		links = append(links, found(float64(i)/20, fmt.Sprintf("http://h%d.example/%s/%d", i%8, batch, i))...)
	}
	return links
}

// TestCrashChild is the process that TestLongKilled kills: it crawls, and prints "try" before a commit and
// "ack" after it.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("is run by TestLongKilled")
	}
	r := &rig{t: t, dir: dir, clock: &clock{now: time.Now()}}
	r.open()
	if err := r.begin("owner", func(d *crawl.Definition) { d.Order.PerQueue, d.Budget.Pages = 5, 1e9 }); err != nil {
		t.Fatal(err)
	}
	r.submit("seeds", crashLinks("seeds")...)
	say := make(chan string)
	go func() {
		for line := range say {
			fmt.Println(line)
		}
	}()
	for {
		var wg sync.WaitGroup
		round := r.next()
		r.confirm(round)
		for _, c := range round.Claims {
			wg.Go(func() {
				batch := c.ID
				started, err := r.Batch(batch).Start(r.grant(c))
				if err != nil {
					t.Error(err)
					return
				}
				lanes, err := r.Batch(batch).Reopen(started, nil)
				if err != nil {
					t.Error(err)
					return
				}
				say <- "try " + batch + " " + strings.Join(targets(lanes...), " ")
				r.finish(batch, lanes, crashLinks(batch)...)
				say <- "ack " + batch
			})
		}
		wg.Wait()
	}
}

// A frontier that was killed at any moment has every commit that it acknowledged, and each of the others
// completely or not at all.
func TestLongKilled(t *testing.T) {
	kills := 6
	if testing.Short() {
		kills = 2
	}
	dir := t.TempDir()
	tries, acked := map[string][]string{}, map[string]bool{}
	for range kills {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-test.count=1")
		child.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := 1 + rand.IntN(300)
		lines := 0
		for scan := bufio.NewScanner(out); scan.Scan(); {
			word, rest, _ := strings.Cut(scan.Text(), " ")
			switch word {
			case "try":
				batch, list, _ := strings.Cut(rest, " ")
				tries[batch] = strings.Fields(list)
			case "ack":
				acked[rest] = true
			default:
				t.Fatalf("the child says %q", scan.Text())
			}
			if lines++; lines == kill {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil || lines < kill {
			t.Fatalf("the child ended by itself after %d lines: %v", lines, err)
		}
		checkKilled(t, dir, tries, acked)
	}
	if len(acked) == 0 {
		t.Error("nothing was acknowledged in all that time")
	}
}

func checkKilled(t *testing.T, dir string, tries map[string][]string, acked map[string]bool) {
	t.Helper()
	r := &rig{t: t, dir: dir, clock: &clock{now: time.Now()}}
	r.open()
	defer func() { r.must(r.Close()) }()
	states := r.states()
	replay := func(batch string) {
		c := Commit{Batch: batch, Discoveries: crashLinks(batch)}
		for _, u := range tries[batch] {
			c.Outcomes = append(c.Outcomes, done(u))
		}
		r.must(r.Commit(c))
	}
	for batch, list := range tries {
		finished, queued := 0, 0
		for _, u := range list {
			if states[u] == "done" {
				finished++
			}
		}
		for _, l := range crashLinks(batch) {
			if states[l.URL] != "" {
				queued++
			}
		}
		all := finished == len(list) && queued == len(crashLinks(batch))
		nothing := finished == 0 && queued == 0
		if !all && !nothing || nothing && acked[batch] {
			t.Errorf("%s, acknowledged %v: %d of %d outcomes, %d of %d links", batch, acked[batch], finished, len(list), queued, len(crashLinks(batch)))
		}
		before := r.status()
		replay(batch)
		after := r.status()
		if all && (after.Totals != before.Totals || after.Waiting != before.Waiting) {
			t.Errorf("%s, committed again: %+v became %+v", batch, before.Totals, after.Totals)
		}
		if pages := before.Totals.Pages + int64(len(list)); nothing && after.Totals.Pages != pages {
			t.Errorf("%s, committed after the crash: %d pages, not %d", batch, after.Totals.Pages, pages)
		}
		acked[batch] = true
	}
	pages := 0
	for _, list := range tries {
		pages += len(list)
	}
	if s := r.status(); s.Totals.Pages != int64(pages) || s.Totals.Batches != int64(len(tries)) {
		t.Errorf("%d pages in %d batches were committed, but %+v", pages, len(tries), s.Totals)
	}
	counts := 0
	for _, state := range r.states() {
		if state == "waiting" {
			counts++
		}
	}
	if s := r.status(); s.Waiting+s.Claimed != counts {
		t.Errorf("%+v, but %d records wait", s, counts)
	}
	// claims that were never started are given back
	r.clock.pass(DefaultLeaseWait + time.Second)
	r.must(r.Withdraw())
	r.clock.pass(DefaultClaimTTL)
	for _, batch := range r.next().Expired {
		r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	}
	r.confirm(r.next())
}

// TestUnbornLog: a process that was killed while it created a log leaves an empty file, in a new frontier or in one
// that is in use. The frontier opens nevertheless.
func TestUnbornLog(t *testing.T) {
	r := oneQueue(t, 3, nil)
	_ = r.Close()
	for _, name := range []string{"00000.mem", "00001.mem", "00007.mem", "000000.vlog", "000001.vlog", "000002.vlog", "000009.vlog"} {
		path := filepath.Join(r.dir, name)
		if _, err := os.Stat(path); err == nil {
			continue // holds what the queue is made of
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.open()
	if s := r.status(); s.Waiting != 3 {
		t.Errorf("%d URLs wait, want 3", s.Waiting)
	}
	dir := t.TempDir()
	for _, name := range []string{"00001.mem", "000001.vlog"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	empty, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Error(err)
	}
}

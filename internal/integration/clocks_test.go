package integration

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/tree"
)

// clockOffset is the variable of the environment that says by how many seconds the clock of a program of wrongClock is fast.
const clockOffset = "MUNINN_TEST_CLOCK_OFFSET"

// wrongClock builds muninn-worker with what testdata/wrongclock adds to its package main: the whole process has a wrong clock then, as on a machine
// that has one. Nothing else in the worker knows of it. (libfaketime does not reach Go programs: they read the clock without libc. A change of Go's own
// package time has everything compiled once more, which takes minutes.) It works on linux/amd64 alone, and is skipped elsewhere.
func wrongClock(t testing.TB) string {
	t.Helper()
	if !canBeWrong {
		t.Skip("a wrong clock needs linux/amd64")
	}
	wrong.once.Do(func() { wrong.program, wrong.err = buildWrongClock(t) })
	if wrong.err != nil {
		t.Fatalf("build a worker with a wrong clock: %v", wrong.err)
	}
	return wrong.program
}

// canBeWrong: testdata/wrongclock has the assembly of this machine.
const canBeWrong = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

var wrong struct {
	once    sync.Once
	dir     string // removed by TestMain
	program string
	err     error
}

func buildWrongClock(t testing.TB) (string, error) {
	t.Helper()
	root := Root(t)
	dir, err := os.MkdirTemp("", "muninn-wrongclock-")
	if err != nil {
		return "", err
	}
	wrong.dir = dir
	added, main := filepath.Join(root, "internal", "integration", "testdata", "wrongclock"), filepath.Join(root, "worker", "muninn-worker")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(main, "clock.go"): filepath.Join(added, "clock.go.txt"), filepath.Join(main, "clock_amd64.s"): filepath.Join(added, "clock_amd64.s.txt"),
	}})
	if err != nil {
		return "", err
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "muninn-worker")
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./worker/muninn-worker")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// TestLongClocks: two workers whose clocks differ by four minutes, one two minutes fast and one two minutes slow, crawl the same hosts, and
// are killed and started again meanwhile; one crawl is spread over both, the other is bound to one. The web and Temporal have the right time. No request comes too early, and all pages are archived once.
func TestLongClocks(t *testing.T) {
	t.Parallel()
	plan := chaosPlan{
		time: 20 * time.Second, every: 4 * time.Second, hosts: 12, pages: 30, delay: 300 * time.Millisecond, shards: 1, workers: []string{"w1", "w2"},
		clocks: map[string]time.Duration{"w1": 2 * time.Minute, "w2": -2 * time.Minute},
		kinds:  []chaosKind{{kind: faultKill, weight: 1, least: 0, most: 4 * time.Second}},
		spread: 1,
	}
	world := Serve(t, tree.New(webworld.Options{Seed: 1, Trace: true, FirstIP: netip.MustParseAddr("127.105.0.1")}, plan.hosts, plan.pages))
	began, r := time.Now(), newChaosRig(t, plan, world)
	r.run(t, plan.faults(1), nil)
	for _, w := range r.workers {
		log, err := os.ReadFile(w.log)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(string(log), "time="), " ")
		first, err := time.Parse(time.RFC3339, text)
		if fast := first.Sub(began) - plan.clocks[w.name]; err != nil || fast.Abs() > time.Since(began) {
			t.Errorf("%s: the log of a worker whose clock is to be fast by %v begins at %v, the test began at %v: %v", w.name, plan.clocks[w.name], first, began, err)
		}
	}
}

package integration

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/tree"
)

// clockOffset is the variable of the environment that says by how many seconds the clock of a program of wrongClock is fast.
const clockOffset = "MUNINN_TEST_CLOCK_OFFSET"

// offsetSource is added to Go's package time, which cannot import what reads numbers.
const offsetSource = `package time

import "syscall"

var clockOffset = func() (n int64) {
	text, _ := syscall.Getenv("` + clockOffset + `")
	sign := int64(1)
	if len(text) > 0 && text[0] == '-' {
		sign, text = -1, text[1:]
	}
	for _, c := range text {
		n = n*10 + int64(c-'0')
	}
	return sign * n
}()
`

// wrongClock builds muninn-worker with another time.Now in Go's library: the whole process has a wrong clock then, as on a machine that has
// one. Nothing in the worker knows of it. (libfaketime does not reach Go programs: they read the clock without libc.)
func wrongClock(t testing.TB) string {
	t.Helper()
	wrong.once.Do(func() { wrong.program, wrong.err = buildWrongClock(Root(t)) })
	if wrong.err != nil {
		t.Fatalf("build a worker with a wrong clock: %v", wrong.err)
	}
	return wrong.program
}

var wrong struct {
	once    sync.Once
	program string
	err     error
}

var errNowChanged = errors.New("time.Now of this Go is another one: look at it and change the test")

func buildWrongClock(root string) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	library := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	source, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		return "", err
	}
	const from = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(source), from) {
		return "", errNowChanged
	}
	dir, err := os.MkdirTemp("", "muninn-clock-")
	if err != nil {
		return "", err
	}
	now, offset, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "offset.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(library, "time.go"): now, filepath.Join(library, "clock_offset.go"): offset,
	}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		now: strings.Replace(string(source), from, from+"\tsec += clockOffset\n", 1), offset: offsetSource, overlay: string(replace),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	program := filepath.Join(dir, "muninn-worker")
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./worker/muninn-worker")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return program, nil
}

// TestLongClocks: two workers whose clocks differ by four minutes, one two minutes fast and one two minutes slow, crawl the same hosts, and
// are killed and started again meanwhile. The web and Temporal have the right time. No request comes too early, and all pages are archived once.
func TestLongClocks(t *testing.T) {
	t.Parallel()
	plan := chaosPlan{
		time: 20 * time.Second, every: 4 * time.Second, hosts: 12, pages: 30, delay: 300 * time.Millisecond, shards: 1, workers: []string{"w1", "w2"},
		clocks: map[string]time.Duration{"w1": 2 * time.Minute, "w2": -2 * time.Minute},
		kinds:  []chaosKind{{kind: faultKill, weight: 1, least: 0, most: 4 * time.Second}},
	}
	world := Serve(t, tree.New(webworld.Options{Seed: 1, Trace: true, FirstIP: netip.MustParseAddr("127.105.0.1")}, plan.hosts, plan.pages))
	began, r := time.Now(), newChaosRig(t, plan, world)
	r.run(t, plan.faults(1))
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

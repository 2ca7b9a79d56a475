package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// dev runs `muninn dev` for a world until the test's end, and returns the address of its Temporal.
func dev(t *testing.T, world *webworld.World, dir string) (address string, interrupt func() error) {
	t.Helper()
	args := []string{
		"dev", "--json", "--port", "0", "--ui-port", "0", "--data", filepath.Join(dir, "data"), "--archive", filepath.Join(dir, "archive"),
		"--allow-network", "127.0.0.0/8", "--dns", "127.0.0.1:9", "--linger", "50ms", "--batch-time", "10s", "--retry-base", "200ms",
	}
	for host, addr := range world.Resolve() {
		args = append(args, "--resolve", host+"="+addr.String())
	}
	cmd := exec.Command(Program(t, "muninn"), args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(Temporal(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	said := &tail{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	var up struct{ Temporal, UI string }
	answer := make(chan error, 1)
	go func() { // Wait closes the pipe, so it comes after the reading
		answer <- json.NewDecoder(out).Decode(&up)
		ended <- cmd.Wait()
	}()
	select {
	case err = <-answer:
	case <-time.After(soon):
		err = errors.New("it says nothing")
	}
	if err != nil || up.Temporal == "" || !strings.HasPrefix(up.UI, "http://") {
		t.Fatalf("muninn dev: %v: %+v: %s", err, up, said)
	}
	return up.Temporal, func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		select {
		case err := <-ended:
			return err
		case <-time.After(soon):
			return fmt.Errorf("it has not ended: %s", said)
		}
	}
}

// exit is the exit code of a program that was run.
func exit(err error) int {
	var code *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return code.ExitCode()
	}
	return -1
}

// crawlStatus is what the tests read of `muninn status --json`.
type crawlStatus struct {
	State string `json:"state"`
	Crawl struct {
		Phase    string `json:"phase"`
		Paused   bool   `json:"paused"`
		Stopping bool   `json:"stopping"`
		Progress struct {
			Totals struct {
				Pages int `json:"pages"`
			} `json:"totals"`
		} `json:"progress"`
	} `json:"crawl"`
	Silent struct {
		Worker string    `json:"worker"`
		Queue  string    `json:"task_queue"`
		Seen   time.Time `json:"last_seen"`
	} `json:"silent_worker"`
	Result *struct {
		Reason string `json:"reason"`
		Totals struct {
			Pages int `json:"pages"`
		} `json:"totals"`
	} `json:"result"`
}

func TestCommands(t *testing.T) {
	t.Parallel()
	world := Serve(t, bench.New(webworld.Options{Seed: 6, Latency: 200 * time.Millisecond}, 2, 2000))
	dir := t.TempDir()
	address, interrupt := dev(t, world, dir)
	muninn := func(want int, args ...string) string {
		t.Helper()
		out, err := Run(Program(t, "muninn"), args...)
		if got := exit(err); got != want {
			t.Errorf("muninn %s: exit code %d, want %d: %v", strings.Join(args, " "), got, want, err)
		}
		return out + fmt.Sprint(err)
	}
	at := func(args ...string) []string { return append(args, "--temporal", address) }
	status := func() (s crawlStatus) {
		t.Helper()
		out, err := Run(Program(t, "muninn"), at("status", "verbs", "--wait", "30s", "--json")...)
		if err == nil {
			err = json.Unmarshal([]byte(out), &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	d := Definition("verbs", world)
	d.Order.PerQueue = 10
	d.Scope.Within = crawl.WithinHost
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	definition := write(t, "verbs.json", string(raw))
	bad := write(t, "bad.yaml", "name: verbs\nseeds: [raven]\n")

	muninn(1, at("status", "verbs")...)
	muninn(1, at("pause", "verbs")...)
	muninn(2, at("start", bad)...)
	muninn(2, at("start")...)
	muninn(2, at("start", definition, "--no-such-flag")...)
	muninn(2, "check", bad)
	muninn(0, "check", definition)
	muninn(1, "status", "verbs", "--temporal", "127.0.0.1:9")

	var started map[string]string
	if err := json.Unmarshal([]byte(strings.TrimSuffix(muninn(0, at("start", definition, "--json")...), "<nil>")), &started); err != nil || started["workflow"] != "crawl/verbs" {
		t.Errorf("start says %v, %v", started, err)
	}
	if text := muninn(1, at("start", definition)...); !strings.Contains(text, "running already") {
		t.Errorf("a second start says %s", text)
	}
	Until(t, soon, "pages are archived", func() string {
		if s := status(); s.Crawl.Progress.Totals.Pages < 10 {
			return fmt.Sprintf("the status is %+v", s)
		}
		return ""
	})

	muninn(0, at("pause", "verbs")...)
	var before int
	Until(t, soon, "the crawl comes to rest", func() string {
		s, n := status(), world.Stats().Requests
		out, err := Run(Temporal(t), "workflow", "count", "--query", batches("verbs", "Running"), "--address", address)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Crawl.Paused || !strings.Contains(out, "Total: 0") || n != before {
			before = n
			return fmt.Sprintf("paused %v, batches: %s, %d requests", s.Crawl.Paused, bytes.TrimSpace([]byte(out)), n)
		}
		return ""
	})
	if s := status(); s.State != "Running" || s.Result != nil || before >= 4000 {
		t.Errorf("paused after %d requests: %+v", before, s)
	}
	if text := muninn(0, at("status", "verbs", "--wait", "30s")...); !strings.Contains(text, "paused") {
		t.Errorf("the status for people does not say that the crawl is paused:\n%s", text)
	}

	muninn(0, at("resume", "verbs", "--json")...)
	Until(t, soon, "the crawl continues", func() string {
		if n := world.Stats().Requests; n < before+20 {
			return fmt.Sprintf("%d requests, %d before", n, before)
		}
		return ""
	})
	muninn(0, at("stop", "verbs")...)
	var last crawlStatus
	Until(t, soon, "the crawl stops", func() string {
		if last = status(); last.State != "Completed" {
			return fmt.Sprintf("the status is %+v", last)
		}
		return ""
	})
	if last.Result == nil || last.Result.Reason != "stopped" || last.Result.Totals.Pages >= 4000 {
		t.Errorf("ended with %+v", last.Result)
	}
	muninn(1, at("stop", "verbs")...)
	if err := interrupt(); err != nil {
		t.Errorf("muninn dev ends with %v after an interrupt", err)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	n := 0
	for url, times := range report.Pages {
		if n++; times > 1 {
			t.Errorf("%s is archived %d times", url, times)
		}
	}
	if n < last.Result.Totals.Pages {
		t.Errorf("%d pages are archived, the crawl counted %d", n, last.Result.Totals.Pages)
	}
}

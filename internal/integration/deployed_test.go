package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// TestDeployed crawls as deploy/ says: a Temporal server on PostgreSQL with deploy/temporal's configuration, an S3 server, and a worker
// by deploy/worker.yaml with other addresses; the worker is killed in the middle. Afterwards each metric that the rules
// of Prometheus and the dashboard ask for must be one that the worker serves. `make test-deploy` runs it.
func TestDeployed(t *testing.T) {
	temporal, s3 := os.Getenv("MUNINN_TEST_TEMPORAL"), archive.S3{
		Endpoint: os.Getenv("MUNINN_TEST_S3"), AccessKey: os.Getenv("MUNINN_TEST_S3_ACCESS_KEY"), SecretKey: os.Getenv("MUNINN_TEST_S3_SECRET_KEY"), Region: "us-east-1",
	}
	if temporal == "" || s3.Endpoint == "" {
		t.Skip("MUNINN_TEST_TEMPORAL or MUNINN_TEST_S3 is not set: `make test-deploy` sets them")
	}
	world := demoWorld(t, "127.96.0.1")
	dir, listen := t.TempDir(), "127.96.255.1:9464"
	where := fmt.Sprintf("s3://%s/deployed/%d", os.Getenv("MUNINN_TEST_S3_BUCKET"), time.Now().UnixNano())
	conf := deployedConfig(t, dir, map[string]any{
		"temporal": temporal, "data": filepath.Join(dir, "data"), "archive": where, "s3-endpoint": s3.Endpoint, "listen": listen,
		"kb": ignorance(t), "dns": "127.0.0.1:9", "allow-network": []string{"127.0.0.0/8"}, "resolve": hosts(world),
		"retry-base": "1s", "robots-retry": "1s", "host-failures": 2, "batch-time": "10s",
	})
	start := func() *exec.Cmd {
		cmd := exec.Command(Program(t, "muninn-worker"), "--config", conf)
		cmd.Env = append(os.Environ(), "MUNINN_S3_ACCESS_KEY="+s3.AccessKey, "MUNINN_S3_SECRET_KEY="+s3.SecretKey)
		out := &tail{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("the end of the log of the worker:\n%s", out)
			}
		})
		return cmd
	}
	worker := start()
	Until(t, soon, "the worker has started", func() string { return missing(len(served(t, listen)) > 0, "it serves no metrics") })
	client := Dial(t, temporal)
	d := demoDefinition("deployed", world)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "deployed.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(Program(t, "muninn"), "start", file, "--temporal", temporal); err != nil {
		t.Fatal(err)
	}
	Until(t, soon, "pages are archived", func() string { return missing(served(t, listen)["muninn_archived_pages_total"], "none is") })
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	start()
	asked := metricsAsked(t, "deploy/prometheus/rules.yaml", "deploy/grafana/muninn.json")
	seen := map[string]bool{} // metrics that the worker has served at some time of the crawl
	Until(t, CrawlTime, "the crawl ends", func() string {
		maps.Copy(seen, served(t, listen))
		desc, err := client.DescribeWorkflowExecution(t.Context(), "crawl/deployed", "")
		return missing(err == nil && desc.GetWorkflowExecutionInfo().GetCloseTime() != nil, "it runs")
	})
	result := Result(t, client, d.Name, CrawlTime)

	store, err := archive.Open(t.Context(), where, s3)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	s3Download(t, store, copied)
	report := sitesOnce(t, copied, world)
	polite(t, world.Stats(), killDelay)
	t.Logf("%d pages in %d segments; the result: %+v", len(report.Pages), report.Segments, result.Totals)
	for _, name := range asked {
		if !seen[name] && !rare[name] {
			t.Errorf("rules or dashboard ask for %s, which the worker does not serve", name)
		}
	}
}

// rare are metrics that appear with the first fault that they count, or with the first name that DNS is asked for.
var rare = map[string]bool{
	"muninn_dns_seconds_count":   true,
	"muninn_step_failures_total": true, "muninn_step_retries_total": true, "muninn_store_errors_total": true, "temporal_request_failure_total": true,
}

func missing(done bool, what string) string {
	if done {
		return ""
	}
	return what
}

func hosts(world *webworld.World) map[string]string {
	list := map[string]string{}
	for host, addr := range world.Resolve() {
		list[host] = addr.String()
	}
	return list
}

// deployedConfig is deploy/worker.yaml with other values.
func deployedConfig(t *testing.T, dir string, other map[string]any) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(Root(t), "deploy/worker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{}
	if err := yaml.Unmarshal(raw, &settings); err != nil {
		t.Fatal(err)
	}
	maps.Copy(settings, other)
	if raw, err = yaml.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "worker.yaml")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// served are the metrics that a worker serves now and that are not 0, or are no counters; none while it does not answer.
func served(t *testing.T, listen string) map[string]bool {
	list := map[string]bool{}
	resp, err := http.Get("http://" + listen + "/metrics")
	if err != nil {
		return list
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(io.LimitReader(resp.Body, 16<<20)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		if i := strings.LastIndexByte(value, ' '); i >= 0 {
			value = value[i+1:]
		}
		if !strings.HasPrefix(name, "#") && !(strings.HasSuffix(name, "_total") && value == "0") {
			list[name] = true
		}
	}
	return list
}

var metric = regexp.MustCompile(`\b(?:muninn|temporal|process|go)_[a-z_]+\b`)

// metricsAsked are the metrics that files of deploy/ ask for.
func metricsAsked(t *testing.T, files ...string) (list []string) {
	t.Helper()
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(Root(t), file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if !strings.Contains(line, "summary") {
				list = append(list, metric.FindAllString(line, -1)...)
			}
		}
	}
	if slices.Sort(list); len(list) < 20 {
		t.Fatalf("only %d metrics are asked for: %v", len(list), list)
	}
	return slices.Compact(list)
}

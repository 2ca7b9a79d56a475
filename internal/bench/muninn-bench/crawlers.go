package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/localstack"
)

// crawl runs a Temporal server, a worker and, if asked for, an S3 server as processes of their own,
// and one crawl of the web.
func crawl(ctx context.Context, o options, w *web) (measured, error) {
	m := measured{name: "muninn", cpu: map[string]time.Duration{}, rss: map[string]int64{}}
	data := filepath.Join(o.dir, "muninn")
	store := filepath.Join(data, "archive")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return m, err
	}
	port, ui := freePort(), freePort()
	address, listen := fmt.Sprintf("127.0.0.1:%d", port), cmp.Or(o.listen, fmt.Sprintf("127.0.0.1:%d", freePort()))
	server, err := launch(ctx, filepath.Join(data, "temporal.log"), nil, temporalBinary(o.bin),
		localstack.Arguments(localstack.Options{Data: data, Port: port, UIPort: ui})...)
	if err != nil {
		return m, err
	}
	defer server.stop()
	if err := answers(ctx, address); err != nil {
		return m, err
	}
	env := []string{"MUNINN_S3_ACCESS_KEY=bench", "MUNINN_S3_SECRET_KEY=bench-secret"}
	args := []string{"--temporal", address, "--name", "bench", "--data", data, "--archive", store, "--allow-network", "127.0.0.0/8",
		"--dns", "127.0.0.1:9", "--listen", listen, "--retry-base", "1s", "--host-failures", "1"}
	args = append(args, strings.Fields(o.worker)...)
	for host, ip := range w.Resolve {
		args = append(args, "--resolve", host+"="+ip)
	}
	var s3 *process
	if o.store == "s3" {
		var s3Args []string
		if s3, s3Args, err = serveS3(ctx, o, store, env); err != nil {
			return m, err
		}
		defer s3.stop()
		args = append(args, s3Args...)
	}
	worker, err := launch(ctx, filepath.Join(data, "worker.log"), env, filepath.Join(o.bin, "muninn-worker"), args...)
	if err != nil {
		return m, err
	}
	defer worker.stop()
	if err := answers(ctx, listen); err != nil {
		return m, err
	}
	m.idle = idle(server)
	m.start = server.used()
	stopProfiles := func() []string { return nil }
	if o.profile {
		stopProfiles = profiles(ctx, data, listen)
	}
	begun := time.Now()
	if err := command(ctx, filepath.Join(o.bin, "muninn"), "start", "--temporal", address, definition(o, w)); err != nil {
		return m, err
	}
	if err := command(ctx, temporalBinary(o.bin), "workflow", "result", "--address", address, "--workflow-id", "crawl/bench"); err != nil {
		return m, err
	}
	m.wall = time.Since(begun)
	files := stopProfiles()
	if m.calls, err = calls(listen); err != nil {
		return m, err
	}
	worker.stop()
	m.cpu["temporal server"] = server.used() // before its histories are read
	if m.events, err = countEvents(ctx, address); err != nil {
		return m, err
	}
	server.stop()
	if len(files) > 0 {
		if m.shares, err = shares(ctx, files); err != nil {
			return m, err
		}
	}
	if s3 != nil {
		s3.stop()
		store = filepath.Join(store, "bench-bucket")
	}
	if m.pages, err = archived(store); err != nil {
		return m, err
	}
	for name, p := range map[string]*process{"worker": worker, "temporal server": server, "s3 server": s3} {
		if p != nil {
			m.rss[name] = p.rss
			if m.cpu[name] == 0 {
				m.cpu[name] = p.cpu
			}
		}
	}
	m.order = []string{"worker", "temporal server"}
	if s3 != nil {
		m.order = append(m.order, "s3 server")
	}
	return m, nil
}

func definition(o options, w *web) string {
	path := filepath.Join(o.dir, "bench.json")
	raw, err := json.Marshal(map[string]any{
		"name": "bench", "seeds": w.Seeds, "topic": map[string]any{"keywords": w.Topic},
		"scope": map[string]any{"within": "host"}, "reference": map[string]any{"pages": 0}, "order": map[string]any{"per_queue": 50},
		"budget":     map[string]any{"pages": 10_000_000},
		"politeness": map[string]any{"min_delay": o.pause.String(), "max_delay": o.pause.String(), "factor": 0},
	})
	if err == nil {
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		panic(err)
	}
	return path
}

func serveS3(ctx context.Context, o options, root string, env []string) (*process, []string, error) {
	if err := os.MkdirAll(filepath.Join(root, "bench-bucket"), 0o755); err != nil {
		return nil, nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePort())
	p, err := launch(ctx, filepath.Join(o.dir, "s3.log"), nil, filepath.Join(o.bin, "versitygw"),
		"--access", "bench", "--secret", "bench-secret", "--port", address, "--region", "us-east-1", "posix", root)
	if err != nil {
		return nil, nil, err
	}
	return p, []string{"--archive", "s3://bench-bucket/", "--s3-endpoint", "http://" + address}, answers(ctx, address)
}

// wget runs GNU wget with WARC on the same web, through a proxy, because only the proxy can resolve the
// web's names.
func wget(ctx context.Context, o options, w *web) (measured, error) {
	m := measured{name: "wget", cpu: map[string]time.Duration{}, rss: map[string]int64{}, order: []string{"wget"}}
	dir := filepath.Join(o.dir, "wget")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m, err
	}
	hosts := make([]string, 0, len(w.Resolve))
	for host := range w.Resolve {
		hosts = append(hosts, host)
	}
	address, stop, err := proxy(w)
	if err != nil {
		return m, err
	}
	defer stop()
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "wget", "--quiet", "--recursive", "--level=inf", "--span-hosts", "--domains="+strings.Join(hosts, ","),
		"--warc-file="+filepath.Join(dir, "bench"), "--warc-cdx", "--delete-after",
		"--tries=1", "-e", "use_proxy=yes", "-e", "http_proxy="+address, "http://"+startHost+"/")
	cmd.Dir = dir
	p := &process{cmd: cmd}
	if err := cmd.Start(); err != nil {
		return m, fmt.Errorf("GNU wget is not installed: %w", err)
	}
	p.wait() // it exits 8 when a server answered an error, which some pages do
	m.wall, m.cpu["wget"], m.rss["wget"] = time.Since(begun), p.cpu, p.rss
	pages, err := wgetPages(filepath.Join(dir, "bench.cdx"))
	m.pages = pages
	return m, err
}

// wgetPages counts the distinct URLs with a successful response.
func wgetPages(cdx string) (int, error) {
	raw, err := os.ReadFile(cdx)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line)
		if len(f) > 4 && !strings.HasSuffix(f[0], "/robots.txt") && f[0] != "CDX" {
			seen[f[0]] = true
		}
	}
	return len(seen), nil
}

func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func answers(ctx context.Context, address string) error {
	for begun := time.Now(); time.Since(begun) < startTimeout; time.Sleep(50 * time.Millisecond) {
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("nothing answers at %s", address)
}

func temporalBinary(bin string) string {
	if path, err := exec.LookPath("temporal"); err == nil {
		return path
	}
	return filepath.Join(bin, "temporal")
}

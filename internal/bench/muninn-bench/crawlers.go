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
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/localstack"
)

// processes are what a crawl runs on.
type processes struct {
	server, s3 *process // s3 is nil if the archive is a folder
	workers    []*workerProcess
	address    string // of the server
	store      string // the folder in which the archive is
}

// workerProcess is a worker, and the address at which it serves its metrics.
type workerProcess struct {
	*process
	name, listen string
	before       time.Duration // what it had used when the crawl began
}

// crawl runs a Temporal server, workers and, if asked for, an S3 server as processes of their own, and one crawl of the web. The crawl is
// bound to one worker if the number of workers is 0, and else it is spread over so many.
func crawl(ctx context.Context, o options, w *web, workers int) (measured, error) {
	m := measured{name: "muninn", cpu: map[string]time.Duration{}, rss: map[string]int64{}}
	data := filepath.Join(o.dir, "muninn")
	if o.workers != "" { // several crawls follow each other
		data = filepath.Join(o.dir, fmt.Sprint("muninn-", workers))
		defer func() { _ = os.RemoveAll(filepath.Join(data, "archive")) }()
	}
	p, err := launchAll(ctx, o, w, data, max(workers, 1))
	defer p.stop()
	if err != nil {
		return m, err
	}
	if err := p.awaitRing(ctx); err != nil {
		return m, err
	}
	m.idle = idle(p.server)
	m.start = p.server.used()
	stopProfiles := func() []string { return nil }
	if o.profile {
		stopProfiles = p.profiles(ctx, data)
	}
	for _, one := range p.workers {
		one.before = one.used()
	}
	begun := time.Now()
	if err := command(ctx, filepath.Join(o.bin, "muninn"), "start", "--temporal", p.address, definition(o, w, workers > 0)); err != nil {
		return m, err
	}
	if err := command(ctx, temporalBinary(o.bin), "workflow", "result", "--address", p.address, "--workflow-id", "crawl/bench"); err != nil {
		return m, err
	}
	m.wall = time.Since(begun)
	for _, one := range p.workers {
		m.crawling += one.used() - one.before
	}
	m.serving = p.server.used() - m.start
	return m, p.measure(ctx, &m, stopProfiles())
}

// launchAll starts the processes of a crawl. It returns those that it has started, also with an error.
func launchAll(ctx context.Context, o options, w *web, data string, workers int) (p processes, err error) {
	p.store = filepath.Join(data, "archive")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return p, err
	}
	port, ui := freePort(), freePort()
	p.address = fmt.Sprintf("127.0.0.1:%d", port)
	p.server, err = launch(ctx, filepath.Join(data, "temporal.log"), nil, temporalBinary(o.bin),
		localstack.Arguments(localstack.Options{Data: data, Port: port, UIPort: ui})...)
	if err != nil {
		return p, err
	}
	if err := answers(ctx, p.address); err != nil {
		return p, err
	}
	env := []string{"MUNINN_S3_ACCESS_KEY=bench", "MUNINN_S3_SECRET_KEY=bench-secret"}
	args := []string{"--temporal", p.address, "--archive", p.store, "--allow-network", "127.0.0.0/8",
		"--dns", "127.0.0.1:9", "--retry-base", "1s", "--host-failures", "1"}
	args = append(args, strings.Fields(o.worker)...)
	for host, ip := range w.Resolve {
		args = append(args, "--resolve", host+"="+ip)
	}
	if o.store == "s3" {
		var s3Args []string
		if p.s3, s3Args, err = serveS3(ctx, o, p.store, env); err != nil {
			return p, err
		}
		args, p.store = append(args, s3Args...), filepath.Join(p.store, "bench-bucket")
	}
	for i := range workers {
		one := &workerProcess{name: "worker", listen: cmp.Or(o.listen, fmt.Sprintf("127.0.0.1:%d", freePort()))}
		if workers > 1 {
			one.name, one.listen = fmt.Sprint("worker ", i+1), fmt.Sprintf("127.0.0.1:%d", freePort())
		}
		name := fmt.Sprint("bench", i+1)
		own := append(slices.Clip(args), "--name", name, "--data", filepath.Join(data, name), "--listen", one.listen)
		if one.process, err = launch(ctx, filepath.Join(data, name+".log"), env, filepath.Join(o.bin, "muninn-worker"), own...); err != nil {
			return p, err
		}
		p.workers = append(p.workers, one)
	}
	for _, one := range p.workers {
		if err := answers(ctx, one.listen); err != nil {
			return p, err
		}
	}
	return p, nil
}

// all names the processes that were started, in the order in which they are shown.
func (p processes) all() (names []string, list map[string]*process) {
	list = map[string]*process{}
	add := func(name string, one *process) {
		if one != nil {
			names, list[name] = append(names, name), one
		}
	}
	for _, one := range p.workers {
		add(one.name, one.process)
	}
	add("temporal server", p.server)
	add("s3 server", p.s3)
	return names, list
}

// stop stops the workers first: they end their batches by Temporal and the archive.
func (p processes) stop() {
	names, list := p.all()
	for _, name := range names {
		list[name].stop()
	}
}

// measure stops the processes after a crawl, each when what it knows has been read, and takes what they have used.
func (p processes) measure(ctx context.Context, m *measured, profiles []string) (err error) {
	m.calls = map[string]int{}
	for _, one := range p.workers {
		made, err := calls(one.listen)
		if err != nil {
			return err
		}
		for operation, n := range made {
			m.calls[operation] += n
		}
	}
	for _, one := range p.workers {
		one.stop()
	}
	m.cpu["temporal server"] = p.server.used() // before its histories are read
	if m.events, err = countEvents(ctx, p.address); err != nil {
		return err
	}
	p.server.stop()
	if len(profiles) > 0 {
		if m.shares, err = shares(ctx, profiles); err != nil {
			return err
		}
	}
	p.stop()
	if m.pages, err = archived(p.store); err != nil {
		return err
	}
	order, list := p.all()
	for name, one := range list {
		m.rss[name] = one.rss
		if m.cpu[name] == 0 {
			m.cpu[name] = one.cpu
		}
	}
	m.order = order
	return nil
}

func definition(o options, w *web, spread bool) string {
	path := filepath.Join(o.dir, "bench.json")
	raw, err := json.Marshal(map[string]any{
		"name": "bench", "seeds": w.Seeds, "topic": map[string]any{"keywords": w.Topic},
		"scope": map[string]any{"within": "host"}, "reference": map[string]any{"pages": 0}, "order": map[string]any{"per_queue": 50},
		"budget":     map[string]any{"pages": 10_000_000},
		"spread":     spread,
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

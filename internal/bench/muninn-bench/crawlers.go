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

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/internal/localstack"
)

// processes are what a crawl runs on.
type processes struct {
	server, s3 *process // s3 is nil if the archive is a folder
	workers    []*workerProcess
	address    string // of the server
	store      string // the folder in which the archive is
	rings      []ring
}

// workerProcess is a worker, and the address at which it serves its metrics.
type workerProcess struct {
	*process
	name, listen string
	before       time.Duration // what it had used when the crawl began
}

// ring is a ring of workers in a namespace of Temporal, with its archive and the one crawl that it carries.
type ring struct {
	namespace, crawl string
	folder           string // of its archive, below that of all
	workers          int
	spread           bool // the crawl is spread over the workers, and not bound to one
	seeds            []string
}

// oneRing is a ring that crawls the whole web. The crawl is bound to one worker if the number of workers is 0, and else it is spread over so many.
func oneRing(w *web, workers int) []ring {
	return []ring{{namespace: client.DefaultNamespace, crawl: "bench", workers: max(workers, 1), spread: workers > 0, seeds: w.Seeds}}
}

// rings are n rings of one worker each, which have nothing to do with each other. Each crawls its part of the hosts. They share the machine, the Temporal server and the S3 server alone.
func rings(w *web, n int) []ring {
	list := make([]ring, n)
	for i := range list {
		name := fmt.Sprint("bench", i+1)
		list[i] = ring{namespace: name, crawl: name, folder: name, workers: 1, spread: true}
	}
	for i, seed := range w.Seeds {
		list[i%n].seeds = append(list[i%n].seeds, seed)
	}
	return list
}

// crawl runs a Temporal server, workers and, if asked for, an S3 server as processes of their own, and one crawl of the web by each ring.
func crawl(ctx context.Context, o options, w *web, name string, rings []ring) (measured, error) {
	m := measured{name: name, cpu: map[string]time.Duration{}, rss: map[string]int64{}}
	data := filepath.Join(o.dir, strings.ReplaceAll(name, " ", "-"))
	if o.workers != "" { // several crawls follow each other
		defer func() { _ = os.RemoveAll(filepath.Join(data, "archive")) }()
	}
	p, err := launchAll(ctx, o, w, data, rings)
	defer p.stop()
	if err != nil {
		return m, err
	}
	if err := p.awaitRings(ctx); err != nil {
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
	for _, one := range rings {
		if err := p.start(ctx, o, w, one); err != nil {
			return m, err
		}
	}
	for _, one := range rings {
		if err := p.await(ctx, o, one); err != nil {
			return m, err
		}
	}
	m.wall = time.Since(begun)
	for _, one := range p.workers {
		m.crawling += one.used() - one.before
	}
	m.serving = p.server.used() - m.start
	return m, p.measure(ctx, &m, stopProfiles())
}

// start starts the crawl of a ring.
func (p processes) start(ctx context.Context, o options, w *web, one ring) error {
	return command(ctx, filepath.Join(o.bin, "muninn"), "start", "--temporal", p.address, "--namespace", one.namespace, definition(o, w, one))
}

// await waits for the end of the crawl of a ring.
func (p processes) await(ctx context.Context, o options, one ring) error {
	return command(ctx, temporalBinary(o.bin), "workflow", "result", "--address", p.address, "--namespace", one.namespace, "--workflow-id", "crawl/"+one.crawl)
}

// launchAll starts the processes of a crawl. It returns those that it has started, also with an error.
func launchAll(ctx context.Context, o options, w *web, data string, rings []ring) (p processes, err error) {
	p.store, p.rings = filepath.Join(data, "archive"), rings
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
	for _, one := range rings {
		if one.namespace == client.DefaultNamespace {
			continue
		}
		if err := command(ctx, temporalBinary(o.bin), "operator", "namespace", "create", "--address", p.address, "--namespace", one.namespace); err != nil {
			return p, err
		}
	}
	env := []string{"MUNINN_S3_ACCESS_KEY=bench", "MUNINN_S3_SECRET_KEY=bench-secret"}
	archive, args := p.store, []string{"--temporal", p.address, "--allow-network", "127.0.0.0/8",
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
		archive, args, p.store = "s3://bench-bucket/", append(args, s3Args...), filepath.Join(p.store, "bench-bucket")
	}
	for _, ring := range rings {
		for range ring.workers {
			n := len(p.workers) + 1
			one := &workerProcess{name: fmt.Sprint("worker ", n), listen: fmt.Sprintf("127.0.0.1:%d", freePort())}
			if len(rings) == 1 && ring.workers == 1 {
				one.name, one.listen = "worker", cmp.Or(o.listen, one.listen)
			}
			name := fmt.Sprint("bench", n)
			own := append(slices.Clip(args), "--namespace", ring.namespace, "--archive", path(archive, ring.folder), "--name", name,
				"--data", filepath.Join(data, name), "--listen", one.listen)
			if one.process, err = launch(ctx, filepath.Join(data, name+".log"), env, filepath.Join(o.bin, "muninn-worker"), own...); err != nil {
				return p, err
			}
			p.workers = append(p.workers, one)
		}
	}
	for _, one := range p.workers {
		if err := answers(ctx, one.listen); err != nil {
			return p, err
		}
	}
	return p, nil
}

// path is a folder below that of the archive, which may be one in S3.
func path(archive, folder string) string {
	if folder == "" {
		return archive
	}
	return strings.TrimSuffix(archive, "/") + "/" + folder
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
	if m.events, err = countEvents(ctx, p.address, p.rings); err != nil {
		return err
	}
	p.server.stop()
	if len(profiles) > 0 {
		if m.shares, err = shares(ctx, profiles); err != nil {
			return err
		}
	}
	p.stop()
	for _, one := range p.rings {
		pages, err := archived(filepath.Join(p.store, one.folder))
		if err != nil {
			return err
		}
		m.pages += pages
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

func definition(o options, w *web, one ring) string {
	path := filepath.Join(o.dir, one.crawl+".json")
	raw, err := json.Marshal(map[string]any{
		"name": one.crawl, "seeds": one.seeds, "topic": map[string]any{"keywords": w.Topic},
		"scope": map[string]any{"within": "host"}, "reference": map[string]any{"pages": 0}, "order": map[string]any{"per_queue": 50},
		"budget":     map[string]any{"pages": 10_000_000},
		"spread":     one.spread,
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
	return p, []string{"--s3-endpoint", "http://" + address}, answers(ctx, address)
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

package integration

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// killDelay is the least pause between two requests to an address of the webs that kills run on.
const killDelay = 100 * time.Millisecond

// site is a command line that crawls a web. The process of the test serves the web, which therefore survives the crawler.
type site struct {
	t     testing.TB
	world *webworld.World
	dir   string
	args  []string
	path  string // of the environment
}

// demoWorld serves the demo web on addresses of its own.
func demoWorld(t testing.TB, first string) *webworld.World {
	return Serve(t, webworld.NewDemo(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr(first)}))
}

// forumHost is left out where pages are counted: its session IDs give each page many names.
const forumHost = "forum.example.org"

// demoDefinition crawls everything of the demo web but the forum and the inside of the trap.
func demoDefinition(name string, world *webworld.World) crawl.Definition {
	d := Definition(name, world)
	d.Scope.Within, d.Scope.Exclude = "", []string{`re:^http://calendar\.example:\d+/.`}
	for _, s := range world.Sites() {
		if s.Host != forumHost {
			d.Scope.Hosts = append(d.Scope.Hosts, s.Host)
		}
	}
	d.Order.PerQueue = 12
	d.Politeness.MinDelay, d.Politeness.MaxDelay, d.Politeness.Factor = crawl.Duration(killDelay), crawl.Duration(5*time.Second), 1
	return d
}

// newSite prepares `muninn run` of a definition; flags come after those that let it reach the web.
func newSite(t testing.TB, world *webworld.World, d crawl.Definition, flags ...string) *site {
	t.Helper()
	s := &site{t: t, world: world, dir: t.TempDir()}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.dir, d.Name+".json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{
		"run", file, "--data", filepath.Join(s.dir, "data"), "--archive", s.archive(),
		"--allow-network", "127.0.0.0/8", "--dns", "127.0.0.1:9",
		"--retry-base", "1s", "--robots-retry", "1s", "--host-failures", "2", "--batch-time", "10s",
	}
	for host, addr := range world.Resolve() {
		s.args = append(s.args, "--resolve", host+"="+addr.String())
	}
	s.args = append(s.args, flags...)
	s.path = filepath.Dir(Temporal(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	return s
}

// ignorance makes a knowledge base without applications, so that the helper drops no link and a crawl
// finds all pages of a web.
func ignorance(t testing.TB) string {
	t.Helper()
	knowledge := t.TempDir()
	application := `<application xmlns="https://muninn-archive.github.io/ns/kb/1" name="none" category="generic">
<detect generator="nothing has this generator"/>
<level name="page"><match url="/"/></level>
</application>`
	if err := os.WriteFile(filepath.Join(knowledge, "none.xml"), []byte(application), 0o600); err != nil {
		t.Fatal(err)
	}
	return knowledge
}

func (s *site) archive() string { return filepath.Join(s.dir, "archive") }

// program is a running muninn, in a process group of its own.
type program struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  *tail
	done chan struct{} // closed when it has ended
}

func (s *site) start() *program {
	s.t.Helper()
	p := &program{t: s.t, cmd: exec.Command(Program(s.t, "muninn"), s.args...), out: &tail{}, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = append(os.Environ(), "PATH="+s.path)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = 10 * time.Second // the dev server may hold the pipe a moment longer
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	s.t.Cleanup(func() {
		if !p.ended() {
			p.kill()
		}
	})
	return p
}

func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process group with SIGKILL; the dev server dies with its parent.
func (p *program) kill() {
	p.t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		p.t.Errorf("kill: %v", err)
	}
	<-p.done
}

func (p *program) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("signal %v: %v", sig, err)
	}
}

// end waits for the program's end and returns its exit code.
func (p *program) end(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.signal(syscall.SIGQUIT) // the stacks show what it waits for
		p.kill()
		p.t.Fatalf("muninn has not ended within %v; its last words:\n%s", limit, p.out)
	}
	return p.cmd.ProcessState.ExitCode()
}

// truth lists the pages that a crawl by demoDefinition archives. It leaves out two pages that a crawler need
// not fetch: one is linked by rel=EditURI, one by a fragment of a page with another base.
func truth(world *webworld.World) map[string]webworld.Page {
	pages := map[string]webworld.Page{}
	for _, p := range world.Pages() {
		over := strings.HasSuffix(p.URL, "/xmlrpc.php?rsd") || p.Host == "runes.test" && strings.HasSuffix(p.URL, "/elements/")
		if p.Allowed && p.Status != 0 && p.Host != forumHost && !over {
			pages[p.URL] = p
		}
	}
	return pages
}

// polite checks the requests that the servers saw against the rules of politeness.
func polite(t testing.TB, s webworld.Stats, least time.Duration) {
	t.Helper()
	if len(s.Disallowed) > 0 {
		t.Errorf("paths were asked for that robots.txt disallows: %v", s.Disallowed)
	}
	for host, url := range s.RobotsLate {
		if !isRobots(url) { // to a host without a robots.txt, asking for it is like asking for a page
			t.Errorf("%s was asked for before the robots.txt of %s", url, host)
		}
	}
	if len(s.Strangers) > 0 {
		t.Errorf("hosts were asked for at addresses that are not theirs: %v", s.Strangers)
	}
	if s.PeakConnections > 1 || s.PeakRequests > 1 {
		for ip, traffic := range s.PerIP {
			if traffic.PeakConnections > 1 || traffic.PeakRequests > 1 {
				t.Errorf("%s saw %d connections and %d requests at once", ip, traffic.PeakConnections, traffic.PeakRequests)
			}
		}
	}
	if s.MinGap != nil && s.MinGap.Pause < least {
		t.Errorf("the shortest pause was %v, on %s from %s to %s; want %v at least", s.MinGap.Pause, s.MinGap.IP, s.MinGap.From, s.MinGap.To, least)
	}
}

// repeats counts the requests beyond the first of each page.
func repeats(s webworld.Stats) (n int) {
	for url, times := range s.URLs {
		if !isRobots(url) {
			n += times - 1 + s.CutURLs[url]
		}
	}
	return n
}

func isRobots(url string) bool { return strings.HasSuffix(url, "/robots.txt") }

// lines indents the output of a program for a test's log.
func lines(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

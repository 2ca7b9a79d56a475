// Package localstack runs a Temporal dev server as a child process, with the settings that were
// measured to suit a crawl on one machine.
package localstack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// Options make a server.
type Options struct {
	Binary string            // the temporal CLI; empty: looked for beside this program and on PATH
	Data   string            // folder of its database and log
	Port   int               // 0: a free one
	UIPort int               // 0: a free one
	Attrs  map[string]string // search attributes by name and type
}

// startTimeout is how long the server may take until it answers.
const startTimeout = 2 * time.Minute

// stopTimeout is how long it may take to end before it is killed.
const stopTimeout = 10 * time.Second

// Server is a running dev server.
type Server struct {
	Address string // host:port of the frontend
	UI      string // URL of the web UI
	cmd     *exec.Cmd
	log     *os.File
	exited  chan struct{}
	err     error
	once    sync.Once
}

// ErrNoBinary says that there is no temporal CLI to be found.
var ErrNoBinary = errors.New("the temporal CLI is not to be found: `make temporal` builds bin/temporal, or install it on PATH, or use --temporal HOST:PORT")

// Find looks for the temporal CLI: on PATH, then beside this program.
func Find() (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return path, nil
	}
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), "temporal")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBinary
}

// Start starts the server and waits until it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Binary == "" {
		found, err := Find()
		if err != nil {
			return nil, err
		}
		o.Binary = found
	}
	if err := os.MkdirAll(o.Data, 0o755); err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	for try := 1; ; try++ {
		s, err := launch(ctx, o)
		if err == nil || try == starts || !errors.Is(err, errEnded) {
			return s, err
		}
	}
}

// starts is how often the server is started that ends at once: it takes some free ports for itself, which
// another program may take first.
const starts = 3

var errEnded = errors.New("it ended")

func launch(ctx context.Context, o Options) (*Server, error) {
	release, err := choose(&o.Port, &o.UIPort)
	defer release()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(o.Data, "temporal.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	s := &Server{
		Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)), UI: fmt.Sprintf("http://127.0.0.1:%d", o.UIPort),
		log: log, exited: make(chan struct{}),
	}
	s.cmd = exec.Command(o.Binary, Arguments(o)...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	detach(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start Temporal: %w", err), log.Close())
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
	}()
	if err := s.ready(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	return s, nil
}

// Arguments start the server with the measured settings: a write-ahead journal, task processors that are not held back, and
// activities that the worker gets with the answer to the workflow task that schedules them.
func Arguments(o Options) []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(o.Port), "--ui-port", strconv.Itoa(o.UIPort),
		"--db-filename", filepath.Join(o.Data, "temporal.db"), "--log-level", "warn",
		"--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal",
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000",
		"--dynamic-config-value", "history.timerProcessorMaxPollRPS=1000",
		"--dynamic-config-value", "system.enableEagerWorkflowStart=true",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "frontend.enableUpdateWorkflowExecution=true",
	}
	for name, kind := range o.Attrs {
		args = append(args, "--search-attribute", name+"="+kind)
	}
	return args
}

// chosen are the ports of the servers of this process that start: chosen, and perhaps not listened at yet.
var chosen = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// choose takes the ports that are asked for, or free ones, until release is called. Until a server listens at its port the system gives that to others: of two that start at a time
// with one port, one would end, and both would be taken for ready by the answers of the other.
func choose(ports ...*int) (release func(), err error) {
	chosen.Lock()
	defer chosen.Unlock()
	var taken []int
	release = func() {
		chosen.Lock()
		defer chosen.Unlock()
		for _, port := range taken {
			delete(chosen.ports, port)
		}
	}
	for _, port := range ports {
		asked := *port
		for again := true; again; again = chosen.ports[*port] && asked == 0 {
			l, errListen := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(asked)))
			if errListen != nil {
				return release, fmt.Errorf("start Temporal: port %d is in use: choose another, or 0 for a free one: %w", asked, errListen)
			}
			defer func() { err = errors.Join(err, l.Close()) }() // not before all are chosen, so that none is chosen twice
			*port = l.Addr().(*net.TCPAddr).Port
		}
		chosen.ports[*port] = true
		taken = append(taken, *port)
	}
	return release, nil
}

// ready waits until the server answers.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c, err := client.DialContext(ctx, client.Options{HostPort: s.Address, Logger: silent{}})
		if err == nil {
			_, err = c.CheckHealth(ctx, &client.CheckHealthRequest{})
			c.Close()
		}
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("%w: %w: %s", errEnded, s.err, s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer at %s: %w: %s", s.Address, err, s.lastWords())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// lastWords is the last line of the server's log.
func (s *Server) lastWords() string {
	f, err := os.Open(s.log.Name())
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	last := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			last = text
		}
	}
	return last
}

// Exited is closed when the server has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop ends the server and waits for it.
func (s *Server) Stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(os.Interrupt)
		select {
		case <-s.exited:
		case <-time.After(stopTimeout):
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
		_ = s.log.Close()
	})
}

// Kill ends the server without a warning, as a crash would. Started again with the same folder and port, it continues.
func (s *Server) Kill() {
	s.once.Do(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		_ = s.log.Close()
	})
}

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

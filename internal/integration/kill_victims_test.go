package integration

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// victim is a server or worker that can be killed and started again with its data on disk.
type victim interface {
	start(t *testing.T)
	kill(t *testing.T)
}

// killedTemporal is a dev server that keeps its port.
type killedTemporal struct {
	options localstack.Options
	server  *localstack.Server
}

func (k *killedTemporal) start(t *testing.T) {
	t.Helper()
	server, err := localstack.Start(context.Background(), k.options) // outlives the test's context, to be stopped in its cleanup
	if err != nil {
		t.Fatal(err)
	}
	k.server = server
	_, port, _ := net.SplitHostPort(server.Address)
	_, _ = fmt.Sscan(port, &k.options.Port)
}

func (k *killedTemporal) kill(*testing.T) { k.server.Kill() }

// killedProcess is a program in a process group of its own, which writes to a file.
type killedProcess struct {
	program string
	args    []string
	env     []string
	log     string // file
	ready   func() error
	cmd     *exec.Cmd
	done    chan struct{}
}

func (k *killedProcess) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(k.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	k.cmd, k.done = exec.Command(k.program, k.args...), make(chan struct{})
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.Env = log, log, append(os.Environ(), k.env...)
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(k.cmd, k.done)
	if k.ready != nil {
		Until(t, soon, filepath.Base(k.program)+" answers", func() string {
			if err := k.ready(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

// ended reports whether the program has ended.
func (k *killedProcess) ended() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

func (k *killedProcess) kill(t *testing.T) {
	t.Helper()
	_ = k.cmd.Process.Kill() // an error: it has ended by itself
	<-k.done
}

// lastWords is the end of the program's output.
func (k *killedProcess) lastWords() string {
	raw, _ := os.ReadFile(k.log)
	return lines(string(raw[max(0, len(raw)-4*tailBytes):]))
}

// The S3 server's keys and bucket.
const (
	killKey    = "muninn-kill"
	killSecret = "muninn-kill-secret"
	killBucket = "muninn"
)

// addresses counts the addresses of this process's own.
var addresses atomic.Int64

// ownAddress is an address that nobody else uses, with any port. A server may be down for a while, and is started again at the same address and port: others that look for a free
// port there, in this process or another, would get that port meanwhile.
func ownAddress() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:0", 128+addresses.Add(1)%112, pid/254%254+1, pid%254+1)
}

// freeAddress is one at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", ownAddress())
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// newS3 prepares an S3 server, bin/versitygw or what VERSITYGW names, or skips the test.
func newS3(t *testing.T) (*killedProcess, archive.S3) { return newS3In(t, t.TempDir()) }

// newS3In is newS3 with its data and its log in a folder.
func newS3In(t *testing.T, dir string) (*killedProcess, archive.S3) {
	t.Helper()
	program := os.Getenv("VERSITYGW")
	if program == "" {
		program = filepath.Join(Root(t), "bin", "versitygw")
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no bin/versitygw: `make versitygw` builds it")
	}
	for _, folder := range []string{"meta", filepath.Join("root", killBucket)} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	server := &killedProcess{
		program: program, log: filepath.Join(dir, "log"),
		args: []string{"--port", address, "--quiet", "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "root")},
		env:  []string{"ROOT_ACCESS_KEY=" + killKey, "ROOT_SECRET_KEY=" + killSecret},
		ready: func() error {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err != nil {
				return err
			}
			return c.Close()
		},
	}
	return server, archive.S3{Endpoint: "http://" + address, AccessKey: killKey, SecretKey: killSecret, Region: "us-east-1"}
}

// newKilledWorker prepares a worker process for a web, with its data and its log below a folder; flags override the others.
func newKilledWorker(t *testing.T, dir, temporal, store string, s3 archive.S3, world *webworld.World, flags ...string) *killedProcess {
	t.Helper()
	k := &killedProcess{
		program: Program(t, "muninn-worker"), log: filepath.Join(dir, "log"),
		args: []string{
			"--name", "w1", "--temporal", temporal, "--data", filepath.Join(dir, "data"), "--archive", store, "--s3-endpoint", s3.Endpoint,
			"--allow-network", "127.0.0.0/8", "--dns", "127.0.0.1:9", "--listen", "", "--kb", ignorance(t), "--task-queue", names.TaskQueue,
			"--retry-base", "1s", "--robots-retry", "1s", "--max-attempts", "20", "--batch-time", "10s", "--give-back", "1s", "--linger", "50ms",
		},
		env: []string{"MUNINN_S3_ACCESS_KEY=" + s3.AccessKey, "MUNINN_S3_SECRET_KEY=" + s3.SecretKey},
	}
	for host, ip := range world.Resolve() {
		k.args = append(k.args, "--resolve", host+"="+ip.String())
	}
	k.args = append(k.args, flags...)
	return k
}

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Temporal finds the temporal CLI, on PATH or in bin/ of the module, or skips the test.
func Temporal(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("temporal"); err == nil {
		return path
	}
	path := filepath.Join(Root(t), "bin", "temporal")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no temporal on PATH or in bin/: `make temporal` builds it")
	}
	return path
}

// Root is the folder of go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
}

// programsEnv names a folder that several runs of tests have their programs in: where they are up to date, none links them once more, which
// takes 14 s of CPU. If it is not set, each run has a folder of its own.
const programsEnv = "MUNINN_TEST_PROGRAMS"

var programs struct {
	once sync.Once
	dir  string
	err  error
}

// Program builds muninn and muninn-worker, once, and returns the path of one.
func Program(t testing.TB, name string) string {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir = os.Getenv(programsEnv); programs.dir == "" {
			programs.dir, programs.err = os.MkdirTemp("", "muninn-programs-")
		}
		if programs.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", programs.dir+"/", "./starter/muninn", "./worker/muninn-worker")
		cmd.Dir = Root(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			programs.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if programs.err != nil {
		t.Fatalf("build the programs: %v", programs.err)
	}
	return filepath.Join(programs.dir, name)
}

// RemovePrograms removes what Program built, if it is nobody else's; for TestMain.
func RemovePrograms() {
	if programs.dir != "" && os.Getenv(programsEnv) == "" {
		_ = os.RemoveAll(programs.dir)
	}
}

// Run runs a program and returns its standard output. The error has the end of the program's output, and
// wraps an exec.ExitError with the exit code.
func Run(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), CrawlTime)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), errors.Join(err, ctx.Err()), said.String())
	}
	return out.String(), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

const tailBytes = 8 << 10

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - tailBytes; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

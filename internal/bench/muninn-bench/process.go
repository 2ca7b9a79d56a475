package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a child whose CPU time and memory are read when it has ended.
type process struct {
	cmd *exec.Cmd
	cpu time.Duration
	rss int64
}

// startTimeout bounds how long a child may take to be ready.
const startTimeout = 60 * time.Second

func launch(ctx context.Context, log string, env []string, name string, args ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &process{cmd: cmd}, nil
}

// startLine starts a child and returns the first line that it prints.
func startLine(ctx context.Context, name string, args ...string) (*process, string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("start %s: %w", name, err)
	}
	r := bufio.NewReaderSize(pipe, 1<<20)
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("%s printed no line: %w", name, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return &process{cmd: cmd}, line, nil
}

// stop ends the child and reads what it used.
func (p *process) stop() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	p.wait()
}

func (p *process) wait() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Wait()
	}
	if s := p.cmd.ProcessState; s != nil {
		p.cpu = s.UserTime() + s.SystemTime()
		if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
			p.rss = usage.Maxrss << 10
		}
	}
}

// used is the CPU time of a child that runs; 0 where the system has no /proc.
func (p *process) used() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(raw), ") ") // the name before it may hold blanks
	fields, ticks := strings.Fields(after), 0
	for _, i := range []int{11, 12} { // utime and stime, in hundredths of a second
		if i < len(fields) {
			n, _ := strconv.Atoi(fields[i])
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

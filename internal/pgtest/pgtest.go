// Package pgtest starts a PostgreSQL server of its own for tests, where Debian's is installed.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	minVersion = 15
	host       = "127.0.0.54"
	startTime  = time.Minute // on a busy machine
	serverUser = "postgres"  // that the server runs as if the test is root, which it refuses
)

// Server is a server that runs until the test ends.
type Server struct {
	where     string
	databases int
}

// Start starts a server in a temporary folder, which is only for tests: it keeps nothing. It skips the test if there is no PostgreSQL 15 or later.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := find()
	if bin == "" {
		t.Skipf("there is no PostgreSQL from version %d on in /usr/lib/postgresql: install Debian's package postgresql", minVersion)
	}
	dir, err := os.MkdirTemp(base(), "muninn-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as, err := owner(dir)
	if err != nil {
		t.Skipf("PostgreSQL does not run as root, and there is no user %s: %v", serverUser, err)
	}
	data := filepath.Join(dir, "data")
	initialise := command(t, as, filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", serverUser, "--no-sync", "-E", "UTF8", "--locale=C")
	if out, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	port := freePort(t)
	var said bytes.Buffer
	server := command(t, as, filepath.Join(bin, "postgres"), "-D", data, "-h", host, "-p", strconv.Itoa(port), "-k", dir,
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=64MB", "-c", "max_wal_size=2GB")
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		<-ended
		if t.Failed() {
			t.Logf("PostgreSQL: %s", said.String())
		}
	})
	s := &Server{where: fmt.Sprintf("postgres://%s@%s/", serverUser, net.JoinHostPort(host, strconv.Itoa(port)))}
	if err := s.wait(t.Context(), ended); err != nil {
		t.Fatalf("PostgreSQL does not start: %v", err)
	}
	return s
}

// base is the folder for temporary ones: "" is the usual one, unless the user that the server runs as may not enter it.
func base() string {
	if os.Geteuid() != 0 {
		return ""
	}
	for dir := os.TempDir(); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&1 == 0 {
			return "/tmp"
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// find is the folder with the programs of the newest version; empty if there is none.
func find() string {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(file string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(file))))
		return n
	}
	list = slices.DeleteFunc(list, func(f string) bool { return version(f) < minVersion })
	if len(list) == 0 {
		return ""
	}
	return filepath.Dir(slices.MaxFunc(list, func(a, b string) int { return version(a) - version(b) }))
}

// owner gives the folder to the user that the server runs as, if that is another one.
func owner(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup(serverUser)
	if err != nil {
		return nil, err
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, errors.Join(errUID, errGID, os.Chown(dir, int(uid), int(gid)))
}

func command(t testing.TB, as *syscall.SysProcAttr, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir, cmd.Env = as, "/", append(os.Environ(), "LC_ALL=C")
	t.Log(strings.Join(cmd.Args, " "))
	return cmd
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// wait waits until the server takes connections.
func (s *Server) wait(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.where+"postgres")
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ended:
			return fmt.Errorf("it has ended: %w", err)
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond): // between two attempts
		}
	}
}

// Database makes an empty database, and returns where it is.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.where+"postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.where + name
}

package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster starts PostgreSQL on loopback with its data in a temporary folder, and returns a connection string. Tests that need one are
// skipped where it is not installed.
func cluster(t testing.TB) string {
	t.Helper()
	bin := programs()
	if bin == "" {
		t.Skip("PostgreSQL is not installed (Debian: postgresql): no tests with it")
	}
	dir, err := os.MkdirTemp("", "muninn-search-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attributes := as(t, dir)
	data := filepath.Join(dir, "data")
	initialise := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initialise.SysProcAttr, initialise.Dir = attributes, dir
	if out, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-h", "127.0.0.1", "-p", port, "-k", dir, "-c", "fsync=off", "-c", "jit=off")
	server.SysProcAttr, server.Dir = attributes, dir // which ends it if the test is killed
	runtime.LockOSThread()                           // the server is ended with the thread that has started it
	defer runtime.UnlockOSThread()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		_ = server.Wait()
	})
	connection := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", port)
	deadline := time.Now().Add(60 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		c, err := pgx.Connect(ctx, connection)
		cancel()
		if err == nil {
			_ = c.Close(context.Background())
			return connection
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not answer: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// programs is the folder of PostgreSQL's programs; "" if there is none.
func programs() string {
	if found, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(found)
	}
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// as makes programs run as the user postgres, to whom the folder is given: PostgreSQL does not run as root.
func as(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("there is no user postgres, and PostgreSQL does not run as root: no tests with it")
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

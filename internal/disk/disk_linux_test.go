package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// With less and less room, claims end first, then fetching, then writes to the frontier, so that running batches can still be
// archived and committed.
func TestWatch(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		left                  int64
		err                   error
		claims, fetch, writes bool
	}{
		{left: 100 * mb, claims: true, fetch: true, writes: true},
		{left: 99 * mb, fetch: true, writes: true},
		{left: 74 * mb, writes: true},
		{left: 49 * mb},
		{left: 0},
		{err: errors.New("no such disk"), claims: true, fetch: true, writes: true},
	} {
		t.Run(fmt.Sprint(c.left/mb), func(t *testing.T) {
			w := New("d", 100*mb)
			w.Free = func(string) (int64, error) { return c.left, c.err }
			reason, err := w.Claims(), w.Writes()
			if (reason == "") != c.claims || w.MayFetch() != c.fetch || (err == nil) != c.writes {
				t.Errorf("claims %q, fetch %t, writes %v", reason, w.MayFetch(), err)
			}
			if err != nil && !Full(err) {
				t.Errorf("%v is no full disk", err)
			}
			if w.Floor = 0; w.Claims() != "" || !w.MayFetch() || w.Writes() != nil {
				t.Error("a floor of 0 is looked at")
			}
		})
	}
}

// TestAmpleRoom: with room in plenty the spool asks the file system once for many requests, with little room for each.
func TestAmpleRoom(t *testing.T) {
	const floor = 100 << 20
	for left, want := range map[int64]int{floor + amplyFree: 1, floor + amplyFree - 1: 3} {
		w, looks := New("d", floor), 0
		w.Free = func(string) (int64, error) { looks++; return left, nil }
		for begun := time.Now(); ; {
			for range 3 {
				if !w.MayFetch() {
					t.Errorf("with %d bytes nothing may be fetched", left)
				}
			}
			if looks == want {
				break
			}
			if time.Since(begun) < amplyFor { // else this machine was too slow for one look
				t.Fatalf("with %d bytes there were %d looks, want %d", left, looks, want)
			}
			begun, looks = time.Now(), 0
			w.ample.Store(nil)
		}
	}
}

// The reason names the folder whose disk is short of room, and how much room is needed.
func TestReason(t *testing.T) {
	w := New("data", 512<<20)
	w.Free = func(path string) (int64, error) {
		if path == "archive" {
			return 12 << 20, nil
		}
		return 1 << 40, nil
	}
	if got := w.Claims("archive"); got != "the disk of archive has 12.0 MiB left; no claims until 512.0 MiB are free" {
		t.Error(got)
	}
	var none *Watch
	if none.Claims() != "" || !none.MayFetch() || none.Writes() != nil {
		t.Error("a nil Watch looks")
	}
}

// The room of a folder that does not exist yet is that of its parent.
func TestFree(t *testing.T) {
	dir := t.TempDir()
	n, err := free(filepath.Join(dir, "a", "b"))
	if err != nil || n <= 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if got := existing(filepath.Join(dir, "a", "b")); got != dir {
		t.Errorf("existing: %s", got)
	}
	if got := existing("not-there/x"); got != "." {
		t.Errorf("existing: %s", got)
	}
}

// On a file system of its own, so that it can be filled.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small file system takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	w := New(dir, 3<<20)
	if reason := w.Claims(); reason != "" {
		t.Fatal(reason)
	}
	err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 8<<20), 0o600)
	if !Full(err) {
		t.Fatalf("%v is no full disk", err)
	}
	if reason := w.Claims(); !strings.Contains(reason, "has 0 B left; no claims until 3.0 MiB are free") {
		t.Errorf("reason %q", reason)
	}
}

package frontier

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
)

// A frontier on a full disk refuses writes, because Badger's writes would end the process by a signal. With the least floor that a
// setting may have, there is room for what Badger writes after the last write: its memory table becomes a table on the disk.
// The frontier loses nothing, and continues when there is room again.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about size, not about goroutines")
	}
	const size, free = 512 << 20, int64(disk.LeastFloor)/2 + 80<<20 // more than a memory table above what stops the writes
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skipf("a small file system takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	watch := disk.New(dir, disk.LeastFloor)
	open := func() *Frontier {
		f, err := Open(filepath.Join(dir, "frontier"), Options{Room: watch.Writes})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = testCrawl, []crawl.Seed{{URL: "http://a.example/"}}
	if _, err := f.Begin(d.Name, "o", 0, d, []string{"http://a.example/"}, false); err != nil {
		t.Fatal(err)
	}
	left, err := watch.Free(dir)
	if err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, left-free), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	submit := func() error { // some 4 MB
		var many []crawl.Discovery
		for i := range 2000 {
			many = append(many, crawl.Discovery{URL: fmt.Sprintf("http://a.example/%01900d", n+i), Path: "S", Score: 1})
		}
		err := f.Crawl(d.Name).URLs().Offer(fmt.Sprint("s", n), many)
		if err == nil {
			n += len(many)
		}
		return err
	}
	// Free space goes down and up: a memory table is on the disk twice while it becomes a table, and so are tables while they are
	// merged. The amount that was written only grows. A frontier that does not refuse writes ends this process before.
	for err = submit(); err == nil; err = submit() {
		if written := int64(n) * 1900; written > free {
			t.Fatalf("it writes on: %d MiB, and %d were free", written>>20, free>>20)
		}
	}
	if !disk.Full(err) {
		t.Fatalf("the write was not refused: %v", err)
	}
	if err := f.Close(); err != nil { // which writes the memory table to a table
		t.Fatal(err)
	}
	if err := os.Remove(big); err != nil {
		t.Fatal(err)
	}
	f = open()
	t.Cleanup(func() { _ = f.Close() })
	if err := submit(); err != nil {
		t.Fatal(err)
	}
	if s, err := f.Crawl(d.Name).Status(); err != nil || s.Waiting != n {
		t.Fatalf("%d URLs wait, want %d, %v", s.Waiting, n, err)
	}
}

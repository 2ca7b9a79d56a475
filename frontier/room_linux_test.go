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

// A frontier on a disk that is full refuses writes: Badger's would end the process by a signal. What it holds stays,
// and when there is room again it goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("a small file system takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	watch := disk.New(dir, 32<<20)
	f, err := Open(filepath.Join(dir, "frontier"), Options{Room: watch.Writes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = testCrawl, []crawl.Seed{{URL: "http://a.example/"}}
	if _, err := f.Begin(d.Name, "o", d, []string{"http://a.example/"}, false); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, 128<<20), 0o600); !disk.Full(err) {
		t.Fatalf("the disk is not full: %v", err)
	}
	var many []crawl.Discovery
	for range 2000 {
		many = append(many, crawl.Discovery{URL: fmt.Sprintf("http://a.example/%0100d", len(many)), Path: "S", Score: 1})
	}
	if err := f.Submit(d.Name, "s", many); !disk.Full(err) {
		t.Fatalf("the write was not refused: %v", err)
	}
	if err := os.Remove(big); err != nil {
		t.Fatal(err)
	}
	if err := f.Submit(d.Name, "s", many); err != nil {
		t.Fatal(err)
	}
	if s, err := f.Status(d.Name); err != nil || s.Waiting != len(many) {
		t.Fatalf("%d URLs wait, %v", s.Waiting, err)
	}
}

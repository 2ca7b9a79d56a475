package aah

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestReplacedBase: a changed base comes into force; a base with faults does not, and is reported until it is fixed.
func TestReplacedBase(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "crow.xml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(filepath.Join(dir, "nowhere"), DefaultLimits()); err == nil {
		t.Error("a folder that is not there is opened")
	}
	write(crowBlog + "<")
	var faults kb.Faults
	if _, err := Open(dir, DefaultLimits()); !errors.As(err, &faults) || !strings.Contains(err.Error(), "crow.xml:") {
		t.Errorf("a broken base is opened: %v", err)
	}
	write(crowBlog)
	h, err := Open(dir, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	first := h.Base()
	is := func(app string) {
		t.Helper()
		if d := read(h, "http://a.test/", "<!--crow-engine--><article>x", Input{}); d.Application != app {
			t.Errorf("%q, want %q", d.Application, app)
		}
	}
	is("Crow")
	write(strings.ReplaceAll(crowBlog, `"Crow"`, `"Jackdaw"`))
	if err := h.Refresh(false); err != nil || h.Base() != first {
		t.Errorf("the folder is looked at too often: %v", err)
	}
	if err := h.Refresh(true); err != nil {
		t.Fatal(err)
	}
	is("Jackdaw")
	write("broken")
	for range 2 {
		if err := h.Refresh(true); !errors.As(err, &faults) {
			t.Errorf("the fault is not reported: %v", err)
		}
	}
	is("Jackdaw")
	write(crowBlog)
	if err := h.Refresh(true); err != nil {
		t.Fatal(err)
	}
	is("Crow")
}

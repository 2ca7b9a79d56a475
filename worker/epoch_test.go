package worker

import (
	"os"
	"strings"
	"testing"
)

// TestEpochFile: the newest epoch stays, also over a restart; a note that is damaged is not taken for none.
func TestEpochFile(t *testing.T) {
	f := epochFile(t.TempDir())
	for _, step := range []struct{ keep, want uint64 }{{0, 0}, {7, 7}, {3, 7}, {1 << 40, 1 << 40}} {
		if err := f.keep(step.keep); err != nil {
			t.Fatal(err)
		}
		if got, err := f.read(); got != step.want || err != nil {
			t.Errorf("after %d it has %d, %v, want %d", step.keep, got, err, step.want)
		}
	}
	if err := os.WriteFile(f.path(), []byte("seven"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read(); err == nil || !strings.Contains(err.Error(), f.path()) || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("a damaged note is read with %v", err)
	}
}

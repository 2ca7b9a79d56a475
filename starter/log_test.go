package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The log is bounded: a line that does not fit goes into a new file, and one earlier file is kept.
func TestLogIsTurnedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker.log")
	for range 2 { // opened again, it continues
		log, err := openLog(path, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 25 {
			if _, err := fmt.Fprintf(log, "line %04d\n", i); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{path, path + ".1"} {
		raw, err := os.ReadFile(name)
		if err != nil || len(raw) > 100 || len(raw)%10 != 0 {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
		if name == path && !strings.HasSuffix(string(raw), "line 0024\n") {
			t.Errorf("the last line is lost: %q", raw)
		}
	}
}

// A line of progress leaves out the parts at its end that do not fit.
func TestFitted(t *testing.T) {
	parts := []string{"broad: 7 pages", "", "1.0/s", "harvest 0.50"}
	for width, want := range map[int]string{0: "broad: 7 pages, 1.0/s, harvest 0.50", 30: "broad: 7 pages, 1.0/s", 14: "broad: 7 pages", 5: "broad"} {
		if got := fitParts(parts, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
	if d := newDisplay(os.Stderr, 200); d.spent(50) != "25 % of the budget" {
		t.Error(d.spent(50))
	}
}

package starter

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
)

// What was learned is printed even if the file of --out cannot be written.
func TestLearnWithoutItsFile(t *testing.T) {
	dir, _ := smallArchive(t)
	file := write(t, "ravens.yaml", good)
	code, printed, said := call(t, "learn", file, "--from", filepath.Join(dir, "some/prefix/c/data"), "--out", filepath.Join(dir, "none", "out.yaml"))
	if code != cli.ExitFailed || printed == "" || strings.Contains(printed, "edit it") || !strings.Contains(said, "out.yaml") {
		t.Errorf("exit code %d; it prints %q and says %q", code, printed, said)
	}
}

package starter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
)

// TestAboveArchive: commands that are given a folder above an archive name the folder to give, and do not say that anything is damaged.
func TestAboveArchive(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "below", "archive"), os.DirFS(selectable(t))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"search", dir, "raven", "--data", t.TempDir()},
		{"views", dir, "--data", t.TempDir()},
		{"verify", dir},
		{"derive", dir},
		{"merge", dir, "--to", filepath.Join(t.TempDir(), "merged")},
	} {
		code, printed, said := call(t, args...)
		if code != cli.ExitFailed || !strings.Contains(said, `give its folder or prefix "below/archive"`) || strings.Contains(printed+said, "damaged") || strings.Contains(said, "muninn verify") {
			t.Errorf("%s: %d: %s%s", args[0], code, printed, said)
		}
	}
}

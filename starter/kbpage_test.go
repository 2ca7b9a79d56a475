package starter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/kb"
)

// TestPageAsJSON: what `muninn kb test --json` prints of a page, byte for byte. Without the file of testdata, it is written again.
func TestPageAsJSON(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	code, printed, said := call(t, "kb", "test", filepath.Join(here, "page.html"), "--url", "https://blog.example/2026/03/ravens/", "--json")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	lines := regexp.MustCompile(`([a-z]+[.]xml):[0-9]+`)
	printed = lines.ReplaceAllString(strings.ReplaceAll(printed, base.ID, "BASE"), "$1:LINE")
	name := filepath.Join(here, "page.json")
	want, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.WriteFile(name, []byte(printed), 0o644); err == nil {
			t.Fatalf("%s is written: look at it", name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if printed != string(want) {
		t.Errorf("it prints\n%s\nnot\n%s", printed, want)
	}
}

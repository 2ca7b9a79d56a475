package starter

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/scripttest"
	"github.com/muninn-archive/muninn/kb"
)

// TestPageAsJSON compares the output of `muninn kb test --json` byte for byte.
func TestPageAsJSON(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	blog := filepath.Join(here, "../internal/archive/testdata/page.html") // the page that TestBytesOfPages compares, too
	code, printed, said := call(t, "kb", "test", blog, "--url", "https://blog.example/2026/03/ravens/", "--json")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	lines := regexp.MustCompile(`([a-z]+[.]xml):[0-9]+`)
	printed = lines.ReplaceAllString(strings.ReplaceAll(printed, base.ID, "BASE"), "$1:LINE")
	scripttest.Golden(t, filepath.Join(here, "testdata", "page.json"), printed)
}

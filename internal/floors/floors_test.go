package floors

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/muninn-archive/muninn/"

// floors lists the packages from the ground up: a package imports those of lower floors only.
// Packages of one floor do not know each other.
var floors = [][]string{
	{"internal/codec", "internal/times"},
	{"internal/crawl", "internal/version", "internal/cputime", "internal/cache", "internal/fnv"},
	{"internal/text", "internal/urls", "internal/coding", "internal/xpath", "internal/dates", "internal/thesaurus", "internal/chart", "internal/disk", "internal/css"},
	{"internal/scope", "internal/robots", "internal/politeness", "internal/hostgroups", "internal/ring", "internal/share", "internal/traps", "internal/page", "kb", "internal/crawl/schema"},
	{"internal/recognise", "internal/extract", "internal/bandit", "internal/pdf", "internal/browser"},
	{"internal/adapt"},
	{"internal/order"},
	{"internal/topic"},
	{"internal/score"},
	{"frontier/internal/claims", "frontier/internal/queue"},
	{"frontier/internal/record"},
	{"frontier/internal/store"},
	{"frontier/internal/migrate", "frontier/internal/learner"},
	{"frontier", "internal/fetch", "internal/archive", "internal/aah", "internal/spool", "internal/localstack"},
	{"internal/search/terms"},
	{"internal/search/query"},
	{"internal/derive"},
	{"internal/pipeline", "internal/partfile", "internal/report", "internal/recorded", "internal/cli", "internal/intake", "internal/learning", "internal/export", "internal/search", "internal/selection"},
	{"internal/catalogue", "internal/selection/proposal", "internal/selection/candidates", "internal/selection/kept"},
	{"internal/catalogue/sqlite", "internal/catalogue/postgres", "internal/catalogue/build", "internal/selection/desk"},
	{"internal/room", "internal/room/cdx", "internal/room/memento", "internal/room/dns"},
	{"activities/names", "internal/checkpoint", "internal/search/bleve", "internal/search/postgres"},
	{"internal/room/views"},
	{"activities"},
	{"workflows"},
	{"worker"},
	{"starter"},
	{"starter/muninn", "worker/muninn-worker"},
}

// beside may import anything below the workflows; tests and benches import them.
var beside = []string{"internal/webworld", "internal/archivecheck", "internal/browsertest", "internal/archive/storetest", "internal/search/searchtest", "internal/catalogue/catalogtest", "internal/pgtest", "internal/scripttest", "internal/fixture", "internal/floors", "internal/integration", "internal/bench", "internal/lab", "frontier/internal/simulation"}

// shipped are the packages of beside that are part of the product, with the package that needs each. The others, such as the
// laboratory, must not be in bin/muninn and bin/muninn-worker.
var shipped = map[string]string{
	"internal/webworld":     "starter", // the web of `muninn demo`
	"internal/archivecheck": "starter", // `muninn verify`
}

// wrappers are the only packages that import a library.
var wrappers = map[string][]string{
	"go.temporal.io/":                     {"workflows", "activities", "activities/names", "worker", "starter", "internal/localstack", "internal/integration", "internal/bench/muninn-bench"},
	"github.com/fxamacker/cbor":           {"internal/codec"},
	"github.com/andybalholm/brotli":       {"internal/coding"},
	"github.com/nlnwa/gowarc":             {"internal/archive"},
	"github.com/minio/minio-go":           {"internal/archive"},
	"github.com/hashicorp/golang-lru":     {"internal/cache"},
	"github.com/blevesearch/snowballstem": {"internal/text"},
	"github.com/blevesearch/bleve":        {"internal/search/bleve"},
	"github.com/blevesearch/scorch":       {"internal/search/bleve"},
	"github.com/RoaringBitmap/roaring":    {"internal/search/bleve"},
	"github.com/dgraph-io/badger":         {"frontier/internal/store"},
	"github.com/PuerkitoBio/goquery":      {"internal/page"},
	"github.com/andybalholm/cascadia":     {"internal/lab/markup"},
	"golang.org/x/net/html":               {"internal/page", "internal/extract", "internal/adapt", "internal/xpath", "internal/webworld", "internal/lab/adaptation", "internal/lab/markup", "internal/lab/text", "internal/lab/text/libraries"},
	"github.com/klippa-app/go-pdfium":     {"internal/pdf"},
	"github.com/chromedp/":                {"internal/browser", "internal/browsertest"},
	"github.com/tetratelabs/wazero":       {"internal/pdf"},
	"github.com/nlnwa/whatwg-url":         {"internal/urls"},
	"github.com/tdewolff/parse":           {"internal/css"},
	"modernc.org/sqlite":                  {"internal/catalogue/sqlite"},
	"github.com/jackc/pgx":                {"internal/catalogue/postgres", "internal/pgtest", "internal/search/postgres"},
	"github.com/mmcdole/gofeed":           {}, // a test compares with it
	"github.com/projectdiscovery/":        {"internal/lab/recognition"},
	"github.com/markusmobius/":            {"internal/lab/text/libraries"},
	"github.com/go-shiori/":               {"internal/lab/text/libraries"},
	"github.com/spf13/cobra":              {"starter", "internal/cli", "internal/lab/muninn-lab", "worker/muninn-worker"},
	"github.com/prometheus/client_golang": {"worker"},
	"github.com/parquet-go/parquet-go":    {"internal/export"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

// packages reads the imports of all packages of the module from their source. It reads the files itself, because the cache of test
// results knows which files a test reads, but not the output of programs that it runs.
func packages(t *testing.T) (list []pkg) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if name := e.Name(); dir != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); dir != root && err == nil { // a module of its own
			return fs.SkipDir
		}
		found, err := build.ImportDir(dir, 0)
		if nothing := new(build.NoGoError); errors.As(err, &nothing) {
			return nil
		}
		name, errName := filepath.Rel(root, dir)
		list = append(list, pkg{filepath.ToSlash(name), found.Imports})
		return errors.Join(err, errName)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func floorOf(name string) int {
	return slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, name) })
}

func isBeside(name string) bool {
	return slices.ContainsFunc(beside, func(b string) bool { return name == b || strings.HasPrefix(name, b+"/") })
}

func TestFloors(t *testing.T) {
	workflows := floorOf("workflows")
	for _, p := range packages(t) {
		at := floorOf(p.ImportPath)
		if at < 0 && !isBeside(p.ImportPath) {
			t.Errorf("%s stands on no floor: give it one in floors_test.go and ARCHITECTURE.md", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			below, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			switch {
			case isBeside(p.ImportPath):
				if floorOf(below) > workflows && !strings.HasPrefix(p.ImportPath, "internal/integration") && !strings.HasPrefix(p.ImportPath, "internal/bench") {
					t.Errorf("%s imports %s, which stands above the workflows", p.ImportPath, below)
				}
				if shipped[p.ImportPath] != "" && isBeside(below) && shipped[below] == "" {
					t.Errorf("%s imports %s, and the product carries the one, but not the other", p.ImportPath, below)
				}
			case isBeside(below):
				if shipped[below] != p.ImportPath {
					t.Errorf("%s imports %s, which is for tests, benches and the laboratory", p.ImportPath, below)
				}
			case floorOf(below) >= at:
				t.Errorf("%s imports %s, which does not stand below it", p.ImportPath, below)
			}
		}
	}
}

func TestWrappers(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for library, allowed := range wrappers {
				if strings.HasPrefix(imported, library) && !slices.Contains(allowed, p.ImportPath) && !strings.HasPrefix(imported, "golang.org/x/net/html/charset") {
					t.Errorf("%s imports %s, which only %v may", p.ImportPath, imported, allowed)
				}
			}
		}
	}
}

// laboratories are libraries that the laboratory alone carries.
var laboratories = []string{"github.com/markusmobius/", "github.com/go-shiori/", "github.com/projectdiscovery/"}

// TestPrograms: no package that the product's programs are made of imports a library of the laboratory.
func TestPrograms(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
	}
	for _, program := range []string{"starter/muninn", "worker/muninn-worker"} {
		seen := map[string]bool{}
		carried(imports, program, seen)
		if len(seen) < 20 {
			t.Errorf("%s is made of %d packages: they are not found", program, len(seen))
		}
		for name := range seen {
			for _, imported := range imports[name] {
				if slices.ContainsFunc(laboratories, func(l string) bool { return strings.HasPrefix(imported, l) }) {
					t.Errorf("%s carries %s, which imports %s: that is for the laboratory", program, name, imported)
				}
			}
		}
	}
	lab := map[string]bool{}
	if carried(imports, "internal/lab/muninn-lab", lab); !lab["internal/lab/text/libraries"] {
		t.Error("the laboratory does not carry the libraries: the packages that a program is made of are not found")
	}
}

// carried notes a package and all of the module's that it imports, directly or not.
func carried(imports map[string][]string, name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, imported := range imports[name] {
		if below, ours := strings.CutPrefix(imported, module); ours {
			carried(imports, below, seen)
		}
	}
}

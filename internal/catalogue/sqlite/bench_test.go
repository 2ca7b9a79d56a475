package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
)

// BenchmarkCatalogue: MUNINN_CATALOGUE_LINES=10000000 for ten million captures.
func BenchmarkCatalogue(b *testing.B) {
	dir := b.TempDir()
	catalogtest.Benchmark(b, openIn(b, dir))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	b.Logf("%d MiB in %d files", size>>20, len(files))
}

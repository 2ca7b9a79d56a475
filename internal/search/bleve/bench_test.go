package bleve

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

func BenchmarkIndex(b *testing.B) {
	dir := b.TempDir()
	x, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.BenchIndex(b, x, func() (size int64) {
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				if info, err := e.Info(); err == nil {
					size += info.Size()
				}
			}
			return nil
		})
		return size
	})
}

// BenchmarkSearch searches in an index that it makes, or in that of the folder MUNINN_SEARCH_INDEX, which it fills if it is empty.
func BenchmarkSearch(b *testing.B) {
	dir := os.Getenv("MUNINN_SEARCH_INDEX")
	if dir == "" {
		dir = b.TempDir()
	}
	x, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.FillBig(b, x, searchtest.Documents(b))
	searchtest.BenchSearch(b, x)
}

// BenchmarkMix asks many kinds of queries, in the same index as BenchmarkSearch.
func BenchmarkMix(b *testing.B) {
	dir := os.Getenv("MUNINN_SEARCH_INDEX")
	if dir == "" {
		dir = b.TempDir()
	}
	x, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.FillBig(b, x, searchtest.Documents(b))
	searchtest.BenchMix(b, x)
}

package postgres_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
	"github.com/muninn-archive/muninn/internal/pgtest"
)

func BenchmarkCatalogue(b *testing.B) {
	catalogtest.Benchmark(b, openAt(b, pgtest.Start(b).Database(b)))
}

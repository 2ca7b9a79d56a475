package postgres

import (
	"context"
	"testing"

	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// The CPU time that these report is that of this process: the server's is not in it.

func BenchmarkIndex(b *testing.B) {
	x, err := Open(context.Background(), pgtest.Start(b).Database(b), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.BenchIndex(b, x, func() (size int64) {
		const sizes = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'bench' AND c.relkind = 'r'"
		if err := x.pool.QueryRow(context.Background(), sizes).Scan(&size); err != nil {
			b.Fatal(err)
		}
		return size
	})
}

func BenchmarkSearch(b *testing.B) {
	x, err := Open(context.Background(), pgtest.Start(b).Database(b), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.FillBig(b, x, searchtest.Documents(b))
	searchtest.BenchSearch(b, x)
}

// BenchmarkMix asks many kinds of queries, in the same index as BenchmarkSearch.
func BenchmarkMix(b *testing.B) {
	x, err := Open(context.Background(), pgtest.Start(b).Database(b), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.FillBig(b, x, searchtest.Documents(b))
	searchtest.BenchMix(b, x)
}

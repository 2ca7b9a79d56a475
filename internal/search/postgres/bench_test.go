package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// The CPU time that these report is that of this process: the server's is not in it.

// BenchmarkIndex also logs what each table and index takes.
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
		logSizes(b, x, b.N)
		return size
	})
}

func logSizes(b *testing.B, x *Index, pages int) {
	b.Helper()
	const sizes = "SELECT c.relname, pg_total_relation_size(c.oid) - CASE c.relkind WHEN 'r' THEN pg_indexes_size(c.oid) ELSE 0 END FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'bench' ORDER BY 2 DESC"
	rows, err := x.pool.Query(context.Background(), sizes)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var list []string // of one line: a benchmark logs few
	for rows.Next() {
		var name string
		var size int64
		if err := rows.Scan(&name, &size); err != nil {
			b.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %d", name, size/int64(pages)))
	}
	b.Logf("bytes a page: %s", strings.Join(list, ", "))
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
	if _, err := x.pool.Exec(context.Background(), "VACUUM ANALYZE"); err != nil { // as the server does by itself from time to time
		b.Fatal(err)
	}
	logSizes(b, x, searchtest.Documents(b))
	searchtest.BenchMix(b, x)
}

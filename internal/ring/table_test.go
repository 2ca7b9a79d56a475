package ring

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func free(int) int { return 0 }

func nobody(int) Index { return 0 }

func indices(n int) (of []Index) {
	for i := range n {
		of = append(of, Index(i+1))
	}
	return of
}

// TestJoinAndLeave: when the n-th of up to 200 workers joins, at most ceil(1024/n) partitions move, all to it; when it leaves, only its own
// do; and the shares differ by one at most: by less than one percent of the mean at 10 workers.
func TestJoinAndLeave(t *testing.T) {
	var table Table
	for n := 1; n <= MaxWorkers; n++ {
		before, joined := table, Index(n)
		workers := indices(n)
		table.Assign(workers, nobody)
		table.Join(joined, workers[:n-1], n, free)
		moved := 0
		for p, is := range table {
			if is != before[p] && before[p] != 0 {
				moved++
				if is != joined {
					t.Fatalf("worker %d joins, and partition %d moves from %d to %d", n, p, before[p], is)
				}
			}
		}
		if share := (Partitions + n - 1) / n; moved > share {
			t.Errorf("%d partitions move when worker %d joins, at most %d may", moved, n, share)
		}
		spread := even(t, &table, workers)
		if n == 10 && spread > 0.01 {
			t.Errorf("10 workers differ from the mean by up to %.1f %%", 100*spread)
		}
		after := table
		if n > 1 {
			table.Leave(joined)
			table.Assign(workers[:n-1], nobody)
			even(t, &table, workers[:n-1])
			for p, is := range table {
				if is != after[p] && after[p] != joined {
					t.Fatalf("worker %d leaves, and partition %d moves from %d to %d", n, p, after[p], is)
				}
			}
		}
		table = after
	}
}

// even checks that every partition has a worker and that their shares differ by one at most; it returns the largest difference from the
// mean, as a part of it.
func even(t testing.TB, table *Table, workers []Index) (spread float64) {
	t.Helper()
	counts := table.counts()
	mean := Partitions / float64(len(workers))
	for _, i := range workers {
		spread = max(spread, math.Abs(float64(counts[i])/mean-1))
	}
	if diff := counts[most(workers, &counts)] - counts[fewest(workers, &counts)]; diff > 1 || counts[0] > 0 {
		t.Fatalf("shares of %d workers differ by %d, %d partitions are nobody's", len(workers), diff, counts[0])
	}
	return spread
}

// TestJoinCost: of a worker's partitions those move that cost least, and a table without history is not made even by a join.
func TestJoinCost(t *testing.T) {
	var table Table
	table.Assign([]Index{1}, nobody)
	table.Join(2, []Index{1}, 2, func(p int) int { return p % 3 })
	for p, is := range table {
		if cheap := p%3 == 0; cheap && is != 2 {
			t.Fatalf("partition %d, which costs least, stays with %d", p, is)
		}
	}
}

// TestAssign: what is nobody's goes to the worker that has its data, but not beyond an even share.
func TestAssign(t *testing.T) {
	for n := 1; n <= 20; n++ {
		var table Table
		workers := indices(n)
		table.Assign(workers, func(p int) Index { return Index(p%3 + 1) })
		even(t, &table, workers)
		kept, all := 0, 0
		for p, is := range table {
			if holder := Index(p%3 + 1); slices.Contains(workers, holder) {
				all++
				if is == holder {
					kept++
				}
			}
		}
		if want := min(n, 3) * (Partitions / n); kept < min(want, all) {
			t.Errorf("%d workers: %d partitions stay with the workers that have them, %d could", n, kept, min(want, all))
		}
	}
}

// TestLevel: however uneven shares are, levelling them moves no partition twice and no more than what the workers with too many have too many.
func TestLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "workers")
		workers := indices(n)
		var table Table
		skew := rapid.IntRange(1, n).Draw(t, "skew")
		for p := range table {
			table[p] = Index(p%n%skew + 1)
		}
		before := table
		moved := table.Level(workers)
		counts, were := table.counts(), before.counts()
		if counts[most(workers, &counts)]-counts[fewest(workers, &counts)] > 1 {
			t.Fatalf("shares are %v", counts[1:n+1])
		}
		differ, more := 0, 0
		for p := range table {
			if table[p] != before[p] {
				differ++
			}
		}
		for _, i := range workers {
			more += max(were[i]-counts[i], 0)
		}
		if moved != differ || moved != more {
			t.Fatalf("%d moves, %d partitions moved, %d were too many", moved, differ, more)
		}
	})
}

func TestTableText(t *testing.T) {
	var table, again Table
	table.Assign(indices(10), nobody)
	text, err := json.Marshal(table)
	if err != nil || len(text) != 1370 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if err := json.Unmarshal(text, &again); err != nil || again != table {
		t.Errorf("read again it is another table, %v", err)
	}
	for _, damaged := range []string{`""`, `"AAAA"`, `"*"`} {
		if err := json.Unmarshal([]byte(damaged), &again); err == nil {
			t.Errorf("%s is read", damaged)
		}
	}
}

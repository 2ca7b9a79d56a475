package ring

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
)

// Partitions is the number of partitions, 1,024; a PLD belongs to one of them forever, by the highest bits of its hash: so many.
const (
	Partitions    = 1 << PartitionBits
	PartitionBits = 10
)

// MaxWorkers bounds the workers of a ring: with so many, each owns five or six partitions.
const MaxWorkers = 200

// Index is the number of a worker in the ring, from 1; nobody has 0. It is free again once the worker is gone.
type Index = uint8

// Table names the worker that is to own each partition, by its index; 0 if there is nobody.
//
// It changes from the table before it, by as few moves as balance needs. Hashing keeps no history, but cannot hold both bounds:
// at 1,024 partitions the rings of hashes that were measured differ by more than 10 % from worker to worker, or move partitions
// between workers that stay (docs/architecture/ring.md has the figures).
type Table [Partitions]Index

// counts are the numbers of partitions by the index of their worker.
func (t *Table) counts() (counts [256]int) {
	for _, i := range t {
		counts[i]++
	}
	return counts
}

// Assign gives the partitions that are nobody's to workers: to the one that has the data already (has; 0 if none of them has), up to an even
// share, and the others to those with the fewest. Without workers they stay nobody's.
func (t *Table) Assign(to []Index, has func(p int) Index) {
	if len(to) == 0 {
		return
	}
	counts := t.counts()
	sum := counts[0]
	for _, i := range to {
		sum += counts[i]
	}
	for p, i := range t {
		if h := has(p); i == 0 && slices.Contains(to, h) && counts[h] < sum/len(to) {
			t[p] = h
			counts[h]++
		}
	}
	for p, i := range t {
		if i == 0 {
			t[p] = fewest(to, &counts)
			counts[t[p]]++
		}
	}
}

// Join moves partitions to a worker that has joined, from those of givers that have the most, until it has as many as they,
// at most its share of all members: ceil(1024/members). cost is what it costs to move a partition: of a giver's, the cheapest move.
func (t *Table) Join(joined Index, givers []Index, members int, cost func(p int) int) {
	counts := t.counts()
	share := (Partitions + members - 1) / members
	offers := map[Index][]int{}
	for p := Partitions - 1; p >= 0; p-- {
		offers[t[p]] = append(offers[t[p]], p)
	}
	for _, g := range givers {
		slices.SortStableFunc(offers[g], func(a, b int) int { return cmp.Compare(cost(a), cost(b)) })
	}
	for counts[joined] < share {
		g := most(givers, &counts)
		if g == 0 || counts[g]-counts[joined] <= 1 {
			return
		}
		t[offers[g][0]] = joined
		offers[g] = offers[g][1:]
		counts[g]--
		counts[joined]++
	}
}

// Leave takes the partitions of a worker that goes from it, for Assign.
func (t *Table) Leave(gone Index) {
	for p, i := range t {
		if i == gone {
			t[p] = 0
		}
	}
}

// Level moves partitions between workers until the shares of any two differ by one at most, and returns how many it moved. Join
// and Leave keep it so among the workers that are up; shares become uneven while a lost one neither gives nor takes.
func (t *Table) Level(workers []Index) (moved int) {
	counts := t.counts()
	for len(workers) > 0 {
		from, to := most(workers, &counts), fewest(workers, &counts)
		if counts[from]-counts[to] <= 1 {
			break
		}
		t[slices.Index(t[:], from)] = to
		counts[from]--
		counts[to]++
		moved++
	}
	return moved
}

// fewest is the worker with the fewest partitions, of several the one with the lowest index.
func fewest(of []Index, counts *[256]int) Index {
	best := of[0]
	for _, i := range of {
		if counts[i] < counts[best] || counts[i] == counts[best] && i < best {
			best = i
		}
	}
	return best
}

// most is the worker with the most partitions, of several the one with the lowest index; 0 if there is none.
func most(of []Index, counts *[256]int) (best Index) {
	for _, i := range of {
		if best == 0 || counts[i] > counts[best] || counts[i] == counts[best] && i < best {
			best = i
		}
	}
	return best
}

// MarshalText writes the table in 1,368 characters.
func (t Table) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, t[:]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (t *Table) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err == nil && len(raw) != Partitions {
		err = fmt.Errorf("it has %d entries, not %d", len(raw), Partitions)
	}
	if err != nil {
		return fmt.Errorf("table of the ring: %w", err)
	}
	copy(t[:], raw)
	return nil
}

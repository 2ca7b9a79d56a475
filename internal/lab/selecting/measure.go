package selecting

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// Options of a measurement.
type Options struct {
	Collection string            `json:"collection"`
	Minds      []Mind            `json:"minds"`
	Draws      int               `json:"draws"`  // archivists of each mind, who are asked about other pages first
	Points     []int             `json:"points"` // numbers of decisions after which the kept set is judged
	Settings   proposal.Settings `json:"settings"`
}

// DefaultOptions judge the defaults.
func DefaultOptions() Options {
	return Options{Collection: Judged, Minds: Minds, Draws: 5, Points: []int{50, 100, 200}, Settings: proposal.DefaultSettings()}
}

// Row is the result of one mind.
type Row struct {
	Mind    string    `json:"mind"`
	Pages   int       `json:"pages"`   // that it keeps
	Asked   []float64 `json:"asked"`   // F1 of the kept set after each number of decisions, by our questions: means over the draws
	Spread  []float64 `json:"spread"`  // their standard deviations
	Random  []float64 `json:"random"`  // … of pages taken at random
	Unseen  []float64 `json:"unseen"`  // F1 by our questions of the pages that nobody has decided
	Batch   float64   `json:"batch"`   // F1 with all labels, in ten folds: each page is judged by a model of the other folds' labels
	Expects []float64 `json:"expects"` // the F1 that the archivist was shown, from decisions that were held back
}

// Result is all that was measured.
type Result struct {
	Pages   int     `json:"pages"`
	Hosts   int     `json:"hosts"`
	Options Options `json:"options"`
	Rows    []Row   `json:"rows"`
	Seconds float64 `json:"cpu_seconds"`
}

// Measure lets archivists select from a collection.
func Measure(c *Collection, o Options) (Result, error) {
	begin := cputime.Used()
	out := Result{Pages: len(c.Facts), Options: o}
	hosts := map[string]bool{}
	b := proposal.NewBuilder(o.Settings)
	for _, f := range c.Facts {
		hosts[f.Host] = true
		if err := b.Add(f); err != nil {
			return out, err
		}
	}
	out.Hosts = len(hosts)
	pool := b.Pool()
	for _, m := range o.Minds {
		keep, n, err := c.keeps(m)
		if err != nil {
			return out, err
		}
		wanted := make([]bool, pool.Len())
		for i, f := range c.Facts {
			at, known := pool.Index(f.URL)
			if !known {
				return out, fmt.Errorf("%s is in no pool", f.URL)
			}
			wanted[at] = keep[i]
		}
		row := Row{Mind: m.Name, Pages: n, Batch: batch(pool, wanted)}
		row.run(pool, wanted, o)
		out.Rows = append(out.Rows, row)
	}
	out.Seconds = (cputime.Used() - begin).Seconds()
	return out, nil
}

// run measures a mind.
func (r *Row) run(pool *proposal.Pool, wanted []bool, o Options) {
	n := len(o.Points)
	asked, random, unseen := make([][]float64, n), make([][]float64, n), make([][]float64, n)
	r.Expects = make([]float64, n)
	for draw := range o.Draws {
		pool := pool.Seeded(uint64(draw))
		archivist(pool, wanted, o.Points, pool.Settings().Batch, func(labels []proposal.Label, m *proposal.Model, n int) []int {
			return pool.Next(proposal.Undecided(labels), m, n)
		}, func(at int, labels []proposal.Label, m *proposal.Model) {
			asked[at] = append(asked[at], f1(labels, m, wanted, false))
			unseen[at] = append(unseen[at], f1(labels, m, wanted, true))
		})
		order := shuffled(pool, draw)
		archivist(pool, wanted, o.Points, pool.Settings().Batch, func(labels []proposal.Label, _ *proposal.Model, n int) (list []int) {
			for _, i := range order {
				if labels[i] == proposal.Open && len(list) < n {
					list = append(list, i)
				}
			}
			return list
		}, func(at int, labels []proposal.Label, m *proposal.Model) {
			random[at] = append(random[at], f1(labels, m, wanted, false))
		})
	}
	for at := range n {
		mean, spread := meanAndSpread(asked[at])
		r.Asked, r.Spread = append(r.Asked, mean), append(r.Spread, spread)
		mean, _ = meanAndSpread(random[at])
		r.Random = append(r.Random, mean)
		mean, _ = meanAndSpread(unseen[at])
		r.Unseen = append(r.Unseen, mean)
	}
}

// archivist decides what it is asked, and shows the state at each point.
func archivist(pool *proposal.Pool, wanted []bool, points []int, size int,
	next func([]proposal.Label, *proposal.Model, int) []int, show func(at int, labels []proposal.Label, m *proposal.Model)) {
	labels := make([]proposal.Label, pool.Len())
	var m *proposal.Model
	decided := 0
	for at, point := range points {
		for decided < point {
			list := next(labels, m, min(size, point-decided))
			if len(list) == 0 {
				break
			}
			for _, i := range list {
				labels[i] = proposal.Left
				if wanted[i] {
					labels[i] = proposal.Kept
				}
			}
			decided += len(list)
			m = pool.Learn(labels)
		}
		show(at, labels, m)
	}
}

// f1 is that of the kept set: what was kept, and what the model proposes to keep of the rest; with unseen, of the rest alone.
func f1(labels []proposal.Label, m *proposal.Model, wanted []bool, unseen bool) float64 {
	right, kept, all := 0, 0, 0
	for i, l := range labels {
		if unseen && l != proposal.Open {
			continue
		}
		keep := l == proposal.Kept || l == proposal.Open && m != nil && m.Keep[i] >= 0.5
		if keep {
			kept++
		}
		if wanted[i] {
			all++
			if keep {
				right++
			}
		}
	}
	if right == 0 {
		return 0
	}
	return 2 * float64(right) / float64(kept+all)
}

// folds is in how many parts the pages are divided for the batch-trained classifier.
const folds = 10

// batch is the F1 with all labels.
func batch(pool *proposal.Pool, wanted []bool) float64 {
	m := &proposal.Model{Keep: make([]float64, pool.Len())}
	place := make([]int, pool.Len())
	for k, i := range shuffled(pool, -1) {
		place[i] = k % folds
	}
	for fold := range folds {
		labels := make([]proposal.Label, pool.Len())
		for i := range labels {
			switch {
			case place[i] == fold:
			case wanted[i]:
				labels[i] = proposal.Kept
			default:
				labels[i] = proposal.Left
			}
		}
		if of := pool.Learn(labels); of != nil {
			for i := range labels {
				if place[i] == fold {
					m.Keep[i] = of.Keep[i]
				}
			}
		}
	}
	return f1(make([]proposal.Label, pool.Len()), m, wanted, false)
}

// shuffled are the numbers of all pages in an order of chance.
func shuffled(pool *proposal.Pool, draw int) []int {
	order := make([]int, pool.Len())
	keys := make([]uint64, pool.Len())
	for i := range order {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", draw, pool.Facts[i].URL)
		order[i], keys[i] = i, mixed(h.Sum64())
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case keys[i] < keys[j]:
			return -1
		case keys[i] > keys[j]:
			return 1
		}
		return 0
	})
	return order
}

func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

func meanAndSpread(list []float64) (mean, spread float64) {
	n := float64(max(len(list), 1))
	for _, x := range list {
		mean += x / n
	}
	for _, x := range list {
		spread += (x - mean) * (x - mean) / n
	}
	return mean, math.Sqrt(spread)
}

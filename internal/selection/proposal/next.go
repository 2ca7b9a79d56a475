package proposal

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/text"
)

// looked is how many of the least certain candidates are looked at for each page that is asked about: among them those are chosen that
// differ.
const looked = 20

// Next are the numbers of candidates to ask about, at most n: those that the model is least certain of (Lewis, Gale 1994), of various
// hosts, and none that is like another one of them. Without a model, as long as people have not kept and dropped some, it asks for
// variety alone. Those that a rule marks come first.
func (p *Pool) Next(d Decided, m *Model, n int) []int {
	var open []int
	decided := 0
	for i, l := range d.Labels {
		if l != Open {
			decided++
		} else if !d.Closed[i] {
			open = append(open, i)
		}
	}
	if slices.ContainsFunc(open, func(i int) bool { return d.Marked[i] }) {
		open = slices.DeleteFunc(open, func(i int) bool { return !d.Marked[i] })
	}
	places := make([]uint32, p.Len())
	for _, i := range open {
		places[i] = spread(p.Facts[i].URL, p.seed)
	}
	slices.SortFunc(open, func(i, j int) int { // an order that has nothing to do with what they are
		return cmp.Or(cmp.Compare(places[i], places[j]), strings.Compare(p.Facts[i].URL, p.Facts[j].URL))
	})
	if m != nil && decided >= p.settings.First {
		slices.SortStableFunc(open, func(i, j int) int {
			return cmp.Compare(math.Abs(m.Keep[i]-0.5), math.Abs(m.Keep[j]-0.5))
		})
	}
	c := &choice{pool: p, hosts: map[string]int{}, taken: map[int]bool{}, perHost: max(1, int(p.settings.PerHost*float64(n)+0.5))}
	return c.unlike(open, n)
}

// choice is a batch of pages to ask about.
type choice struct {
	pool    *Pool
	chosen  []int
	taken   map[int]bool
	hosts   map[string]int
	perHost int // that one host may have
}

// unlike takes candidates in their order, but for those that are like one that was taken, or of a host of which enough were taken. If
// there are too few others, it takes such as are like one, and in the end also of one host.
func (c *choice) unlike(open []int, n int) []int {
	near := open[:min(len(open), n*looked)]
	full := func(i int) bool { return c.hosts[c.pool.Facts[i].Host] >= c.perHost }
	c.fill(near, n, func(i int) bool { return full(i) || c.like(i) })
	c.fill(near, n, full)
	c.fill(open, n, func(int) bool { return false })
	return c.chosen
}

// fill takes candidates until there are n, but for those that are refused.
func (c *choice) fill(open []int, n int, refused func(int) bool) {
	for _, i := range open {
		if len(c.chosen) == n {
			return
		}
		if c.taken[i] || refused(i) {
			continue
		}
		c.chosen, c.taken[i] = append(c.chosen, i), true
		c.hosts[c.pool.Facts[i].Host]++
	}
}

func (c *choice) like(i int) bool {
	return slices.ContainsFunc(c.chosen, func(j int) bool { return c.pool.cosine(i, j) >= c.pool.settings.Apart })
}

// spread is a number of a URL that has nothing to do with what it is. Another seed gives another one.
func spread(url string, seed uint32) uint32 {
	h := text.Hash(url) ^ seed
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

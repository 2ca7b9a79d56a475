package focus

import (
	"container/heap"

	"github.com/muninn-archive/muninn/internal/order"
)

// Refresh is after how many pages the priorities of all waiting pages are asked for anew, of orders that learn.
const Refresh = 25

// waiting is a page that was linked to and is not fetched yet.
type waiting struct {
	page     int
	priority float64
	turn     int // of its discovery; ties are visited in order
	at       int // in the heap
	cited    []citation
}

// citation is a link: the page that it stands on, and which of its links it is.
type citation struct{ from, link int }

type frontier []*waiting

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	if f[i].priority != f[j].priority {
		return f[i].priority > f[j].priority
	}
	return f[i].turn < f[j].turn
}
func (f frontier) Swap(i, j int) {
	f[i], f[j] = f[j], f[i]
	f[i].at, f[j].at = i, j
}
func (f *frontier) Push(x any) {
	w := x.(*waiting)
	w.at = len(*f)
	*f = append(*f, w)
}
func (f *frontier) Pop() any {
	old := *f
	w := old[len(old)-1]
	*f = old[:len(old)-1]
	return w
}

// Crawl visits a corpus in an order, from seeds, until so many pages are fetched or none is left; it returns their
// numbers as they were visited. Of several links to a page the best counts.
func (c *Corpus) Crawl(o order.Order, seeds []int, budget int) (visited []int) {
	var f frontier
	known := map[int]*waiting{}
	fetched := make([]bool, len(c.Pages))
	turn := 0
	for _, s := range seeds {
		if known[s] == nil {
			known[s] = &waiting{page: s, priority: 1e9, turn: turn}
			heap.Push(&f, known[s])
			turn++
		}
	}
	learner, learns := o.(order.Learner)
	depth := map[int]int{}
	for len(visited) < budget && f.Len() > 0 {
		w := heap.Pop(&f).(*waiting)
		fetched[w.page] = true
		visited = append(visited, w.page)
		p := &c.Pages[w.page].Page
		p.Depth = depth[w.page]
		if learns {
			for _, by := range w.cited {
				from := &c.Pages[by.from]
				learner.Outcome(from.URL, &from.Links[by.link], p)
			}
		}
		priorities := o.Fetched(p)
		for i, to := range c.Pages[w.page].To {
			if to < 0 || fetched[to] {
				continue
			}
			by := citation{w.page, i}
			n := known[to]
			if n == nil {
				n = &waiting{page: to, priority: priorities[i], turn: turn, cited: []citation{by}}
				known[to], depth[to] = n, depth[w.page]+1
				turn++
				heap.Push(&f, n)
				continue
			}
			n.cited = append(n.cited, by)
			if priorities[i] > n.priority {
				n.priority = priorities[i]
				heap.Fix(&f, n.at)
			}
		}
		if learns && len(visited)%Refresh == 0 {
			for _, n := range f {
				if len(n.cited) == 0 {
					continue
				}
				n.priority = 0
				for _, by := range n.cited {
					from := &c.Pages[by.from]
					n.priority = max(n.priority, learner.Priority(from.URL, &from.Links[by.link]))
				}
			}
			heap.Init(&f)
		}
	}
	return visited
}

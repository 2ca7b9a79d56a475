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
	depth    int // links from a seed
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
func (c *Corpus) Crawl(o order.Order, seeds []int, budget int) []int {
	s := simulation{corpus: c, order: o, known: map[int]*waiting{}, fetched: make([]bool, len(c.Pages))}
	s.learner, _ = o.(order.Learner)
	for _, page := range seeds {
		if s.known[page] == nil {
			s.found(page, 1e9, 0)
		}
	}
	size := 1
	if b, is := o.(order.Batched); is {
		size = max(b.Size(), 1)
	}
	var visited []int
	for begin := 0; begin < budget && s.frontier.Len() > 0; begin = len(visited) {
		for len(visited) < begin+size && len(visited) < budget && s.frontier.Len() > 0 {
			w := heap.Pop(&s.frontier).(*waiting)
			s.fetched[w.page] = true
			visited = append(visited, w.page)
		}
		for _, page := range visited[begin:] {
			s.look(page)
		}
		if s.learner != nil && len(visited)%Refresh == 0 {
			s.refresh()
		}
	}
	return visited
}

// simulation is a crawl under way.
type simulation struct {
	corpus   *Corpus
	order    order.Order
	learner  order.Learner // the same, if it learns
	frontier frontier
	known    map[int]*waiting
	fetched  []bool
}

// found puts a page into the frontier.
func (s *simulation) found(page int, priority float64, depth int, by ...citation) {
	w := &waiting{page: page, priority: priority, turn: len(s.known), depth: depth, cited: by}
	s.known[page] = w
	heap.Push(&s.frontier, w)
}

// look shows a fetched page to the order, and takes its links into the frontier.
func (s *simulation) look(page int) {
	w, p := s.known[page], &s.corpus.Pages[page]
	p.Depth = w.depth
	if s.learner != nil {
		for _, by := range w.cited {
			from := &s.corpus.Pages[by.from]
			s.learner.Outcome(from.URL, &from.Links[by.link], &p.Page)
		}
	}
	priorities := s.order.Fetched(&p.Page)
	for i, to := range p.To {
		if to < 0 || s.fetched[to] {
			continue
		}
		by, n := citation{page, i}, s.known[to]
		if n == nil {
			s.found(to, priorities[i], w.depth+1, by)
			continue
		}
		if n.cited = append(n.cited, by); priorities[i] > n.priority {
			n.priority = priorities[i]
			heap.Fix(&s.frontier, n.at)
		}
	}
}

// refresh asks for the priorities of all waiting pages anew.
func (s *simulation) refresh() {
	for _, n := range s.frontier {
		if len(n.cited) == 0 {
			continue
		}
		n.priority = 0
		for _, by := range n.cited {
			from := &s.corpus.Pages[by.from]
			n.priority = max(n.priority, s.learner.Priority(from.URL, &from.Links[by.link]))
		}
	}
	heap.Init(&s.frontier)
}

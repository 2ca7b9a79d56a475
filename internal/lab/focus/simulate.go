package focus

import (
	"container/heap"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// Refresh is the number of pages after which an order that learns gives all waiting pages new priorities.
const Refresh = 25

// waiting is a page that has links to it and is not fetched yet.
type waiting struct {
	page     int
	priority float64
	scores   scores
	seed     bool
	turn     int          // of its discovery; ties are visited in order
	depth    int          // links from a seed
	at       int          // in the heap
	kept     [][]byte     // with the links to it, for an order that learns
	best     order.Judged // of the links to it
}

// scores has the scores of the links to a page.
type scores struct {
	n                     int
	first, last, sum, max float64
}

func (s *scores) add(x float64) {
	if s.n == 0 {
		s.first, s.max = x, x
	}
	s.n++
	s.last, s.sum, s.max = x, s.sum+x, max(s.max, x)
}

// by combines several scores into one priority (Plachouras et al. 2014, §4.4).
func (s *scores) by(update string) float64 {
	switch update {
	case crawl.UpdateFirst:
		return s.first
	case crawl.UpdateLast:
		return s.last
	case crawl.UpdateAvg:
		return s.sum / float64(max(s.n, 1))
	case crawl.UpdateSum:
		return s.sum
	}
	return s.max
}

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

// Crawl visits a corpus in an order, from seeds, until budget pages are fetched or none is left. It returns the numbers of the
// pages in the order of the visits. update combines the scores of several links to a page into one priority, as order.update of a
// definition does.
func (c *Corpus) Crawl(o order.Order, seeds []int, budget int, update string) []int {
	return c.crawl(o, seeds, budget, update, nil)
}

// crawl crawls for the task.
func (t *Task) crawl(o order.Order, update string) []int {
	var view func(page int, p *order.Page)
	if t.keywords {
		view = t.view
	}
	return t.corpus.crawl(o, t.seeds, t.budget, update, view)
}

// view adds to a page what the live crawl's analysers say of it for keywords.
func (t *Task) view(page int, p *order.Page) {
	p.Score = t.near(page)
	p.Links = slices.Clone(p.Links)
	for i := range p.Links {
		l := &p.Links[i]
		l.Hints = []order.Hint{{Name: string(crawl.PartAnchor), Value: text.Cosine(t.Topic, l.Anchor)}, {Name: string(crawl.PartParagraph), Value: text.Cosine(t.Topic, l.Around)}}
	}
}

func (c *Corpus) crawl(o order.Order, seeds []int, budget int, update string, view func(page int, p *order.Page)) []int {
	s := simulation{corpus: c, order: o, update: update, known: map[int]*waiting{}, fetched: make([]bool, len(c.Pages)), view: view}
	s.learner, _ = o.(learner)
	for _, page := range seeds {
		if s.known[page] == nil {
			s.found(page, order.Judged{Priority: 1e9}, 0).seed = true
		}
	}
	size := 1
	if b, is := o.(batched); is {
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
		if s.learner != nil && len(visited)/Refresh > begin/Refresh {
			s.refresh()
		}
	}
	return visited
}

// simulation is a crawl in progress.
type simulation struct {
	corpus   *Corpus
	order    order.Order
	learner  learner // the same, if it learns
	update   string
	frontier frontier
	known    map[int]*waiting
	fetched  []bool
	view     func(page int, p *order.Page) // adds what analysers say of a page; nil: nothing
	sharing  *sharing                      // with the other workers of the crawl; nil if it has one

	visited          int              // pages, of a crawl by several workers
	turnOwn, turnAll int              // pages of its own, and of all, at its last turn
	unsent           []learningUpdate // since then
	taken            int              // of what all have sent
}

// owner is the simulation that has a page in its frontier.
func (s *simulation) owner(page int) *simulation {
	if s.sharing == nil {
		return s
	}
	return s.sharing.owner(page)
}

// found puts a page into the frontier.
func (s *simulation) found(page int, by order.Judged, depth int) *waiting {
	w := &waiting{page: page, priority: by.Priority, turn: len(s.known), depth: depth, best: by}
	w.scores.add(by.Priority)
	s.known[page] = w
	heap.Push(&s.frontier, w)
	return w
}

// look shows a fetched page to the order, and adds its links to the frontier.
func (s *simulation) look(page int) {
	w := s.known[page]
	p := s.corpus.Pages[page].Page
	p.Depth, p.Score = w.depth, -1
	if s.view != nil {
		s.view(page, &p)
	}
	judged := s.order.Judge(&p, w.best.LinkFeatures)
	promise := 0.0
	for i, to := range s.corpus.Pages[page].To {
		if to < 0 || s.fetched[to] {
			continue
		}
		link, n := judged.Links[i], s.known[to]
		if s.learner != nil && n == nil { // what is known already, others have brought
			promise += s.learner.Expect(link.LinkFeatures)
		}
		owner := s.owner(to)
		if owner != s { // which knows other things
			link.Priority = owner.learner.Priority(link.LinkFeatures)
		}
		if n == nil {
			n = owner.found(to, link, w.depth+1)
		} else {
			owner.again(n, link)
		}
		if s.learner != nil {
			n.kept = append(n.kept, link.LinkFeatures)
		}
	}
	if s.learner != nil {
		v := order.Visit{PageFeatures: judged.PageFeatures, Worth: judged.Worth, Promise: promise, LinkFeatures: w.kept, Score: p.Score, Host: order.HostOf(p.URL)}
		s.learner.Learn(v)
		if s.sharing != nil {
			s.sharing.learned(s, v)
		}
	}
}

// again adds another link to a waiting page.
func (s *simulation) again(n *waiting, link order.Judged) {
	if link.Priority > n.best.Priority {
		n.best = link
	}
	if n.scores.add(link.Priority); n.seed { // a seed comes first, whatever links to it
		return
	}
	if priority := n.scores.by(s.update); priority != n.priority {
		n.priority = priority
		heap.Fix(&s.frontier, n.at)
	}
}

// refresh computes the priorities of all waiting pages again.
func (s *simulation) refresh() {
	for _, n := range s.frontier {
		if n.seed {
			continue
		}
		n.scores = scores{}
		for _, kept := range n.kept {
			n.scores.add(s.learner.Priority(kept))
		}
		n.priority = n.scores.by(s.update)
	}
	heap.Init(&s.frontier)
}

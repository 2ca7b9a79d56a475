package focus

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/urls"
)

// How the workers of a crawl share what their orders learn.
const (
	ShareAll      = "all"      // one learner for all, without delay: what no cluster can do
	ShareNothing  = "nothing"  // each learns from its own pages
	ShareAverages = "averages" // the states are pooled
	ShareUpdates  = "updates"  // each learns what the others have learned from
)

// Shares are the ways of sharing.
var Shares = []string{ShareAll, ShareNothing, ShareAverages, ShareUpdates}

// Learners are the workers of a crawl whose order learns. Each has the pages of some PLDs.
type Learners struct {
	Workers int    `json:"workers"`
	Share   string `json:"share"`
	Every   int    `json:"every"` // pages, of all workers together, after which they share what they have learned since
	// Turns says that the workers take turns to fetch a page; else the one whose page has the highest priority fetches the next.
	Turns bool `json:"turns,omitempty"`
}

func (l Learners) String() string {
	if l.Workers == 1 {
		return "1 worker"
	}
	if l.Share == ShareAll || l.Share == ShareNothing {
		return fmt.Sprintf("%d workers, %s", l.Workers, l.Share)
	}
	return fmt.Sprintf("%d workers, %s every %d", l.Workers, l.Share, l.Every)
}

// LearnersOf are all combinations of numbers of workers, ways of sharing and numbers of pages between; of one worker, one.
func LearnersOf(workers []int, shares []string, every []int, turns bool) (list []Learners) {
	for _, n := range workers {
		if n == 1 {
			list = append(list, Learners{Workers: 1, Share: ShareAll})
			continue
		}
		for _, share := range shares {
			if share == ShareAll || share == ShareNothing {
				list = append(list, Learners{Workers: n, Share: share, Turns: turns})
				continue
			}
			for _, pages := range every {
				list = append(list, Learners{n, share, pages, turns})
			}
		}
	}
	return list
}

// CrawlBy is Crawl by several workers. A link to a page of another worker is known to that at once.
func (c *Corpus) CrawlBy(l Learners, learner func() *order.Fused, seeds []int, budget int, update string) []int {
	known, fetched := map[int]*waiting{}, make([]bool, len(c.Pages))
	sh := &sharing{Learners: l, owners: c.divide(l.Workers)}
	for i := range l.Workers {
		if i == 0 || l.Share != ShareAll {
			sh.orders = append(sh.orders, learner())
		}
		o := sh.orders[len(sh.orders)-1]
		sh.workers = append(sh.workers, &simulation{corpus: c, order: o, learner: o, update: update, known: known, fetched: fetched, sharing: sh})
	}
	if l.Share == ShareAverages {
		sh.base = learner()
	}
	for _, page := range seeds {
		if known[page] == nil {
			sh.owner(page).found(page, order.Judged{Priority: 1e9}, 0).seed = true
		}
	}
	var visited []int
	own := make([]int, l.Workers)
	for len(visited) < budget {
		i := sh.next(len(visited))
		if i < 0 {
			break
		}
		s := sh.workers[i]
		w := heap.Pop(&s.frontier).(*waiting)
		fetched[w.page] = true
		visited = append(visited, w.page)
		s.look(w.page)
		if own[i]++; own[i]%Refresh == 0 {
			s.refresh()
		}
		if len(visited)%max(l.Every, 1) == 0 {
			sh.exchange()
		}
	}
	return visited
}

// next is the worker that fetches the next page: the next one that has any, in turn, or the one whose page has the highest priority; −1 if
// no page waits.
func (sh *sharing) next(visited int) int {
	best := -1
	for k := range sh.workers {
		i := (visited + k) % len(sh.workers)
		if f := sh.workers[i].frontier; len(f) > 0 && (best < 0 || f[0].priority > sh.workers[best].frontier[0].priority) {
			if best = i; sh.Turns {
				break
			}
		}
	}
	return best
}

// sharing is what the workers of a crawl have in common.
type sharing struct {
	Learners
	owners  []int // of pages
	workers []*simulation
	orders  []*order.Fused   // of the workers; one if they share all
	base    *order.Fused     // what all knew when they shared last
	updates []learningUpdate // since then
}

type learningUpdate struct {
	by    *simulation
	visit order.Visit
}

func (sh *sharing) owner(page int) *simulation { return sh.workers[sh.owners[page]] }

func (sh *sharing) learned(by *simulation, v order.Visit) {
	if sh.Share == ShareUpdates {
		sh.updates = append(sh.updates, learningUpdate{by, v})
	}
}

// exchange shares what was learned since the last exchange.
func (sh *sharing) exchange() {
	for _, l := range sh.updates {
		for _, s := range sh.workers {
			if s != l.by {
				s.learner.Learn(l.visit)
			}
		}
	}
	sh.updates = nil
	if sh.Share == ShareAverages {
		sh.base = order.Pool(sh.base, sh.orders)
		for _, o := range sh.orders {
			o.Become(sh.base)
		}
	}
}

// divide gives each worker PLDs: the largest first, to the worker that has the fewest pages.
func (c *Corpus) divide(workers int) (owners []int) {
	pages := map[string]int{}
	plds := make([]string, len(c.Pages))
	for i := range c.Pages {
		plds[i] = urls.PLD(urls.HostOf(c.Pages[i].URL))
		pages[plds[i]]++
	}
	has, of := make([]int, workers), map[string]int{}
	for _, pld := range slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		return cmp.Or(cmp.Compare(pages[b], pages[a]), cmp.Compare(a, b))
	}) {
		least := slices.Index(has, slices.Min(has))
		of[pld] = least
		has[least] += pages[pld]
	}
	for _, pld := range plds {
		owners = append(owners, of[pld])
	}
	return owners
}

package focus

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/share"
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
	// Every is after how many pages, of all workers together, they share what they have learned since. AsCrawls: each sends and takes updates by
	// itself when the workers of a spread crawl do, if all fetch equally fast.
	Every int `json:"every"`
	// Turns says that the workers take turns to fetch a page; else the one whose page has the highest priority fetches the next.
	Turns bool `json:"turns,omitempty"`
}

// AsCrawls is the Every of spread crawls.
const AsCrawls = 0

func (l Learners) String() string {
	if l.Workers == 1 {
		return "1 worker"
	}
	if l.Share == ShareAll || l.Share == ShareNothing {
		return fmt.Sprintf("%d workers, %s", l.Workers, l.Share)
	}
	if l.Every == AsCrawls {
		return fmt.Sprintf("%d workers, %s as crawls do", l.Workers, l.Share)
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
				if pages == AsCrawls && share != ShareUpdates {
					continue
				}
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
		s.visited++
		if len(visited)%Refresh == 0 { // a worker that fetches little has to know where its pages stand, too
			for _, w := range sh.workers {
				w.refresh()
			}
		}
		if l.Every == AsCrawls {
			sh.takeTurns(len(visited))
		} else if len(visited)%l.Every == 0 {
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
	sent    []learningUpdate // in turns, by all
}

type learningUpdate struct {
	by    *simulation
	visit order.Visit
}

func (sh *sharing) owner(page int) *simulation { return sh.workers[sh.owners[page]] }

func (sh *sharing) learned(by *simulation, v order.Visit) {
	if l := (learningUpdate{by, v}); sh.Share == ShareUpdates && sh.Every == AsCrawls {
		if by.visited%share.LearnEach(int64(by.visited), sh.Workers) == 0 {
			by.unsent = append(by.unsent, l)
		}
	} else if sh.Share == ShareUpdates {
		sh.updates = append(sh.updates, l)
	}
}

// takeTurns has each worker send and take updates whose turn it is.
func (sh *sharing) takeTurns(visited int) {
	for _, s := range sh.workers {
		own := share.LearnEvery(int64(s.visited), share.DefaultLearnEvery)
		fair := share.LearnEvery(int64(visited/sh.Workers), share.DefaultLearnEvery) // in that time each worker fetches so many
		if int64(s.visited-s.turnOwn) < own && int64(visited-s.turnAll) < fair*int64(sh.Workers) {
			continue
		}
		s.turnOwn, s.turnAll = s.visited, visited
		sh.sent = append(sh.sent, s.unsent...)
		for _, l := range sh.sent[s.taken:] {
			if l.by != s {
				s.learner.Learn(l.visit)
			}
		}
		s.unsent, s.taken = nil, len(sh.sent)
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

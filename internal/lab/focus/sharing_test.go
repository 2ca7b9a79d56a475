package focus

import (
	"fmt"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// spread is a web of some sites; each page links to the next one of its site and to one of the next site.
func spread(sites, pages int) *Corpus {
	c := &Corpus{index: map[string]int{}}
	for s := range sites {
		for p := range pages {
			page := Page{Page: order.Page{URL: fmt.Sprintf("http://www.site%d.test/%d", s, p)}}
			for _, to := range []int{s*pages + (p+1)%pages, (s+1)%sites*pages + p} {
				page.To = append(page.To, to)
				page.Links = append(page.Links, order.Link{URL: fmt.Sprintf("http://www.site%d.test/%d", to/pages, to%pages)})
			}
			c.index[page.URL] = len(c.Pages)
			c.Pages = append(c.Pages, page)
		}
	}
	return c
}

func fresh() *order.Fused { return order.NewFused(nil, order.DefaultSettings()) }

// TestCrawlBy: several workers fetch each page once, and only the pages of their PLDs; one worker crawls as without them.
func TestCrawlBy(t *testing.T) {
	c := spread(8, 12)
	alone := c.Crawl(fresh(), []int{0}, 96, crawl.UpdateMax)
	for _, l := range LearnersOf([]int{1, 3, 9}, Shares, []int{40, AsCrawls}, false) {
		for _, l.Turns = range []bool{false, true} {
			got := c.CrawlBy(l, fresh, []int{0}, 96, crawl.UpdateMax)
			if l.Workers == 1 && !slices.Equal(got, alone) {
				t.Errorf("%v: %v, want %v", l, got, alone)
			}
			if slices.Sort(got); len(slices.Compact(got)) != 96 {
				t.Errorf("%v: %d pages are fetched, want each of 96 once", l, len(got))
			}
		}
	}
	if got := c.CrawlBy(Learners{Workers: 2, Share: ShareNothing, Turns: true}, fresh, []int{0}, 40, crawl.UpdateMax); len(got) != 40 {
		t.Errorf("%d pages are fetched, want 40", len(got))
	}
}

// TestDivide: PLDs stay whole, and the workers have about as many pages.
func TestDivide(t *testing.T) {
	c := spread(8, 12)
	for _, workers := range []int{1, 2, 4, 8} {
		has, owner := make([]int, workers), map[int]int{}
		for page, w := range c.divide(workers) {
			has[w]++
			if was, known := owner[page/12]; known && was != w {
				t.Errorf("%d workers: site %d is divided", workers, page/12)
			}
			owner[page/12] = w
		}
		for w, n := range has {
			if n != 96/workers {
				t.Errorf("worker %d of %d has %d pages", w, workers, n)
			}
		}
	}
}

// TestExchange: a learning update teaches each other worker once, at the next exchange; averages make all know the same.
func TestExchange(t *testing.T) {
	c := spread(2, 4)
	kept := fresh().Judge(&c.Pages[0].Page, nil).Links[0].LinkFeatures
	visit := order.Visit{Worth: 1, LinkFeatures: [][]byte{kept}}
	for _, share := range []string{ShareUpdates, ShareAverages} {
		a, b := fresh(), fresh()
		s := &simulation{learner: a}
		sh := &sharing{Learners: Learners{Workers: 2, Share: share, Every: 100}, orders: []*order.Fused{a, b}, workers: []*simulation{s, {learner: b}}, base: fresh()}
		before := b.Expect(kept)
		for range 20 {
			a.Learn(visit)
			sh.learned(s, visit)
		}
		if b.Expect(kept) != before {
			t.Errorf("%s: the other has learned before the exchange", share)
		}
		sh.exchange()
		if d := a.Expect(kept) - b.Expect(kept); a.Expect(kept) <= before || d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v and %v after the exchange, %v before", share, a.Expect(kept), b.Expect(kept), before)
		}
		after := b.Expect(kept)
		if sh.exchange(); b.Expect(kept) != after {
			t.Errorf("%s: an exchange of nothing teaches", share)
		}
	}
}

// TestTakeTurns: a worker sends and takes when it has fetched some pages, or when the others have; each update teaches each other worker once.
func TestTakeTurns(t *testing.T) {
	c := spread(2, 4)
	kept := fresh().Judge(&c.Pages[0].Page, nil).Links[0].LinkFeatures
	visit := order.Visit{Worth: 1, LinkFeatures: [][]byte{kept}}
	a, b := &simulation{learner: fresh()}, &simulation{learner: fresh()}
	sh := &sharing{Learners: Learners{Workers: 2, Share: ShareUpdates, Every: AsCrawls}, workers: []*simulation{a, b}}
	before, visited := b.learner.Expect(kept), 0
	fetch := func(n int) {
		for range n {
			a.learner.Learn(visit)
			sh.learned(a, visit)
			a.visited++
			visited++
			sh.takeTurns(visited)
		}
	}
	if fetch(9); b.learner.Expect(kept) != before {
		t.Error("the other one has taken before its turn")
	}
	fetch(1)
	once := fresh()
	for range 10 {
		once.Learn(visit)
	}
	if got := b.learner.Expect(kept); got != once.Expect(kept) {
		t.Errorf("%v after its turn, want %v", got, once.Expect(kept))
	}
}

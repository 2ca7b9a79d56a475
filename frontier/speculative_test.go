package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// guessed are what a page probably needs.
func guessed(page string, list ...string) []crawl.Discovery {
	found := embedded(page, list...)
	for i := range found {
		found[i].Path = "SLX"
	}
	return found
}

// TestSpeculative: what pages probably need counts in no budget of pages and requests, of the crawl and of its PLD, in progress, fetched, tried again and redirected. It is claimed
// with pages only: none when these budgets are spent.
func TestSpeculative(t *testing.T) {
	for name, edit := range map[string]func(*crawl.Definition){
		"of the crawl": func(d *crawl.Definition) { d.Budget.Pages, d.Budget.Requests = 4, 4 },
		"of the PLD":   func(d *crawl.Definition) { d.Budget.PerPLD = 4 },
	} {
		r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 3; edit(d) })
		r.submit("links", found(0.5, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4", "http://a.example/5")...)
		var early, late []string
		for i := range 9 {
			early, late = append(early, fmt.Sprintf("http://a.example/early%d.png", i)), append(late, fmt.Sprintf("http://a.example/late%d.png", i))
		}
		for i, d := range guessed("http://a.example/0", append(early, late...)...) {
			d.Score = 0.9
			if i >= len(early) {
				d.Score = 0.1
			}
			if i == 0 {
				d.Path += "R"
			}
			r.submit(d.URL, d)
		}
		var asked []string
		for i := 0; ; i++ {
			round := r.next()
			if r.confirm(round); round.Spent != "" || round.Drained || i > 30 {
				break
			}
			if len(round.Claims) == 0 {
				continue
			}
			if n := r.pagesInProgress(); i < 3 && n != 0 { // the scores of the first nine are better than those of pages
				t.Errorf("%s, round %d: %d URLs count as pages in progress", name, i, n)
			}
			batch := r.start(round.Claims...)
			lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
			r.must(err)
			asked = append(asked, targets(lanes...)...)
			r.finish(batch, lanes)
		}
		pages := slices.DeleteFunc(slices.Clone(asked), func(u string) bool { return strings.HasSuffix(u, ".png") })
		n := r.status().Totals
		if len(pages) != 4 || n.Pages != 4 || n.Requests != 4 || n.New != 4 || n.Requisites != 0 || n.Speculative != 18 || n.SpeculativeArchived != int64(len(asked))-4 || n.SpeculativeBytes != 1000*n.SpeculativeArchived {
			t.Errorf("%s: %q, %+v", name, asked, n)
		}
		if n.SpeculativeArchived < 9 || n.SpeculativeArchived > 11 { // the last claim may have some behind its page
			t.Errorf("%s: %q are fetched of what scripts name", name, asked)
		}
	}
}

// pagesInProgress counts the URLs in progress that may become pages.
func (r *rig) pagesInProgress() int {
	r.Frontier.mu.Lock()
	defer r.Frontier.mu.Unlock()
	s, err := r.Frontier.get(testCrawl)
	r.must(err)
	return s.claims.Pages()
}

// TestBudgetOfSpeculative: what pages probably need has what their requisites leave of the budget; it takes nothing from these, and is not counted as left out. What is found to
// be needed for sure becomes a requisite.
func TestBudgetOfSpeculative(t *testing.T) {
	for _, c := range []struct {
		most                    int64
		bytes                   crawl.Bytes
		requisites, speculative int64
	}{{0, 0, 0, 0}, {2, 0, 4, 1}, {100, 1, 2, 0}, {100, 0, 5, 4}} {
		r := newRig(t, func(d *crawl.Definition) { d.Budget.Requisites, d.Budget.RequisiteBytes = &c.most, c.bytes })
		page := "http://a.example/1"
		r.submit("links", found(0.9, page)...)
		batch, lanes := r.take()
		r.finish(batch, lanes, embedded(page, page+".css", page+".png")...)
		if batch, lanes = r.take(); batch != "" {
			r.finish(batch, lanes)
		}
		r.submit("guesses", guessed(page, page+"a.png", page+"b.png", page+"c.png", page+"d.png", page+"e.png")...)
		r.submit("again", guessed(page, page+"a.png")...)
		r.submit("more", embedded(page, page+".js", page+"a.png", page+".gif")...)
		if n := r.status().Totals; n.Requisites != c.requisites || n.Speculative != c.speculative || n.Requisites+n.RequisitesCut != 5 {
			t.Errorf("%d, %d: %+v", c.most, c.bytes, n)
		}
	}
}

package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// hosts of a web on which all links look alike: the pages of the poor one have nothing of the topic.
const goodHosts, hostLinks, poorHost = 4, 200, "poor.example"

// rounds crawls the web until a round claims nothing, a second a round, and counts the pages by host. look is called after each claim.
func rounds(k *kinds, look func(round int)) map[string]int {
	return roundsOf(k, look, func(pld string, _ int) float64 {
		if pld == poorHost {
			return 0.05
		}
		return 0.9
	})
}

// roundsOf is rounds on a web whose pages are worth what worth says of their host, which has given so many.
func roundsOf(k *kinds, look func(round int), worthOf func(pld string, pages int) float64) map[string]int {
	pages := map[string]int{}
	for n := 1; ; n++ {
		batch, lanes := k.take()
		if len(lanes) == 0 {
			return pages
		}
		if look != nil {
			look(n)
		}
		k.clock.now = k.clock.now.Add(time.Second)
		c := Commit{Batch: batch}
		for _, url := range targets(lanes...) {
			u, err := urls.Parse(url)
			k.must(err)
			worth := worthOf(u.PLD(), pages[u.PLD()])
			pages[u.PLD()]++
			o := visited(url, worth)
			o.Score = worth
			c.Outcomes = append(c.Outcomes, o)
		}
		for _, l := range lanes {
			k.must(k.endLane(l.ID, k.clock.Now(), false))
		}
		k.must(k.Commit(c))
	}
}

func priced(t *testing.T, edit func(*crawl.Definition)) *kinds {
	k := &kinds{rig: newRig(t, func(d *crawl.Definition) {
		ofRavens(d)
		d.Seeds, d.Order.PerQueue = nil, 10
		edit(d)
	})}
	for i := range goodHosts {
		k.submit(fmt.Sprint("good ", i), linksOf(fmt.Sprintf("good%d.example", i))...)
	}
	k.submit("poor", linksOf(poorHost)...)
	return k
}

func linksOf(host string) []crawl.Discovery {
	var list []string
	for i := range hostLinks {
		list = append(list, fmt.Sprintf("http://%s/%d", host, i))
	}
	return found(0.5, list...)
}

// TestReserve: with a budget of pages that the good hosts fill, the poor one gives the pages by which it becomes known and waits, also after a restart; Explain and Status say so.
func TestReserve(t *testing.T) {
	for _, restart := range []bool{false, true} {
		k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 500 })
		held := 0
		pages := rounds(k, func(n int) {
			if restart && n == 8 {
				k.reopen()
				return
			}
			u, err := urls.Parse("http://" + poorHost + "/150")
			k.must(err)
			e, err := k.URLs().Explain(u)
			k.must(err)
			if s := k.status(); (s.Reserve != nil) != e.Held || e.Held && (s.Reserve.Held != 1 || *e.Worth >= *e.Price || s.Reserve.Price != *e.Price) {
				t.Fatalf("%+v, of %s: %+v", s.Reserve, u, e)
			}
			if e.Held {
				held++
			}
		})
		if total := pages[poorHost] + k.pagesOfGood(pages); total != 500 {
			t.Fatalf("%d pages", total)
		}
		if n := pages[poorHost]; n < 3 || n > 30 {
			t.Errorf("restart %v: %d of 500 pages are of the poor host: %v", restart, n, pages)
		}
		if held == 0 {
			t.Errorf("restart %v: nobody says that the poor host waits", restart)
		}
	}
}

func (k *kinds) pagesOfGood(pages map[string]int) (n int) {
	for i := range goodHosts {
		n += pages[fmt.Sprintf("good%d.example", i)]
	}
	return n
}

// TestReserveEnds: where the good hosts do not fill the budget, nothing is left out; nor with an order that does not learn, while the reference crawl explores, and where time runs out before
// the budget of pages: there the poor host gives as many pages as it can.
func TestReserveEnds(t *testing.T) {
	all := (goodHosts + 1) * hostLinks
	for name, c := range map[string]struct {
		edit  func(*crawl.Definition)
		pages int
		poor  int // at least
	}{
		"all fit":       {func(d *crawl.Definition) { d.Budget.Pages = 2000 }, all, hostLinks},
		"nearly all":    {func(d *crawl.Definition) { d.Budget.Pages = int64(all) - 50 }, all - 50, hostLinks - 50},
		"breadth-first": {func(d *crawl.Definition) { d.Budget.Pages, d.Order.Strategy = 500, crawl.StrategyBreadth }, 500, 90},
		"time is short": {func(d *crawl.Definition) { d.Budget.Pages, d.Budget.Time = 500, crawl.Duration(5*time.Second) }, 0, 30},
	} {
		k := priced(t, c.edit)
		pages := rounds(k, nil)
		if total := pages[poorHost] + k.pagesOfGood(pages); c.pages > 0 && total != c.pages {
			t.Errorf("%s: %d pages, want %d", name, total, c.pages)
		}
		if pages[poorHost] < c.poor {
			t.Errorf("%s: %d pages of the poor host, want %d: %v", name, pages[poorHost], c.poor, pages)
		}
	}
}

// TestReserveLate: a host whose pages are poor at first and whose later section is of the topic is found: where the good hosts do not fill the budget, it is claimed from again, and from then on the poor one gives way to
// it, as far as that costs little time.
func TestReserveLate(t *testing.T) {
	const late, from = "late.example", 25
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = goodHosts*hostLinks + 250 })
	k.submit("late", linksOf(late)...)
	pages := roundsOf(k, nil, func(pld string, n int) float64 {
		if pld == poorHost || pld == late && n < from {
			return 0.05
		}
		return 0.9
	})
	if good := k.pagesOfGood(pages); good != goodHosts*hostLinks {
		t.Errorf("%d pages of the good hosts: %v", good, pages)
	}
	if pages[late] < 2*from || pages[late] <= pages[poorHost]+5 { // as many of each without a price
		t.Errorf("%d pages of the host with a late section, %d of the poor one: %v", pages[late], pages[poorHost], pages)
	}
}

// TestReserveTime: a host that waits costs a bounded time: what stands idle for it is at most a part of what is busy.
func TestReserveTime(t *testing.T) {
	var r reserve
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.pass(now)
	idle, busy := 0.0, 0.0
	for range 1000 {
		lanes, held := 4, 5 // four good hosts, five poor ones, eight lanes
		for held > 0 && r.spends(lanes, 8-lanes, held) {
			lanes, held = lanes+1, held-1
		}
		r.stand(lanes, 8-lanes, held)
		if ends := r.ends(); !ends.After(now) {
			t.Fatalf("it looks again at %v, at %v", ends, now)
		}
		now = now.Add(time.Second)
		idle, busy = idle+float64(min(8-lanes, held)), busy+float64(lanes)
		r.pass(now)
	}
	if part := idle / busy; part > reservePart+0.05 || part < reservePart/2 {
		t.Errorf("lanes stand idle for %.2f of the time for which others are busy", part)
	}
}

func (k *kinds) queueNamed(name string) *queue.Queue {
	for _, q := range k.crawls[testCrawl].queues {
		if q.Name == name {
			return q
		}
	}
	k.t.Fatalf("no queue of %s", name)
	return nil
}

// TestReserveLoaded: a crawl that is loaded grades its queues before the first claim.
func TestReserveLoaded(t *testing.T) {
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 500 })
	rounds(k, func(n int) {
		if n != 8 {
			return
		}
		k.reopen()
		if good, poor := k.queueNamed("good0.example").Grade(), k.queueNamed(poorHost).Grade(); poor <= good {
			t.Errorf("after a restart the good host is of grade %d, the poor one of %d", good, poor)
		}
	})
}

// TestReserveRegrades: a queue whose grade is out of date does not end the claims of a round: it is graded again. Claims that wait for their lease are no busy lanes.
func TestReserveRegrades(t *testing.T) {
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 500 })
	rounds(k, func(n int) {
		if n != 8 {
			return
		}
		s := k.crawls[testCrawl]
		k.submit("more", linksOf("good9.example")...)
		poor, q := k.queueNamed(poorHost), k.queueNamed("good9.example")
		poor.Next, q.Done = k.clock.now.Add(time.Hour), poor.Done
		s.schedule.Place(poor, k.clock.now)
		s.schedule.Place(q, k.clock.now)
		was := q.Grade()
		q.Done = k.queueNamed("good0.example").Done
		round := k.next()
		if len(round.Claims) != 1 || round.Claims[0].PLD != "good9.example" {
			t.Errorf("a queue that was of grade %d gives way to others: %+v", was, round.Claims)
		}
		k.next()
		if s.reserve.lanes != goodHosts {
			t.Errorf("%d lanes are busy, want %d", s.reserve.lanes, goodHosts)
		}
		k.start(round.Claims...)
	})
}

// TestUnjudgedHost: a host whose answers nobody judges is known by its answers, too: a claim takes more of it than of one that has given none.
func TestUnjudgedHost(t *testing.T) {
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 2000 })
	rounds(k, func(n int) {
		if n != 8 {
			return
		}
		for name, given := range map[string]int64{"new.example": 0, "images.example": 10} {
			k.submit(name, linksOf(name)...)
			k.queueNamed(name).Done = queue.Tally{Pages: given, Requests: given}
			claim := k.one()
			if want := max(int(given), queue.Probes); claim.PLD != name || len(claim.URLs) != want {
				t.Errorf("%d URLs of %s, want %d of %s", len(claim.URLs), claim.PLD, want, name)
			}
			k.start(claim)
		}
	})
}

// TestExplainPrice: Explain has a price once hosts are compared, of a host that is not known, too; before the first round of a process nothing is held.
func TestExplainPrice(t *testing.T) {
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 500 })
	if e := k.why("http://" + poorHost + "/150"); e.Worth != nil || e.Price != nil || e.Held {
		t.Errorf("before hosts are compared: %+v", e)
	}
	rounds(k, func(n int) {
		if n != 8 {
			return
		}
		k.submit("new", linksOf("new.example")...)
		if e := k.why("http://new.example/150"); e.Worth == nil || e.Price == nil || e.Judged != 0 {
			t.Errorf("a host that is not known: %+v", e)
		}
		k.reopen()
		if e := k.why("http://" + poorHost + "/150"); e.Worth == nil || e.Held || *e.Price != 0 {
			t.Errorf("before the first round: %+v", e)
		}
	})
}

// TestShare: the price of a worker of a spread crawl goes by its share of the budget, not by what is allotted to it for now.
func TestShare(t *testing.T) {
	k := priced(t, func(d *crawl.Definition) { d.Budget.Pages = 4000 })
	s := k.crawls[testCrawl]
	for _, c := range []struct {
		shared     *Shared
		room, want int64
	}{{nil, 50, 50}, {&Shared{Members: 4}, 50, 1000}, {&Shared{Members: 4}, 2000, 2000}, {&Shared{Members: 4}, 0, 0}, {&Shared{}, 50, 0}} {
		if got := s.share(c.shared, c.room); got != c.want {
			t.Errorf("a share of %d, want %d: %+v", got, c.want, c)
		}
	}
}

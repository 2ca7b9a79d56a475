package queue

import (
	"math"
	"testing"
	"time"
)

// host is a queue with entries that wait, at a part of the scale of priorities, and judged pages of a worth.
type host struct {
	waiting  int
	priority float64
	judged   int
	worth    float64
}

// trade is a schedule of such queues, after pages whose worth was that of their host.
func trade(list ...host) (s *Schedule, queues []*Queue) {
	s = NewSchedule()
	var o Outcomes
	for range 100 {
		o.Learn(Tally{Judged: 50, Worth: 0.9}, 1<<15, 0.9)
		o.Learn(Tally{Judged: 50, Worth: 0.1}, 1<<15, 0.1)
	}
	for i, x := range list {
		q := New(uint64(i + 1))
		q.Costly = true
		for k := range x.waiting {
			q.Add(Position{Priority: uint16(x.priority * math.MaxUint16), Counter: uint64(k)})
		}
		for range x.judged {
			q.Done.Judge(x.worth)
		}
		q.Done.Pages = q.Done.Judged
		queues = append(queues, q)
	}
	for range 2 { // hosts are compared once all are known
		s.Know(o)
		for _, q := range queues {
			s.Place(q, start)
		}
	}
	return s, queues
}

// With room for fewer pages than the good host has, the poor one waits, and one that is not known gives way to the good one alone. Where the good host does not fill the room, all are of use.
func TestPrice(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{300, 0.5, 30, 0.1}, host{10, 0.5, 0, 0})
	good, poor, unknown := q[0], q[1], q[2]
	price := s.Price(100)
	if good.Below(price) || !poor.Below(price) || s.Held(price) < 1 {
		t.Errorf("price %d; the good queue is of grade %d, the poor one %d; %d are held", price, good.Grade(), poor.Grade(), s.Held(price))
	}
	if unknown.Grade() < good.Grade() || unknown.Grade() >= poor.Grade() {
		t.Errorf("a queue of which nothing is known is of grade %d, not from %d to below %d", unknown.Grade(), good.Grade(), poor.Grade())
	}
	if first := s.Pop(start); first != good {
		t.Errorf("queue %d is first", first.PLD)
	}
	s.Place(good, start)
	if price := s.Price(100_000); price != Any || s.Held(price) != 0 {
		t.Errorf("price %d with room for all", price)
	}
	if price := s.Price(0); price != Any {
		t.Errorf("price %d without room", price)
	}
}

// Requisites, what somebody has named, and queues that are stopped have no price.
func TestPriceIsNotForAll(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{10, 0.5, 30, 0.1}, host{10, 0.99, 30, 0.1}, host{10, 1, 30, 0.1}, host{10, 0.5, 30, 0.1})
	q[4].Stopped = true
	s.Place(q[4], start)
	price := s.Price(100)
	for i, want := range []bool{false, true, false, false, false} {
		if got := q[i].Below(price); got != want {
			t.Errorf("queue %d, grade %d of %d, waits: %v", i, q[i].Grade(), price, got)
		}
	}
}

// What somebody has named of a poor host is claimed before queues that are held back, and does not make the rest of the host count as good.
func TestNamedComesFirst(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{10, 0.5, 30, 0.3}, host{10, 0.91, 90, 0})
	price := s.Price(100)
	if held := s.Held(price); held != 1 || q[2].Grade() <= q[1].Grade() {
		t.Errorf("%d are held; the host of what is named is of grade %d, that of the other %d", held, q[2].Grade(), q[1].Grade())
	}
	s.Pop(start)
	s.Pop(start)
	if last := s.Pop(start); last != q[1] {
		t.Errorf("queue %d stands behind the held one", last.PLD)
	}
}

// A claim takes no more of a host than it can lose: few URLs of one that ten pages speak for beside a better one, as many as were answered of one that is surely good, of one that nobody judges, and of one whose URL somebody has
// named. Where hosts are alike, there is no bound.
func TestTrial(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{300, 0.5, 15, 0.1}, host{300, 0.5, 10, 0.95}, host{300, 0.5, 0, 0})
	q[3].Done.Requests = 30
	price := s.Price(100)
	if q[2].Below(price) {
		t.Fatalf("price %d; the host that is hardly known is of grade %d", price, q[2].Grade())
	}
	good, poor, hardly, unjudged := s.Trial(q[0], price, math.MaxInt64), s.Trial(q[1], price, math.MaxInt64), s.Trial(q[2], price, math.MaxInt64), s.Trial(q[3], price, math.MaxInt64)
	if hardly < Probes || hardly >= 10 || good != 60 {
		t.Errorf("%d pages of the good host, %d of the one that is hardly known", good, hardly)
	}
	if poor != Probes || unjudged != 30 {
		t.Errorf("%d pages of the poor host, %d of the one that nobody judges", poor, unjudged)
	}
	if got := s.Trial(q[2], Any, math.MaxInt64); got < Probes || got >= 10 {
		t.Errorf("%d pages of the host that is hardly known while there is no price", got)
	}
	if got := s.Trial(q[0], price, 20); got != 20 {
		t.Errorf("%d pages of the good host where a claim takes 20", got)
	}
	q[2].Best.Priority = strong
	if got := s.Trial(q[2], price, math.MaxInt64); got != 10 {
		t.Errorf("%d pages of the host that is hardly known, whose best URL somebody has named", got)
	}
	if s, q := trade(host{300, 0.5, 60, 0.5}, host{300, 0.6, 60, 0.5}); s.Trial(q[0], Any, math.MaxInt64) != math.MaxInt64 {
		t.Errorf("%d pages of a host that is like all others", s.Trial(q[0], Any, math.MaxInt64))
	}
}

// A queue is stale once another grade would be its own.
func TestStale(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{10, 0.5, 30, 0.1})
	if s.Stale(q[1]) {
		t.Error("a queue that was placed by what is known is stale")
	}
	for range 60 {
		q[1].Done.Judge(0.9)
	}
	if !s.Stale(q[1]) {
		t.Error("a queue whose pages are good now is not stale")
	}
	s.Place(q[1], start)
	if s.Stale(q[1]) {
		t.Error("a queue that was placed again is stale")
	}
}

// Hosts that are alike have no price, nor those of which little is known: then priorities alone decide.
func TestNoPrice(t *testing.T) {
	for name, list := range map[string][]host{
		"alike":        {{300, 0.5, 60, 0.5}, {300, 0.6, 60, 0.5}},
		"hardly known": {{300, 0.5, 10, 0.9}, {300, 0.6, 9, 0.1}},
	} {
		s, q := trade(list...)
		if s.Apart() || s.Price(100) != Any || s.Pop(start) != q[1] {
			t.Errorf("%s: price %d", name, s.Price(100))
		}
	}
}

// What the market knows follows queues that change, and is nothing once they are gone.
func TestMarketFollows(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{300, 0.5, 30, 0.1})
	price := s.Price(100)
	q[0].Next = start.Add(time.Minute)
	s.Place(q[0], start)
	if got := s.Price(100); got != price {
		t.Errorf("price %d while the good host rests, %d before", got, price)
	}
	q[0].Paused = true
	s.Place(q[0], start)
	if got := s.Price(100); q[1].Below(got) {
		t.Errorf("price %d, though nothing better can be claimed", got)
	}
	for _, x := range q {
		x.Paused, x.Next = false, time.Time{}
		x.Leave(x.Waiting, 0)
		s.Place(x, start)
	}
	for s.PopIdle(0, start) != nil {
	}
	if s.supply != [grades]supply{} || s.hosts != [steps]int{} || s.pages != [steps]int{} || s.judged != 0 {
		t.Errorf("nothing is left, and %+v", s.market)
	}
}

// What the budget of a good host leaves out, and what rests beyond the end of the run, fills no room.
func TestSupplyIsOfUse(t *testing.T) {
	for name, edit := range map[string]func(s *Schedule, good *Queue){
		"budget": func(_ *Schedule, good *Queue) { good.Limit(20) },
		"rest": func(s *Schedule, good *Queue) {
			s.Ends(start.Add(time.Hour))
			good.Rest = start.Add(2 * time.Hour)
		},
	} {
		s, q := trade(host{300, 0.5, 60, 0.9}, host{300, 0.5, 30, 0.1})
		if !q[1].Below(s.Price(100)) {
			t.Fatal("the poor host is not below the price")
		}
		edit(s, q[0])
		s.Place(q[0], start)
		if price := s.Price(100); q[1].Below(price) {
			t.Errorf("%s: price %d, though the good host does not fill the room", name, price)
		}
	}
}

// A queue that is dropped is out of the market.
func TestDrop(t *testing.T) {
	s, q := trade(host{300, 0.5, 60, 0.9}, host{300, 0.5, 30, 0.1})
	for _, x := range q {
		s.Drop(x)
	}
	if s.supply != [grades]supply{} || s.hosts != [steps]int{} || s.pages != [steps]int{} || s.judged != 0 || s.Claimable() != 0 {
		t.Errorf("nothing is left, and %+v", s.market)
	}
}

// A worth that is no number changes nothing.
func TestNoNumber(t *testing.T) {
	var o Outcomes
	var tally Tally
	tally.Judge(0.5)
	o.Learn(tally, 1<<15, 0.5)
	same, was := o, tally
	tally.Judge(math.NaN())
	o.Learn(tally, 1<<15, math.NaN())
	if o != same || tally != was {
		t.Errorf("%+v, %+v", o, tally)
	}
}

// The regression finds out which of the two says what a page is worth, and takes nothing for a reason against a page.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		worth          func(host, priority float64) float64
		host, priority float64 // slopes
	}{
		"hosts":      {func(h, _ float64) float64 { return h }, 1, 0},
		"priorities": {func(_, p float64) float64 { return p }, 0, 1},
		"neither":    {func(_, _ float64) float64 { return 0.5 }, 0, 0},
		"against":    {func(h, p float64) float64 { return h * (1 - p) }, 0.5, 0},
	} {
		var o Outcomes
		for i := range 600 {
			h, p := float64(i%11)/10, float64(i%7)/6
			o.Learn(Tally{Judged: 1000, Worth: h}, Priority(p, false), c.worth(h, p))
		}
		l := o.fit()
		if math.Abs(l.host-c.host) > 0.2 || math.Abs(l.priority-c.priority) > 0.2 || l.host < 0 || l.priority < 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if l := (&Outcomes{}).fit(); l.host != 0.5 || l.priority != 0.5 {
		t.Errorf("nothing is known: %+v", l)
	}
}

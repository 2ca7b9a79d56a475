package queue

import (
	"math"
	"time"
)

// A budget of pages buys what is best, not what is ready: the market grades the queues by what their next pages may be worth, and a crawl claims of none below its price. Priorities alone do
// not say it: they rank the links of a host well, and differ little between hosts.

const (
	// Probes is how many URLs a claim of a queue takes before its host is known, while hosts differ; later at most as many as it has answered, see Trial.
	Probes = 3
	// pricedFrom is from how many judged pages on hosts are compared; before, nothing is known of them.
	pricedFrom = 20
	// leastApart is by how much worth pages of the best and of the worst hosts must differ, for queues to be graded.
	leastApart = 0.04
	// lastPages is how many pages a host's worth is the mean of, roughly; knownPages of each host count for what hosts are like.
	lastPages, knownPages = 20, 10
	// lowPart and highPart are the quantiles of hosts, and of pages by their hosts, that are the worst and the best.
	lowPart, highPart = 0.1, 0.9
	// strong is the priority from which on a URL is not held back whatever its host is: what somebody has named.
	strong = best / 10 * 9
	// steps divide the worth of hosts.
	steps = 64
)

// Grade is what the next page of a queue may well be worth beside one of the best hosts: 0 is at least .92 of it, and each grade so much of the one before. Of steps as wide as 1/√2, half of the
// hosts would be of the best grade, and fill a budget by themselves.
type Grade int8

// Any is the last grade: as a price, that of which all queues are.
const Any Grade = grades - 1

const grades, gradesToHalf = 40, 8

// sure is the grade that a queue must have left while nothing waits for a price, see Trial.
const sure Grade = 2

// Worth is the least worth of a grade, as a part of that of the best hosts, in [0,1].
func (g Grade) Worth() float64 {
	if g >= Any {
		return 0
	}
	return math.Exp2(-float64(g+1) / gradesToHalf)
}

func gradeOf(worth float64) Grade {
	g := Grade(0)
	for g < Any && worth < g.Worth() {
		g++
	}
	return g
}

// Judge takes in what a page of the queue is worth, in [0,1]. The last pages have the greatest part: a host comes to an end of what is good, and the first pages of a crawl are judged worst. NaN is no worth.
func (t *Tally) Judge(worth float64) {
	if math.IsNaN(worth) {
		return
	}
	t.Judged++
	t.Worth += (worth - t.Worth) / min(float64(t.Judged), lastPages)
}

// market is what the schedule knows of what queues are worth.
type market struct {
	supply    [grades]supply // by grade
	hosts     [steps]int     // judged pages of hosts by the worth of the host, at most knownPages of each
	pages     [steps]int     // all of them
	judged    int            // pages
	low, high float64        // worth of the worst and the best hosts
	ends      time.Time      // of the run
	outcomes  Outcomes
	line      line // of them
}

// supply is what the queues of a grade have and had, in pages; ready counts the queues in the heap of ready ones whose turn it is by the grade.
type supply struct {
	waiting, done int64
	ready         int
}

// supplied is what the market knows of a queue.
type supplied struct {
	supply
	grade  Grade
	turn   Grade // that by which it is claimed from
	step   int8
	judged int32
}

func newMarket() (m market) {
	m.Know(Outcomes{})
	return m
}

// Know says what pages have been worth so far: queues that are placed from now on are graded by it.
func (m *market) Know(o Outcomes) {
	m.outcomes, m.line = o, o.fit()
	known := 0
	for _, n := range m.hosts {
		known += n
	}
	m.low, m.high = quantile(&m.hosts, known, lowPart), quantile(&m.pages, m.judged, highPart)
}

// Ends says when the run ends at the latest; zero: nobody knows. What rests for longer does not count.
func (m *market) Ends(at time.Time) { m.ends = at }

// quantile is the step below which a part of n pages is.
func quantile(of *[steps]int, n int, part float64) float64 {
	left := int(part * float64(n-1))
	for i, x := range of {
		if left -= x; left < 0 {
			return (float64(i) + 0.5) / steps
		}
	}
	return 1
}

// apart is by how much worth pages of the best and of the worst hosts differ, as far as it depends on the host.
func (m *market) apart() float64 { return m.line.host * (m.high - m.low) }

// Apart reports whether hosts differ so much that queues are graded. They do not on a web that has a few pages of the topic on each.
func (m *market) Apart() bool { return m.judged >= pricedFrom && m.apart() >= leastApart }

// grade is that of a queue: by what its host would be worth with one more page as good as can be, for what is known of few pages may change, and by the priority of its first entry.
func (m *market) grade(q *Queue) Grade {
	if !q.Costly || q.Stopped || !m.Apart() {
		return 0
	}
	return m.gradeBy(q, q.Done)
}

func (m *market) gradeBy(q *Queue, t Tally) Grade {
	above := m.line.host*(m.outcomes.host(t, 1)-m.low) + m.line.priority*(Score(q.Best.Priority)-m.outcomes.priority())
	return gradeOf(above / m.apart())
}

// Trial is how many pages of a queue a claim may take at a price, where it takes no more than limit: at most as many as its host has answered. Of one that is known by fewer pages than its worth is the mean of, no more than leave
// the queue at the price if they are worth what those of the worst hosts are; Probes in any case. MaxInt64 if queues are not graded. What is known of a host after ten pages may be chance: twenty more of them would be gone before anybody looks.
func (m *market) Trial(q *Queue, price Grade, limit int64) int64 {
	if !q.Costly || !m.Apart() {
		return math.MaxInt64
	}
	if price == Any {
		price = sure
	}
	most := min(max(Probes, q.Done.Judged, q.Done.Requests), limit)            // answers that nobody judges, as those of images, say that a host answers as well
	if q.Done.Judged == 0 || q.Done.Judged >= lastPages || q.turn(sure) == 0 { // what somebody has named does not wait
		return most
	}
	n, t := int64(0), q.Done
	for n < most && m.gradeBy(q, t) <= price {
		t.Judge(m.low)
		n++
	}
	return min(max(n, Probes), limit)
}

// turn is the grade by which a queue is claimed from. What somebody has named is of the best whatever its host is.
func (q *Queue) turn(grade Grade) Grade {
	if q.Best.Priority >= strong {
		return 0
	}
	return grade
}

// Stale reports whether a queue would be of another grade if it were placed now.
func (m *market) Stale(q *Queue) bool {
	grade := m.grade(q)
	return grade != q.supplied.grade || q.turn(grade) != q.supplied.turn
}

// supplies brings the market up to a queue.
func (m *market) supplies(q *Queue) {
	m.leaves(q)
	is := &q.supplied
	if is.judged = int32(min(q.Done.Judged, math.MaxInt32)); is.judged > 0 {
		is.step = int8(min(max(int(q.Done.Worth*steps), 0), steps-1))
		m.hosts[is.step] += min(int(is.judged), knownPages)
		m.pages[is.step] += int(is.judged)
		m.judged += int(is.judged)
	}
	is.grade = m.grade(q)
	is.turn = q.turn(is.grade)
	is.supply = supply{waiting: min(int64(q.Waiting-q.Requisites), q.Left), done: q.Done.Pages}
	if q.Spent || q.Paused || q.Stopped || !m.ends.IsZero() && q.Due().After(m.ends) {
		is.waiting = 0
	}
	at := &m.supply[is.grade]
	at.waiting += is.waiting
	at.done += is.done
}

// leaves takes out what the market knows of a queue.
func (m *market) leaves(q *Queue) {
	is := &q.supplied
	if is.judged > 0 {
		m.hosts[is.step] -= min(int(is.judged), knownPages)
		m.pages[is.step] -= int(is.judged)
		m.judged -= int(is.judged)
	}
	at := &m.supply[is.grade]
	at.waiting -= is.waiting
	at.done -= is.done
	m.supply[is.turn].ready -= is.ready
	q.supplied = supplied{}
}

// isReady says that a queue is in the heap of ready ones (1), or not (0).
func (m *market) isReady(q *Queue, ready int) {
	m.supply[q.supplied.turn].ready += ready - q.supplied.ready
	q.supplied.ready = ready
}

// Price is the last grade of which queues give URLs, for a budget with room for so many more pages: what waits in queues of better grades, and what their pages are expected to bring, fills the
// room. Any if nothing does.
func (m *market) Price(room int64) Grade {
	if room <= 0 || !m.Apart() {
		return Any
	}
	var sum supply
	for g := range Any {
		sum.waiting += m.supply[g].waiting
		sum.done += m.supply[g].done
		waiting, done := float64(sum.waiting), float64(max(sum.done, 1))
		if waiting+waiting*waiting/done >= float64(room) { // each page has brought waiting/done that wait; the next ones bring as many
			return g
		}
	}
	return Any
}

// Held counts the ready queues below a price.
func (m *market) Held(price Grade) (n int) {
	for g := price + 1; g < grades; g++ {
		n += m.supply[g].ready
	}
	return n
}

// Ready counts the ready queues at a price.
func (m *market) Ready(price Grade) (n int) {
	for g := range price + 1 {
		n += m.supply[g].ready
	}
	return n
}

// Grade is that by which the schedule has placed the queue.
func (q *Queue) Grade() Grade { return q.supplied.grade }

// Below reports whether a queue is below a price. Requisites of pages have none, nor what somebody has named, nor what an operator ends.
func (q *Queue) Below(price Grade) bool {
	return q.supplied.turn > price && !q.Stopped
}

package share

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

const batch = 5 // URLs of a batch, at most

// holder is a worker that uses a budget.
type holder struct {
	name                      string
	quota                     *Quota
	life                      uint64
	waiting, inProgress, used int64
	archived                  int64 // and not committed, when it was lost
	gone                      bool
}

func (h *holder) wants() bool { return h.waiting > 0 && h.quota.Room(h.used, h.inProgress) < batch }

// spenders are a crawl with a budget, its workers, and the messages that are on their way.
type spenders struct {
	t          *rapid.T
	budget     *Budget
	most       int64 // that the budget ever was
	rejoins    int64 // of workers, so far
	workers    []*holder
	reports    []func()
	allotments []func()
}

// join has a worker join. The crawl may allot it a first part before it reports.
func (s *spenders) join(waiting int64) {
	h := &holder{name: fmt.Sprint("w", len(s.workers)), quota: NewQuota(1), life: 1, waiting: waiting}
	s.workers = append(s.workers, h)
	if rapid.Bool().Draw(s.t, "opened") {
		s.budget.Open(map[string]uint64{h.name: 1})
		g := s.budget.Allotment(h.name)
		s.allotments = append(s.allotments, func() { h.take(g) })
	}
}

func (s *spenders) report(h *holder) {
	r := h.quota.Report(h.used, h.wants())
	s.reports = append(s.reports, func() {
		g := s.budget.Report(h.name, r)
		s.allotments = append(s.allotments, func() { h.take(g) })
	})
}

func (h *holder) take(g Allotment) {
	if h.gone {
		return
	}
	if h.quota.Take(g); g.Return {
		h.quota.Return(h.used + h.inProgress + min(h.waiting, batch))
	}
}

func (h *holder) claim(n int64) {
	if n = min(n, h.waiting); !h.gone && h.quota.Room(h.used, h.inProgress) > 0 {
		h.waiting, h.inProgress = h.waiting-n, h.inProgress+n
	}
}

func (h *holder) finish(n, pages int64) {
	n = min(n, h.inProgress)
	h.inProgress, h.used = h.inProgress-n, h.used+min(pages, n)
}

// deliver hands over a message, any of those that are on their way; some come again.
func deliver(mail *[]func(), which int, again bool) {
	if len(*mail) == 0 {
		return
	}
	i := which % len(*mail)
	message := (*mail)[i]
	if !again {
		*mail = append((*mail)[:i:i], (*mail)[i+1:]...)
	}
	message()
}

// checkUsed: nobody exceeds the budget by more than the last batch of each worker.
func (s *spenders) checkUsed() {
	total := int64(0)
	for _, h := range s.workers {
		total += h.used + h.archived + h.inProgress - batch
	}
	if total > s.most {
		s.t.Fatalf("%d are used or in progress, beside a batch of each worker, of a budget of %d", total, s.most)
	}
}

// check: so it is, and no more is granted. One that rejoins is granted what it has used, its last batch with it.
func (s *spenders) check() {
	s.checkUsed()
	limits := int64(0)
	for _, h := range s.budget.Accounts {
		limits += h.Limit
	}
	if limits > s.most+s.rejoins*batch {
		s.t.Fatalf("limits of %d are granted of a budget of %d: %+v", limits, s.most, s.budget)
	}
}

// TestBudget plays random histories of workers that claim, finish, fail, join, restart and die, with messages that are late, lost,
// repeated and out of order. No budget is exceeded by more than a batch a worker; and once nothing is lost any more, everything is used
// as long as one worker has something to claim, even if others have taken it before.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 300).Draw(t, "budget")
		s := &spenders{t: t, budget: &Budget{Total: total, Least: batch}, most: total}
		s.join(1000)
		s.join(rapid.Int64Range(0, 100).Draw(t, "waiting"))
		for range rapid.IntRange(20, 250).Draw(t, "steps") {
			h := s.workers[rapid.IntRange(0, len(s.workers)-1).Draw(t, "worker")]
			n := rapid.Int64Range(1, batch).Draw(t, "n")
			switch act := rapid.IntRange(0, 13).Draw(t, "act"); act {
			case 0, 1:
				h.claim(n)
			case 2, 3:
				h.finish(n, rapid.Int64Range(0, n).Draw(t, "pages"))
			case 4, 5, 6:
				if !h.gone {
					s.report(h)
				}
			case 7, 8:
				deliver(&s.reports, int(n)*7, act == 8)
			case 9, 10:
				deliver(&s.allotments, int(n)*7, act == 10)
			case 11:
				h.life++
				h.quota = NewQuota(h.life)
			case 12:
				if n == 1 && len(s.workers) < 5 {
					s.join(50)
				} else if n == 2 && !h.gone && h != s.workers[0] {
					h.gone, h.archived, h.inProgress = true, h.archived+rapid.Int64Range(0, h.inProgress).Draw(t, "archived"), 0
					s.budget.Gone(h.name)
				} else if n == 3 && h.gone {
					s.budget.GoneUsed(h.name, h.used+h.archived)
				} else if n > 3 && h.gone { // it comes back with its folder, before or after what it did is counted
					h.gone = false
					h.life++
					h.quota = NewQuota(h.life)
					s.budget.Rejoin(h.name)
					s.rejoins++
				}
			case 13:
				s.budget.Total += n - 3 // an operator changes it
				s.budget.Total = max(s.budget.Total, 1)
				s.most = max(s.most, s.budget.Total)
			}
			s.check()
			s.carryOver()
		}
		s.converge()
	})
}

// TestBudgetReset: an operator resets the crawl, which forgets what it has allotted since some earlier moment, once or twice. Workers keep to what they know, so
// no more is used than the budget allows; and all of it is used in the end.
func TestBudgetReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 300).Draw(t, "budget")
		s := &spenders{t: t, budget: &Budget{Total: total, Least: batch}, most: total}
		var earlier []byte
		s.join(1000)
		s.join(rapid.Int64Range(0, 100).Draw(t, "waiting"))
		for range rapid.IntRange(20, 250).Draw(t, "steps") {
			h := s.workers[rapid.IntRange(0, 1).Draw(t, "worker")]
			n := rapid.Int64Range(1, batch).Draw(t, "n")
			switch act := rapid.IntRange(0, 12).Draw(t, "act"); act {
			case 0, 1:
				h.claim(n)
			case 2, 3:
				h.finish(n, n)
			case 4, 5, 6:
				s.report(h)
			case 7, 8, 9:
				deliver(&s.reports, int(n)*7, false)
				deliver(&s.allotments, int(n)*7, act == 9)
			case 10:
				earlier, _ = json.Marshal(s.budget)
			case 11:
				if n > 1 || earlier == nil {
					continue
				}
				s.budget = &Budget{}
				if err := json.Unmarshal(earlier, s.budget); err != nil {
					t.Fatal(err)
				}
				s.budget.Recount("w0", "w1")
				s.reports, s.allotments = nil, nil
			}
			s.checkUsed()
		}
		for range 2 {
			for _, h := range s.workers {
				s.report(h)
				deliver(&s.reports, 0, false)
				deliver(&s.allotments, 0, false)
				s.checkUsed()
			}
		}
		s.converge()
	})
}

// TestBudgetLowered: an operator makes a budget smaller than what workers were allotted, in the midst of a random history. Each is asked to return what is
// above, before or after allotments that are on their way reach it. Once all have answered, no more is used than the smaller budget, or than was used or
// in progress when they answered, beside a batch of each worker.
func TestBudgetLowered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(50, 2000).Draw(t, "budget")
		s := &spenders{t: t, budget: &Budget{Total: total, Least: batch}, most: total}
		for range rapid.IntRange(1, 4).Draw(t, "workers") {
			s.join(rapid.Int64Range(0, 500).Draw(t, "waiting"))
		}
		s.play(rapid.IntRange(0, 60).Draw(t, "steps before"))
		s.budget.Recalls, s.budget.Total = true, rapid.Int64Range(1, total).Draw(t, "lowered")
		answered, answers := map[int]bool{}, int64(0)
		for len(answered) < len(s.workers) {
			s.play(rapid.IntRange(0, 5).Draw(t, "steps between"))
			i := rapid.IntRange(0, len(s.workers)-1).Draw(t, "asked")
			h := s.workers[i]
			h.take(s.budget.Allotment(h.name))
			h.quota.Room(h.used, h.inProgress)
			if !answered[i] {
				answered[i], answers = true, answers+h.used+h.inProgress
			}
		}
		s.most = max(s.budget.Total, answers)
		s.checkUsed()
		for range rapid.IntRange(0, 100).Draw(t, "steps after") {
			s.play(1)
			s.checkUsed()
		}
		s.reports, s.allotments = nil, nil
		for range 3 { // to learn of what was granted last, and to return it
			for _, h := range s.workers {
				s.report(h)
				deliver(&s.reports, 0, false)
				deliver(&s.allotments, 0, false)
				s.checkUsed()
			}
		}
		if s.budget.Free() < 0 && s.budget.Total >= answers {
			t.Fatalf("after all have answered, more is granted than %d: %+v", s.budget.Total, s.budget)
		}
	})
}

// play makes some steps of workers that all live; messages are late, repeated and out of order.
func (s *spenders) play(steps int) {
	for range steps {
		h := s.workers[rapid.IntRange(0, len(s.workers)-1).Draw(s.t, "worker")]
		n := rapid.Int64Range(1, batch).Draw(s.t, "n")
		switch act := rapid.IntRange(0, 8).Draw(s.t, "act"); act {
		case 0, 1:
			h.claim(n)
		case 2:
			h.finish(n, rapid.Int64Range(0, n).Draw(s.t, "pages"))
		case 3, 4:
			s.report(h)
		case 5, 6:
			deliver(&s.reports, int(n)*7, act == 6)
		case 7, 8:
			deliver(&s.allotments, int(n)*7, act == 8)
		}
		s.carryOver()
	}
}

// carryOver carries the budget over continue-as-new.
func (s *spenders) carryOver() {
	text, err := json.Marshal(s.budget)
	next := &Budget{}
	if err == nil {
		err = json.Unmarshal(text, next)
	}
	if err != nil || len(s.budget.Accounts) > 0 && !reflect.DeepEqual(next, s.budget) {
		s.t.Fatalf("%s is read as %+v, %v", text, next, err)
	}
	s.budget = next
}

func (s *spenders) converge() {
	s.reports, s.allotments = nil, nil
	for _, h := range s.workers {
		if h.gone {
			s.budget.GoneUsed(h.name, h.used+h.archived)
		}
	}
	s.workers[0].waiting += 1000
	for range 500 {
		for _, h := range s.workers {
			if h.gone {
				continue
			}
			h.finish(h.inProgress, h.inProgress)
			s.report(h)
			deliver(&s.reports, 0, false)
			deliver(&s.allotments, 0, false)
			h.claim(batch)
			s.check()
		}
		if s.budget.Spent() {
			s.checkReached()
			return
		}
	}
	s.t.Fatalf("a worker has URLs, and the budget is not spent: %+v", s.budget)
}

// checkReached: what is spent is used, but for what a worker that has rejoined before it was counted may have archived.
func (s *spenders) checkReached() {
	used := int64(0)
	for _, h := range s.workers {
		used += h.used + h.archived
		if !h.gone {
			used += s.budget.Accounts[h.name+uncommitted].Limit
		}
	}
	if used < s.budget.Total {
		s.t.Fatalf("%d are used of %d, and the budget is spent: %+v", used, s.budget.Total, s.budget)
	}
}

// TestBudgetOpens: workers that begin together are allotted parts of like size, and something is left for those that join. One that has room is allotted
// nothing more; nor is another process of it, which asks. One that has used what it may is allotted more, as when the next phase begins.
func TestBudgetOpens(t *testing.T) {
	b, lives := &Budget{Total: 8000, Least: 500}, map[string]uint64{"a": 3, "b": 4, "c": 5, "d": 6}
	b.Open(lives)
	b.Open(lives)
	for worker, life := range lives {
		g, q := b.Allotment(worker), NewQuota(life)
		if q.Take(g); g.Number != 1 || q.Room(0, 0) < 500 || q.Room(0, 0) > 1000 {
			t.Errorf("%s may use %d: %+v", worker, q.Room(0, 0), g)
		}
	}
	if b.Free() < 4000 {
		t.Errorf("%d are left for others", b.Free())
	}
	next := NewQuota(7)
	next.Take(b.Allotment("a"))
	if next.Room(0, 0) != 0 {
		t.Error("another process takes what was allotted to the one before it")
	}
	if next.Take(b.Report("a", next.Report(0, true))); next.Room(0, 0) == 0 || b.Free() < 0 {
		t.Errorf("it asks, and may use %d; %d are free", next.Room(0, 0), b.Free())
	}
	used := b.Allotment("b").Limit
	b.Report("b", QuotaReport{Life: 4, Serial: 1, Number: 1, Limit: used, Used: used})
	b.Gone("c")
	b.Open(lives)
	if more := b.Allotment("b"); more.Number != 2 || more.Limit < used+500 || b.Allotment("c").Number != 1 || b.Allotment("d").Number != 1 || b.Free() < 0 {
		t.Errorf("before the next phase: %+v", b.Accounts)
	}
}

// TestBudgetAllotments: allotments become smaller as the budget is used up, so that messages are few and the last pages are spread.
func TestBudgetAllotments(t *testing.T) {
	b, q := &Budget{Total: 1_000_000, Least: 500}, []*Quota{NewQuota(1), NewQuota(1)}
	used, messages := []int64{0, 0}, 0
	for !b.Spent() {
		for i := range q {
			g := b.Report(fmt.Sprint(i), q[i].Report(used[i], q[i].Room(used[i], 0) < 500))
			if q[i].Take(g); g.Return {
				q[i].Return(used[i])
			}
			used[i] += q[i].Room(used[i], 0)
			messages++
		}
		if messages > 100 {
			t.Fatalf("%d reports, and it is not spent: %+v", messages, b)
		}
	}
	if sum := used[0] + used[1]; sum != b.Total || messages > 60 {
		t.Errorf("%d of %d are used, by %d reports", sum, b.Total, messages)
	}
}

// TestAllotmentOfAFormerProcess: an allotment that comes again, after the process that had it has returned some of it and was started again, gives the
// new process nothing: what was returned is another worker's.
func TestAllotmentOfAFormerProcess(t *testing.T) {
	b, former, other := &Budget{Total: 10, Least: 10}, NewQuota(1), NewQuota(1)
	allotment := b.Report("w", former.Report(0, true))
	former.Take(allotment)
	b.Report("v", other.Report(0, true))
	former.Return(4)
	b.Report("w", former.Report(0, false))
	other.Take(b.Report("v", other.Report(0, true)))
	next := NewQuota(2)
	next.Take(allotment)
	if next.Room(0, 0)+other.Room(0, 0) > b.Total || other.Room(0, 0) != 6 {
		t.Errorf("of %d, the new process has %d and the other worker %d", b.Total, next.Room(0, 0), other.Room(0, 0))
	}
	if next.Take(b.Report("w", next.Report(0, true))); next.Room(0, 0) != 4 {
		t.Errorf("the new process has %d, want what the former one kept", next.Room(0, 0))
	}
}

// TestBudgetIdle: a budget that is recounted does not wait for a member at which no controller runs, once that is known.
func TestBudgetIdle(t *testing.T) {
	b := Budget{Total: 100, Least: 1}
	b.Recount("idle", "works")
	asks := QuotaReport{Life: 1, Serial: 1, Wants: true}
	if a := b.Report("works", asks); a.Limit > 0 {
		t.Fatalf("%+v is allotted before the other has reported", a)
	}
	b.Idle("idle")
	b.Idle("unknown")
	asks.Serial++
	if a := b.Report("works", asks); a.Limit == 0 || len(b.Accounts) != 2 {
		t.Errorf("%+v is allotted, accounts %+v", a, b.Accounts)
	}
}

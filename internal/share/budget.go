package share

import (
	"maps"
	"slices"
)

// Budget is a number of things (pages, requests, bytes) of which each worker may use a part. Its JSON form carries it over
// continue-as-new.
type Budget struct {
	Total int64  `json:"total"`
	Least int64  `json:"least"` // of an allotment, so that small remainders are not sent about; a batch
	Turns uint64 `json:"turns,omitempty"`
	// Recalls says that workers are asked to return what is granted above Total, once that was made smaller.
	Recalls  bool               `json:"recalls,omitempty"`
	Accounts map[string]Account `json:"accounts,omitempty"`
	// Recounts says that allotments were forgotten: nothing is granted until each worker has said what it keeps to.
	Recounts bool  `json:"recounts,omitempty"`
	Former   int64 `json:"former,omitempty"` // what workers have used that are gone and have no account any more
}

// Account is what a worker may use of a budget, as the crawl knows it.
type Account struct {
	Number uint64 `json:"number"` // of the last allotment
	Limit  int64  `json:"limit"`  // that it may have used up to, from the start of the run
	Used   int64  `json:"used"`   // as it last reported
	// Turn is its place among those that want more; 0 if it does not. Without an order, a worker that returns something for others and wants
	// more right then would get it back.
	Turn uint64 `json:"turn,omitempty"`
	Gone bool   `json:"gone,omitempty"`
	// Rejoins says that it was gone and takes part again; its next life has not reported yet.
	Rejoins bool `json:"rejoins,omitempty"`
	// Reported says, while the budget is recounted, that it has said what it keeps to.
	Reported bool `json:"reported,omitempty"`
	// Life and Serial are those of the last report.
	Life   uint64 `json:"life,omitempty"`
	Serial uint64 `json:"serial,omitempty"`
}

// QuotaReport is what a worker says of its quota.
type QuotaReport struct {
	// Life rises with each process of the worker: the epoch in which the ring accepted it. Serial rises with each report of a process.
	Life   uint64 `json:"life"`
	Serial uint64 `json:"serial"`
	Number uint64 `json:"number"` // of the last allotment that it has taken
	Limit  int64  `json:"limit"`  // that it keeps to, at most that of the allotment
	Used   int64  `json:"used"`   // in the run, by what its frontier has committed
	Wants  bool   `json:"wants"`  // it has URLs to claim, and no room
}

// Allotment is the answer to a report.
type Allotment struct {
	Life   uint64 `json:"life"` // of the report that it answers: another process of the worker does not know what this one has returned
	Number uint64 `json:"number"`
	Limit  int64  `json:"limit"`
	// Return says that others wait for what the worker does not need.
	Return bool `json:"return,omitempty"`
	// All says, with Return, that the budget is smaller than what is granted: the worker keeps nothing but what it has used and what is in progress, until it has
	// another allotment.
	All   bool  `json:"all,omitempty"`
	Least int64 `json:"least,omitempty"` // Budget.Least
}

// Report takes a worker's report and returns what it may use. A worker is here one data folder: one that starts empty counts from 0 again and
// must have another name.
func (b *Budget) Report(worker string, r QuotaReport) Allotment {
	h := b.Accounts[worker]
	if r.Life < h.Life || r.Life == h.Life && (r.Serial <= h.Serial || h.Rejoins) || h.Gone {
		return b.Allotment(worker) // it is old
	}
	if h.Rejoins {
		// Its folder counts what it has committed. What it had archived beside that is used, too, and no earlier allotment is known to it.
		b.set(worker+uncommitted, Account{Gone: true, Limit: max(h.Limit, h.Used, r.Used) - r.Used})
		h = Account{Number: h.Number + 1, Limit: r.Used}
	}
	h.Life, h.Serial, h.Used = r.Life, r.Serial, max(h.Used, r.Used)
	switch {
	case !r.Wants:
		h.Turn = 0
	case h.Turn == 0:
		b.Turns++
		h.Turn = b.Turns
	}
	if h.Reported = b.Recounts; r.Number > h.Number { // of an allotment that was forgotten
		h.Number, h.Limit = r.Number, r.Limit
	}
	if r.Number == h.Number { // a return that does not know of the last allotment would take from that one
		h.Limit = min(h.Limit, max(r.Limit, 0))
	}
	b.set(worker, h)
	b.grant(worker)
	return b.Allotment(worker)
}

// grant allots a worker that wants more a part of what is free and not of those before it.
func (b *Budget) grant(worker string) {
	if b.recounting() {
		return
	}
	h := b.Accounts[worker]
	if free := b.Free() - b.Least*b.before(h.Turn); h.Turn > 0 && free > 0 {
		h.Number++
		h.Limit += min(free, max(b.Least, free/int64(2*b.live())))
		h.Turn = 0
		b.set(worker, h)
	}
}

// Recount says that the crawl was reset, and does not know what it has allotted since. Each worker says so with its next report: those that have an account, and
// the given ones, which may have got their first allotment since.
func (b *Budget) Recount(workers ...string) {
	b.Recounts = true
	for _, worker := range workers {
		if _, known := b.Accounts[worker]; !known {
			b.set(worker, Account{})
		}
	}
	for _, worker := range slices.Sorted(maps.Keys(b.Accounts)) {
		h := b.Accounts[worker]
		h.Reported = false
		b.Accounts[worker] = h
	}
}

// Idle says that a worker uses nothing of its part, for no process of it knows of one: it is not waited for.
func (b *Budget) Idle(worker string) {
	if h, known := b.Accounts[worker]; known && b.Recounts {
		h.Reported = true
		b.set(worker, h)
	}
}

// recounting reports whether a worker that takes part has not said yet what it keeps to; Recounts ends with the last one that has.
func (b *Budget) recounting() bool {
	if !b.Recounts {
		return false
	}
	for _, worker := range slices.Sorted(maps.Keys(b.Accounts)) {
		if h := b.Accounts[worker]; !h.Gone && !h.Reported {
			return true
		}
	}
	b.Recounts = false
	return false
}

// Open allots a part to workers that are about to begin a phase, so that they need not report for it: to those of which nothing is known yet, and to those
// that have used what they may. lives are those of their processes (QuotaReport.Life), as far as no report has said it. What a worker does not need it
// returns when others want it.
func (b *Budget) Open(lives map[string]uint64) {
	workers := slices.Sorted(maps.Keys(lives))
	for _, worker := range workers { // all, before the first is allotted a part by their number
		h, known := b.Accounts[worker]
		if known && (h.Gone || h.Rejoins || h.Turn > 0 || h.Limit-h.Used >= b.Least) {
			continue
		}
		b.Turns++
		h.Life, h.Turn = max(h.Life, lives[worker]), b.Turns
		b.set(worker, h)
	}
	for _, worker := range workers {
		b.grant(worker)
	}
}

// Allotment is what a worker may use now.
func (b *Budget) Allotment(worker string) Allotment {
	h := b.Accounts[worker]
	all := b.Recalls && b.Free() < 0 && h.Used < h.Limit && !h.Gone
	return Allotment{h.Life, h.Number, h.Limit, all || h.Turn == 0 && b.Free() <= 0 && b.before(b.Turns+1) > 0, all, b.Least}
}

// Free is what no worker may use yet. It is negative after the budget was made smaller than what is granted.
func (b *Budget) Free() int64 {
	free := b.Total - b.Former
	for _, h := range b.Accounts {
		free -= h.Limit
	}
	return free
}

// live counts the workers that are not gone.
func (b *Budget) live() (n int) {
	for _, h := range b.Accounts {
		if !h.Gone {
			n++
		}
	}
	return n
}

// before counts those that want more and whose turn comes before a turn.
func (b *Budget) before(turn uint64) (n int64) {
	for _, h := range b.Accounts {
		if h.Turn > 0 && h.Turn < turn {
			n++
		}
	}
	return n
}

// Gone says that the ring has given a worker up. What it was granted counts as used until GoneUsed corrects it: it may have archived that
// much, and not have reported it. One that has never reported is noted, too: its first report may come late.
func (b *Budget) Gone(worker string) {
	h := b.Accounts[worker]
	h.Gone, h.Turn = true, 0
	b.set(worker, h)
}

func (b *Budget) set(worker string, h Account) {
	if b.Accounts == nil {
		b.Accounts = map[string]Account{}
	}
	b.Accounts[worker] = h
}

// uncommitted marks the account of what a worker that rejoins has used and does not know of.
const uncommitted = "/uncommitted"

// GoneUsed says how much a worker that is gone has used in all, by what is in the archive.
func (b *Budget) GoneUsed(worker string, used int64) {
	if h := b.Accounts[worker]; h.Gone {
		h.Used, h.Limit = used, min(h.Limit+b.Accounts[worker+uncommitted].Limit, used)
		delete(b.Accounts, worker+uncommitted)
		b.set(worker, h)
	}
}

// Fold closes the account of a worker that is gone and counted.
func (b *Budget) Fold(worker string) {
	if h := b.Accounts[worker]; h.Gone {
		b.Former += h.Limit + b.Accounts[worker+uncommitted].Limit
		delete(b.Accounts, worker)
		delete(b.Accounts, worker+uncommitted)
	}
}

// Absent says how much a worker has used that is gone and was allotted nothing: as of a run that is continued.
func (b *Budget) Absent(worker string, used int64) {
	if h := b.Accounts[worker]; h == (Account{}) || h.Gone {
		b.set(worker, Account{Number: h.Number, Gone: true, Used: used, Limit: used, Life: h.Life, Serial: h.Serial})
	}
}

// Rejoin says that a worker that was gone takes part again, with its data folder: it continues to count from what that has.
func (b *Budget) Rejoin(worker string) {
	if h := b.Accounts[worker]; h.Gone {
		h.Gone, h.Rejoins = false, true
		b.set(worker, h)
	}
}

// Spent reports whether the budget is used up: nothing is free, and each worker has used what it may.
func (b *Budget) Spent() bool {
	for _, worker := range slices.Sorted(maps.Keys(b.Accounts)) {
		if h := b.Accounts[worker]; h.Used < h.Limit && !h.Gone {
			return false
		}
	}
	return b.Free() <= 0
}

// Quota is what a worker knows of its part of a budget. Its zero value has no room.
type Quota struct {
	life, serial, number uint64
	limit                int64
	all                  bool // Allotment.All
}

// NewQuota is that of a process which the ring accepted in that epoch.
func NewQuota(life uint64) *Quota { return &Quota{life: life} }

// Life is that of its process.
func (q *Quota) Life() uint64 { return q.life }

// Room is how many more may be claimed, of used ones and those in progress. If all is to be returned, it is by then.
func (q *Quota) Room(used, inProgress int64) int64 {
	if q.all {
		q.Return(used + inProgress)
	}
	return max(q.limit-used-inProgress, 0)
}

// Take takes an allotment. One that comes late or again, or is for another process, changes nothing.
func (q *Quota) Take(g Allotment) {
	if g.Life != q.life || g.Number < q.number {
		return
	}
	if g.Number > q.number {
		q.number, q.limit, q.all = g.Number, g.Limit, false
	}
	q.all = q.all || g.All
}

// Return gives up what is above a number that the worker needs: what it has used, what is in progress, and a batch of what waits: without
// that one, two workers that want more would return what they have just got to each other. The next report says so; the room is gone
// at once, because the crawl may give it to others as soon as the report arrives.
func (q *Quota) Return(needed int64) { q.limit = min(q.limit, needed) }

// Report is the next report. wants says that the worker has URLs to claim, and no room for a batch.
func (q *Quota) Report(used int64, wants bool) QuotaReport {
	q.serial++
	return QuotaReport{q.life, q.serial, q.number, q.limit, used, wants}
}

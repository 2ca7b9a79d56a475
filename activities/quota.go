package activities

import (
	"cmp"
	"sync"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// Shared is what a worker learns from the crawl about the budgets of a crawl that is spread, by their reasons: pages, requests and bytes.
type Shared struct {
	Allotments map[crawl.Reason]share.Allotment `json:"allotments,omitempty"`
	Least      map[crawl.Reason]int64           `json:"least,omitempty"`   // room that a batch takes
	Empty      bool                             `json:"empty,omitempty"`   // the crawl knows that nothing was left here
	Asked      bool                             `json:"asked,omitempty"`   // the crawl knows that the quota is short
	Members    int                              `json:"members,omitempty"` // workers of the crawl when the controller was started
	Timed      bool                             `json:"timed,omitempty"`   // the crawl keeps the budget of time
	Seldom     bool                             `json:"seldom,omitempty"`  // reports come as the square of Members says; false in what an earlier version started
}

// Quotas are what this process knows of its parts of the budgets of crawls that are spread. They end with the process.
type Quotas struct {
	mu sync.Mutex
	of map[string]*quotas // by crawl
}

// quotas are those of a run. The steps that use them are a controller's, one at a time; mu is for one that was cut off.
type quotas struct {
	owner string // of the run
	mu    sync.Mutex
	by    map[crawl.Reason]*share.Quota
	least map[crawl.Reason]int64
}

// SharedBudgets are those of which each worker of a crawl that is spread has a part.
func SharedBudgets() []crawl.Reason {
	return []crawl.Reason{crawl.ReasonPages, crawl.ReasonRequests, crawl.ReasonBytes}
}

// Used is what a run has used of a budget.
func Used(of crawl.Reason, t frontier.Totals) int64 {
	switch of {
	case crawl.ReasonPages:
		return t.Pages
	case crawl.ReasonRequests:
		return t.Requests
	}
	return t.Bytes
}

// run is what the process knows of a run. life is the epoch in which the ring accepted the process: one that was given up and accepted
// again knows of nothing.
func (q *Quotas) run(crawlName, owner string, life uint64) *quotas {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.of[crawlName]
	if r == nil || r.owner != owner || r.by[crawl.ReasonPages].Life() != life {
		r = &quotas{owner: owner, by: map[crawl.Reason]*share.Quota{}, least: map[crawl.Reason]int64{}}
		for _, reason := range SharedBudgets() {
			r.by[reason] = share.NewQuota(life)
		}
		if q.of == nil {
			q.of = map[string]*quotas{}
		}
		q.of[crawlName] = r
	}
	return r
}

// take takes what the crawl has allotted.
func (q *quotas) take(in Shared) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for reason, quota := range q.by {
		a, has := in.Allotments[reason]
		if has {
			quota.Take(a)
		}
		q.least[reason] = max(cmp.Or(a.Least, in.Least[reason]), 1)
	}
}

// recall takes what the crawl has allotted beside the rounds: what it asks back is not claimed any more.
func (q *quotas) recall(now map[crawl.Reason]share.Allotment) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for reason, quota := range q.by {
		if a := now[reason]; a.All {
			quota.Take(a)
		}
	}
}

// wanted is what a round keeps to.
func (q *quotas) wanted(in Shared) *frontier.Shared {
	return &frontier.Shared{Room: q.room, Short: q.short, Requisites: q.requisites, Empty: in.Empty, Asked: in.Asked, Timed: in.Timed, Members: in.Members}
}

// inProgressOf is how much of a budget the URLs in progress may come to. Of bytes nobody knows; they count when they are fetched.
func inProgressOf(reason crawl.Reason, urls int64) int64 {
	if reason == crawl.ReasonBytes {
		return 0
	}
	return urls
}

func (q *quotas) room(t frontier.Totals, inProgress int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes := q.by[crawl.ReasonBytes].Room(t.Bytes, 0)
	if bytes == 0 {
		return 0
	}
	return min(q.by[crawl.ReasonPages].Room(t.Pages, inProgress), q.by[crawl.ReasonRequests].Room(t.Requests, inProgress))
}

// requisites reports whether the worker may claim requisites of pages, which count in the budget of bytes alone.
func (q *quotas) requisites(t frontier.Totals) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.by[crawl.ReasonBytes].Room(t.Bytes, 0) > 0
}

func (q *quotas) short(t frontier.Totals, inProgress int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for reason := range q.by {
		if q.lacks(reason, t, inProgress) {
			return true
		}
	}
	return false
}

func (q *quotas) lacks(reason crawl.Reason, t frontier.Totals, inProgress int64) bool {
	return q.by[reason].Room(Used(reason, t), inProgressOf(reason, inProgress)) < q.least[reason]
}

// reports are what the crawl learns after a round. A worker at which nothing is left returns all that it has not used; one that is asked
// to returns what is more than its next batch takes, or that, too.
func (q *quotas) reports(in Shared, round frontier.Round, t frontier.Totals) map[crawl.Reason]share.QuotaReport {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := map[crawl.Reason]share.QuotaReport{}
	for reason, quota := range q.by {
		used := Used(reason, t)
		wants := q.lacks(reason, t, round.InProgress) && round.Short
		switch needed := used + inProgressOf(reason, round.InProgress); {
		case round.Empty:
			quota.Return(used)
		case in.Allotments[reason].Return:
			quota.Return(needed + q.least[reason])
		}
		out[reason] = quota.Report(used, wants)
	}
	return out
}

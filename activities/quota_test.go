package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// TestQuotas: a worker claims within all three budgets, reports which of them it has too little of, and returns what it does not use.
func TestQuotas(t *testing.T) {
	const pages, requests, bytes = crawl.ReasonPages, crawl.ReasonRequests, crawl.ReasonBytes
	type limits map[crawl.Reason]int64
	used := frontier.Totals{Pages: 10, Requests: 20, Bytes: 1000}
	for _, c := range []struct {
		name       string
		allotted   limits
		back       crawl.Reason // of which others want a part
		inProgress int64
		empty      bool // nothing is left at the worker
		room       int64
		short      bool
		kept       limits // as reported
		wants      crawl.Reason
	}{
		{name: "the smallest room counts", allotted: limits{pages: 40, requests: 90, bytes: 5000}, inProgress: 5, room: 25, kept: limits{pages: 40, requests: 90, bytes: 5000}},
		{name: "requests bound it", allotted: limits{pages: 40, requests: 28, bytes: 5000}, inProgress: 5, room: 3, short: true, kept: limits{pages: 40, requests: 28, bytes: 5000}, wants: requests},
		{name: "what is in progress counts in full", allotted: limits{pages: 16, requests: 90, bytes: 5000}, inProgress: 5, room: 1, short: true, kept: limits{pages: 16, requests: 90, bytes: 5000}, wants: pages},
		{name: "without bytes nothing is claimed", allotted: limits{pages: 40, requests: 90, bytes: 1000}, room: 0, short: true, kept: limits{pages: 40, requests: 90, bytes: 1000}, wants: bytes},
		{name: "of bytes nothing is in progress", allotted: limits{pages: 40, requests: 90, bytes: 1004}, inProgress: 5, room: 25, kept: limits{pages: 40, requests: 90, bytes: 1004}},
		{name: "an empty worker returns all", allotted: limits{pages: 40, requests: 90, bytes: 5000}, empty: true, room: 30, kept: limits{pages: 10, requests: 20, bytes: 1000}},
		{name: "one that is asked keeps a batch", allotted: limits{pages: 40, requests: 90, bytes: 5000}, back: pages, inProgress: 5, room: 25, kept: limits{pages: 19, requests: 90, bytes: 5000}},
		{name: "nothing is allotted", room: 0, short: true, kept: limits{}, wants: bytes},
	} {
		var all Quotas
		q := all.run(rigCrawl, "o", 3)
		in := Shared{Allotments: map[crawl.Reason]share.Allotment{}, Least: map[crawl.Reason]int64{pages: 4, requests: 4, bytes: 4}}
		for reason, limit := range c.allotted {
			in.Allotments[reason] = share.Allotment{Life: 3, Number: 1, Limit: limit, Return: reason == c.back}
		}
		q.take(in)
		want := q.wanted(in)
		if room, short := want.Room(used, c.inProgress), want.Short(used, c.inProgress); room != c.room || short != c.short {
			t.Errorf("%s: room %d, short %t; want %d, %t", c.name, room, short, c.room, c.short)
		}
		reports := q.reports(in, frontier.Round{InProgress: c.inProgress, Empty: c.empty, Short: c.short}, used)
		for _, reason := range SharedBudgets() {
			r := reports[reason]
			if r.Life != 3 || r.Serial != 1 || r.Used != Used(reason, used) || r.Limit != c.kept[reason] || c.wants != "" && r.Wants != (reason == c.wants) && c.allotted != nil || c.wants == "" && r.Wants {
				t.Errorf("%s: %s is reported as %+v, want the limit %d, more of %q", c.name, reason, r, c.kept[reason], c.wants)
			}
		}
	}
}

// TestQuotasOfAProcess: what a process knows holds for one run and one membership; another one starts without room.
func TestQuotasOfAProcess(t *testing.T) {
	var all Quotas
	first := all.run(rigCrawl, "o", 3)
	first.take(Shared{Allotments: map[crawl.Reason]share.Allotment{crawl.ReasonPages: {Life: 3, Number: 1, Limit: 9}}})
	for _, c := range []struct {
		crawl, owner string
		life         uint64
		same         bool
	}{{rigCrawl, "o", 3, true}, {"other", "o", 3, false}, {rigCrawl, "next", 3, false}, {rigCrawl, "next", 4, false}} {
		got := all.run(c.crawl, c.owner, c.life)
		if same := got == first; same != c.same || !same && got.by[crawl.ReasonPages].Room(0, 0) != 0 || got.by[crawl.ReasonPages].Life() != c.life {
			t.Errorf("%s of %s in life %d: the same %t, room %d", c.crawl, c.owner, c.life, same, got.by[crawl.ReasonPages].Room(0, 0))
		}
	}
}

// TestQuotaRecalled: what the crawl asks back because a budget was made smaller is not claimed any more, also by a round that waits right then, and the next
// report says so. The least that a batch takes is the smaller budget's.
func TestQuotaRecalled(t *testing.T) {
	q := (&Quotas{}).run("c", "o", 7)
	given := func(limit int64, number uint64, all bool) (in Shared) {
		in.Allotments, in.Least = map[crawl.Reason]share.Allotment{}, map[crawl.Reason]int64{}
		for _, reason := range SharedBudgets() {
			in.Allotments[reason], in.Least[reason] = share.Allotment{Life: 7, Number: number, Limit: limit, Return: all, All: all, Least: 2}, 500
		}
		return in
	}
	totals := frontier.Totals{Pages: 10, Requests: 20, Bytes: 30}
	q.take(given(1000, 1, false))
	if room := q.room(totals, 5); room != 975 || q.short(totals, 5) {
		t.Errorf("%d may be claimed, want what is left of the requests", room)
	}
	q.recall(given(1000, 1, true).Allotments)
	if room := q.room(totals, 5); room != 0 || !q.short(totals, 5) {
		t.Errorf("%d may be claimed of what is asked back", room)
	}
	totals.Pages, totals.Requests = 12, 22 // three of the five have failed
	out := q.reports(given(1000, 1, true), frontier.Round{InProgress: 0, Short: true}, totals)
	for reason, used := range map[crawl.Reason]int64{crawl.ReasonPages: 12, crawl.ReasonRequests: 22, crawl.ReasonBytes: 30} {
		if r := out[reason]; r.Limit != used || r.Used != used || !r.Wants || r.Number != 1 {
			t.Errorf("%s: %+v", reason, r)
		}
	}
	q.take(given(1000, 1, false)) // which was on its way
	if room := q.room(totals, 0); room != 0 {
		t.Errorf("%d may be claimed by an earlier allotment", room)
	}
	q.take(given(40, 2, false))
	if room := q.room(totals, 0); room != 18 || q.short(totals, 0) {
		t.Errorf("%d may be claimed of the next allotment, want what it leaves of the requests", room)
	}
}

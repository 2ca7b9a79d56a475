package workflows

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestFormerCrawlState: what a crawl has handed on to itself when it had one worker is read.
func TestFormerCrawlState(t *testing.T) {
	const former = `{"name":"c","phase":"broad","owner":"crawl/c@r","member":{"worker":"w","queue":"q/w","instance":"i"},"begun":{"run":3,"seeds":1,"archive":"a"},
		"paused":true,"progress":{"totals":{"pages":7},"worker":"w","under_way":2},"submits":4,"controller":{"crawl":"c","worker":"w","queue":"q/w","round":12}}`
	var s, again CrawlState
	if err := json.Unmarshal([]byte(former), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Members) != 1 || s.Owner != "crawl/c@r" || s.Begun.Run != 3 || !s.Paused || s.Submits != 4 || s.Progress.Totals.Pages != 7 {
		t.Fatalf("read as %+v", s)
	}
	if m := s.Members[0]; m.Member != (activities.Member{Worker: "w", Queue: "q/w", Instance: "i"}) || m.Controller.Round != 12 || m.Progress.InFlight != 2 {
		t.Errorf("its member is %+v", m)
	}
	text, err := json.Marshal(&s)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("handed on as %s: %+v, %v", text, again, err)
	}
}

// TestSumProgress: what a crawl shows of its members are sums; it holds if all of them do that are not gone, and says why each does.
func TestSumProgress(t *testing.T) {
	at := time.Unix(1e9, 0)
	one := activities.Progress{
		Worker: "one", State: crawl.ControllerHolding, Holds: "the disk is full", At: at, InFlight: 1, Leases: &politeness.Waiting{Asks: 2, IP: "192.0.2.1"},
		Progress: frontier.Progress{Waiting: 10, Queues: 3, Totals: frontier.Totals{Pages: 5, Failed: 1}, Longest: &frontier.Longest{PLD: "a.test", Waiting: 4, Of: 10}, Reserve: &frontier.Reserve{Price: 0.25, Held: 2}},
	}
	two := activities.Progress{
		Worker: "two", State: crawl.ControllerCrawling, At: at.Add(time.Second), InFlight: 2, Leases: &politeness.Waiting{Asks: 1},
		Progress: frontier.Progress{Waiting: 20, Queues: 4, Totals: frontier.Totals{Pages: 6}, Longest: &frontier.Longest{PLD: "b.test", Waiting: 9, Of: 20}, Reserve: &frontier.Reserve{Price: 0.5, Held: 3}},
	}
	if sum := sumProgress([]*CrawlMember{{Progress: one}}); !reflect.DeepEqual(sum, one) {
		t.Errorf("of one member %+v", sum)
	}
	members := []*CrawlMember{{Member: activities.Member{Worker: "one"}, Progress: one}, {Member: activities.Member{Worker: "two"}, Progress: two}}
	want := activities.Progress{
		Worker: "one, two", State: crawl.ControllerCrawling, At: at.Add(time.Second), InFlight: 3, Leases: &politeness.Waiting{Asks: 3, IP: "192.0.2.1"},
		Progress: frontier.Progress{Waiting: 30, Queues: 7, Totals: frontier.Totals{Pages: 11, Failed: 1}, Longest: &frontier.Longest{PLD: "b.test", Waiting: 9, Of: 30}, Reserve: &frontier.Reserve{Price: 0.5, Held: 5}},
	}
	if sum := sumProgress(members); !reflect.DeepEqual(sum, want) {
		t.Errorf("the sum is %+v, want %+v", sum, want)
	}
	members[1].Progress.Holds, members[1].Progress.State = "no network", crawl.ControllerHolding
	if sum := sumProgress(members); sum.Holds != "one: the disk is full; two: no network" || sum.State != crawl.ControllerHolding {
		t.Errorf("all hold, and the sum is %+v", sum)
	}
	gone := &CrawlMember{Member: activities.Member{Worker: "gone"}, Gone: true, Progress: activities.Progress{State: crawl.ControllerCrawling, Progress: frontier.Progress{Totals: frontier.Totals{Pages: 3}, Reserve: &frontier.Reserve{Price: 1, Held: 9}}}}
	sum := sumProgress([]*CrawlMember{gone, members[0], members[1]})
	if sum.Holds != "one: the disk is full; two: no network" || sum.State != crawl.ControllerHolding || sum.Totals.Pages != 14 {
		t.Errorf("all hold that are not gone: %+v", sum)
	}
	if !reflect.DeepEqual(sum.Reserve, want.Reserve) {
		t.Errorf("%+v wait for the price, without those of the worker that is gone %+v", sum.Reserve, want.Reserve)
	}
}

// TestLostTotals: what segments say of a lost member counts; of what they do not say, its last report. What it knew is
// at others by then, and counts with 0, whatever it and a worker of an earlier version say of it.
func TestLostTotals(t *testing.T) {
	archived := frontier.Totals{Pages: 9, Requests: 9, New: 3, Changed: 2, Unchanged: 2, Gone: 1, Forbidden: 1, Requisites: 12, RequisitesArchived: 12}
	reported := frontier.Totals{Pages: 5, New: 5, Links: 70, Known: 60, Failed: 1, NotDue: 8, Requisites: 10, RequisitesArchived: 4, RequisitesCut: 2}
	want := archived
	want.Links, want.Failed, want.NotDue, want.RequisitesCut, want.Requisites = 70, 1, 8, 2, 0
	if got := lostTotals(archived, reported); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestAddTotals: no number is left out.
func TestAddTotals(t *testing.T) {
	var a frontier.Totals
	v := reflect.ValueOf(&a).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum := reflect.ValueOf(addTotals(a, a))
	for i := range sum.NumField() {
		if got := sum.Field(i).Int(); got != int64(2*(i+1)) {
			t.Errorf("%s is %d, want %d", sum.Type().Field(i).Name, got, 2*(i+1))
		}
	}
}

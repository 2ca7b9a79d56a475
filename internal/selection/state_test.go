package selection

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLastDecisionWins: of decisions of a URL and of groups the last one counts; they win over rules, rules over proposals; what was taken
// back counts no more.
func TestLastDecisionWins(t *testing.T) {
	l := newLog(t, newStore(t))
	one, two, other := page(1), page(2), page(3)
	other.Host, other.Site, other.URL = "example.net", "example.net", "https://example.net/"
	other.Application = ""
	check := func(step string, f *Facts, v Verdict, by By, entry uint64) {
		t.Helper()
		if got := stateOf(t, l).Of(f); got != (Ruling{v, by, entry}) {
			t.Errorf("%s: %+v, want %s by %s of entry %d", step, got, v, by, entry)
		}
	}
	check("nothing", one, Ask, ByNothing, 0)
	put(t, l, Entry{Accepted: []Proposal{{one.URL, Drop, 0.9}, {other.URL, Keep, 0.8}}}) // 2
	check("a proposal", one, Drop, ByProposal, 2)
	put(t, l, Entry{Rules: []Rule{{"example.org", Keep}, {"p/2", Drop}}}) // 3
	check("a rule over a proposal", one, Keep, ByRule, 3)
	check("the last rule", two, Drop, ByRule, 3)
	check("no rule", other, Keep, ByProposal, 2)
	put(t, l, ofURL(Drop, one.URL)) // 4
	check("a person over a rule", one, Drop, ByPerson, 4)
	put(t, l, ofGroup(Keep, AppGroup("phpBB", "thread", "www.example.org"))) // 5
	check("a later group", one, Keep, ByPerson, 5)
	check("a group", two, Keep, ByPerson, 5)
	put(t, l, ofURL(Drop, two.URL)) // 6
	check("a later URL", two, Drop, ByPerson, 6)
	check("the rest of the group", one, Keep, ByPerson, 5)
	put(t, l, Entry{Decisions: []Decision{{Group: SiteGroup("example.org"), Verdict: Drop}, {URL: two.URL, Verdict: Keep}}}) // 7
	check("the last of an entry", two, Keep, ByPerson, 7)
	check("the first of an entry", one, Drop, ByPerson, 7)
	put(t, l, ofURL(Ask, one.URL)) // 8
	check("taken back: the rule again", one, Keep, ByRule, 3)
	put(t, l, Entry{Rules: []Rule{{"p/1", Ask}}}) // 9
	check("a rule that asks", one, Ask, ByRule, 9)
	put(t, l, Entry{Withdrawn: []uint64{9, 3}}) // 10
	check("rules withdrawn", one, Drop, ByProposal, 2)
	put(t, l, Entry{Rules: []Rule{{"?", Keep}}}) // 11
	if _, err := l.State(0, parse); err == nil || !strings.Contains(err.Error(), "entry 11") || !strings.Contains(err.Error(), "question mark") {
		t.Error(err)
	}
	put(t, l, Entry{Withdrawn: []uint64{11}})
	check("a bad rule withdrawn", one, Drop, ByProposal, 2)
	earlier, err := l.State(6, parse)
	if err != nil || earlier.Version != 6 || earlier.Of(two) != (Ruling{Drop, ByPerson, 6}) {
		t.Errorf("%+v, %v", earlier, err)
	}
	if _, err := l.State(99, parse); err == nil {
		t.Error("there is a version 99")
	}
}

// TestNear: a decision of near-duplicates is of all captures whose prints differ in few bits.
func TestNear(t *testing.T) {
	l := newLog(t, newStore(t))
	put(t, l, ofGroup(Drop, NearGroup(0xf0f0)))
	put(t, l, ofGroup(Keep, NearGroup(0xf0f0)))
	put(t, l, ofGroup(Drop, NearGroup(0xf0f7)))
	s := stateOf(t, l)
	for print, want := range map[uint64]Ruling{
		0xf0f0:      {Drop, ByPerson, 4}, // within three bits of both
		0xf0f0 ^ 56: {Keep, ByPerson, 3}, // of the first alone
		0xff00ff:    {Ask, ByNothing, 0},
		0:           {Ask, ByNothing, 0},
	} {
		f := page(1)
		f.Print = print
		if got := s.Of(f); got != want {
			t.Errorf("%x: %+v, want %+v", print, got, want)
		}
	}
}

// TestExplain: an explanation has all that speaks of a capture in order, and marks what counts.
func TestExplain(t *testing.T) {
	l := newLog(t, newStore(t))
	f := page(1)
	put(t, l, Entry{Who: "ann", Why: "forum", Rules: []Rule{{"example.org", Drop}}})
	put(t, l, Entry{Who: "bob", Why: "spam <b>", Decisions: []Decision{{Group: HostGroup(f.Host), Verdict: Drop}, {URL: "https://example.org/other", Verdict: Keep}}})
	put(t, l, Entry{Who: "ann", Why: "it is the one about ravens", Decisions: []Decision{{URL: f.URL, Verdict: Keep}}})
	put(t, l, Entry{Who: "cat", Accepted: []Proposal{{f.URL, Drop, 0.99}}})
	e := stateOf(t, l).Explain(f)
	if e.Verdict != Keep || e.By != ByPerson || e.Entry != 4 || len(e.Steps) != 4 {
		t.Fatalf("%+v", e)
	}
	for i, want := range []Step{
		{Entry: 2, Who: "ann", Why: "forum", By: ByRule, Verdict: Drop, Query: "example.org"},
		{Entry: 3, Who: "bob", Why: "spam <b>", By: ByPerson, Verdict: Drop, Group: HostGroup(f.Host)},
		{Entry: 4, Who: "ann", Why: "it is the one about ravens", By: ByPerson, Verdict: Keep, URL: f.URL, Counts: true},
		{Entry: 5, Who: "cat", By: ByProposal, Verdict: Drop, URL: f.URL, Certainty: 0.99},
	} {
		got := e.Steps[i]
		if got.When.IsZero() {
			t.Errorf("step %d has no time", i)
		}
		got.When, got.at = want.When, 0
		if got != want {
			t.Errorf("step %d: %+v, want %+v", i, got, want)
		}
	}
	if e := stateOf(t, l).Explain(&Facts{URL: "https://nowhere.example/"}); e.Verdict != Ask || e.By != ByNothing || len(e.Steps) != 0 {
		t.Errorf("%+v", e)
	}
}

// TestDeterministic: two readers of a selection know the same of a thousand pages, and have the same reasons.
func TestDeterministic(t *testing.T) {
	store := newStore(t)
	l := newLog(t, store)
	for i := range 40 {
		v := Verdicts[i%3]
		put(t, l, ofURL(v, page(i*7%100).URL))
		if i%10 == 0 {
			put(t, l, Entry{Rules: []Rule{{"p/" + string(rune('0'+i/10)), v}}})
			put(t, l, ofGroup(v, NearGroup(uint64(i+1)<<32)))
		}
	}
	again, err := Open(t.Context(), store, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	a, b := stateOf(t, l), stateOf(t, again)
	for i := range 1000 {
		f := page(i)
		f.Print = uint64(i) << 30
		one, err1 := json.Marshal(a.Explain(f))
		two, err2 := json.Marshal(b.Explain(f))
		if err1 != nil || err2 != nil || string(one) != string(two) {
			t.Fatalf("%s\n%s", one, two)
		}
		if e := a.Explain(f); e.Ruling != b.Of(f) {
			t.Fatalf("%+v, %+v", e, b.Of(f))
		}
	}
}

package selection

import (
	"sync"
	"testing"
)

// TestAppendOnce: an entry with the ID of one that is there is not put again: by the log that has put it, by one that has not read it,
// or by many at a time.
func TestAppendOnce(t *testing.T) {
	store := newStore(t)
	l := newLog(t, store)
	late, err := Open(t.Context(), store, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	e := Entry{ID: NewID(), Who: "ann", Decisions: []Decision{{URL: page(1).URL, Verdict: Keep}}}
	if n, err := l.Append(t.Context(), e); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	put(t, l, ofURL(Drop, page(2).URL))
	for _, again := range []*Log{l, late} {
		if n, err := again.Append(t.Context(), e); n != 2 || err != nil {
			t.Errorf("entry %d, %v", n, err)
		}
	}
	e.ID = NewID()
	var logs sync.WaitGroup
	numbers := make([]uint64, 16)
	for i := range numbers {
		logs.Go(func() {
			other, err := Open(t.Context(), store, "ravens")
			if err == nil {
				numbers[i], err = other.Append(t.Context(), e)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	logs.Wait()
	for _, n := range numbers {
		if n != 4 {
			t.Errorf("entries %v, want 4 alone", numbers)
			break
		}
	}
	if err := l.Update(t.Context()); err != nil || l.Version() != 4 {
		t.Errorf("version %d, %v", l.Version(), err)
	}
	if n, known := l.Number(e.ID); n != 4 || !known {
		t.Error(n, known)
	}
}

// TestJudge: what rules say of words in a text is known when the text is not kept, until there are other rules; a prepared capture has the
// same rulings.
func TestJudge(t *testing.T) {
	l := newLog(t, newStore(t))
	put(t, l, Entry{Rules: []Rule{{"-raven", Drop}, {"crow", Ask}}})
	state := func() *State {
		s, err := l.State(0, ParseQuery)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ready := NewPreparer()
	for text, want := range map[string]Ruling{"a raven": {Ask, ByNothing, 0}, "a wren": {Drop, ByRule, 2}, "a crow": {Ask, ByRule, 2}} {
		f := page(1)
		f.Text = text
		if got := state().Of(f); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
		ready.Prepare(f)
		state().Judge(f)
		bare := f.Bare()
		if got := state().Of(&bare); bare.Text != "" || bare.ready != nil || got != want {
			t.Errorf("%s, without its text: %+v, want %+v", text, got, want)
		}
	}
	before := state()
	f := page(1)
	f.Text = "a raven"
	before.Judge(f)
	put(t, l, Entry{Rules: []Rule{{"raven", Keep}}})
	if got := state().Of(f); got != (Ruling{Keep, ByRule, 3}) || before.SameRules(state()) {
		t.Errorf("a further rule: %+v", got)
	}
	put(t, l, ofURL(Drop, f.URL))
	put(t, l, Entry{Withdrawn: []uint64{3}})
	if got := state().Of(f); got != (Ruling{Drop, ByPerson, 4}) || before.SameRules(state()) {
		t.Errorf("a rule withdrawn: %+v", got)
	}
}

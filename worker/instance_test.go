package worker

import (
	"testing"
	"time"
)

// A data folder keeps its identity, and each folder has another one.
func TestInstance(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	first, err := instanceOf(one)
	if err != nil {
		t.Fatal(err)
	}
	again, err := instanceOf(one)
	if err != nil || again != first {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
	if other, err := instanceOf(two); err != nil || other == first {
		t.Errorf("two folders: %q, %v", other, err)
	}
}

// A polling worker of the same name on another data folder is a rival of the worker that started later.
func TestRival(t *testing.T) {
	started := time.Now()
	polled := started.Add(2 * time.Minute) // by the clock of the Temporal service, which is fast or this one slow
	before, after := started.Add(-time.Hour), polled.Add(time.Second)
	const mine, other = "bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		what     string
		identity string
		last     time.Time
		want     bool
	}{
		{"the older", identity("w1", other, before), after, true},
		{"the older, that has polled before this one did: it may have ended", identity("w1", other, before), polled.Add(-time.Second), false},
		{"the younger", identity("w1", other, after), after, false},
		{"of the same time, the first by identity", identity("w1", other, started), after, true},
		{"this one", identity("w1", mine, started), after, false},
		{"this one before it was started again", identity("w1", mine, before), after, false},
		{"of another name", identity("w2", other, before), after, false},
		{"of a longer name", identity("w11", other, before), after, false},
		{"something else", "123@host@", after, false},
	} {
		if got := findRival([]poller{{c.identity, c.last}}, "w1", mine, started, polled) != ""; got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

// A worker knows its own polls by its identity; until the service has seen one, there is nothing to compare those of others with.
func TestOwnPoll(t *testing.T) {
	at := time.Now()
	list := []poller{{"w1/aaaaaaaaaaaaaaaa/1@host/7", at}, {"w1/bbbbbbbbbbbbbbbb/2@host/8", at.Add(time.Second)}}
	if got := ownPoll(list, "w1/bbbbbbbbbbbbbbbb/2@host/8"); !got.Equal(at.Add(time.Second)) {
		t.Errorf("%v, want that of the second", got)
	}
	if got := ownPoll(list, "w1/bbbbbbbbbbbbbbbb/3@host/9"); !got.IsZero() {
		t.Errorf("%v of a worker that has not polled", got)
	}
}

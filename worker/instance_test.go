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
	before, after := started.Add(-time.Hour), started.Add(time.Second)
	const mine, other = "bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		what     string
		identity string
		last     time.Time
		want     bool
	}{
		{"the older", identity("w1", other, before), after, true},
		{"the older, that has polled before this one started: it may have ended", identity("w1", other, before), before, false},
		{"the younger", identity("w1", other, after), after, false},
		{"of the same time, the first by identity", identity("w1", other, started), after, true},
		{"this one", identity("w1", mine, started), after, false},
		{"this one before it was started again", identity("w1", mine, before), after, false},
		{"of another name", identity("w2", other, before), after, false},
		{"of a longer name", identity("w11", other, before), after, false},
		{"something else", "123@host@", after, false},
	} {
		if got := findRival([]poller{{c.identity, c.last}}, "w1", mine, started) != ""; got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

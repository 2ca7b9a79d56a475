package politeness

import (
	"slices"
	"testing"
	"time"
)

// Workers with different host groups are noticed, until one of them sends nothing any more.
func TestDiffering(t *testing.T) {
	s, now := New(0, 0), start
	heard := func(worker, hash string) []string {
		t.Helper()
		s = copyOf(t, s)
		return s.Serve(now, []Round{{From: worker, Round: 1, Worker: worker, Groups: hash}})[0].Differing
	}
	for _, test := range []struct {
		worker, hash string
		after        time.Duration
		want         []string
	}{
		{"a", "1", 0, nil}, {"b", "1", 0, nil}, {"c", "", 0, []string{"a", "b"}}, {"a", "2", 0, []string{"b", "c"}}, {"b", "2", 0, []string{"c"}},
		{"a", "2", groupsKept + time.Second, nil},
	} {
		now = now.Add(test.after)
		if got := heard(test.worker, test.hash); !slices.Equal(got, test.want) {
			t.Errorf("%s with %q differs from %v, want %v", test.worker, test.hash, got, test.want)
		}
	}
	heard("b", "")
	if got := s.Differing(now); len(got) != 2 || !slices.Equal(got["2"], []string{"a"}) || !slices.Equal(got[""], []string{"b"}) {
		t.Errorf("%v", got)
	}
}

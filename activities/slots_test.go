package activities

import "testing"

func TestLaneShare(t *testing.T) {
	for _, test := range []struct{ own, all, want int }{
		{1, 1, 320}, {1, 2, 320}, {1, 4, 160}, {1, 5, 128}, {4, 5, 320}, {3, 12, 160}, {1, 1000, 1}, {100, 100, 320},
	} {
		if got := laneShare(320, test.own, test.all); got != test.want {
			t.Errorf("weight %d of %d: %d lanes, want %d", test.own, test.all, got, test.want)
		}
	}
}

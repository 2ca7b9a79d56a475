package activities

import (
	"testing"
)

// TestMembers: a worker that answers takes part, with its own task queue.
func TestMembers(t *testing.T) {
	r := newRig(t)
	value, err := r.env.ExecuteActivity(r.Members)
	r.must(err)
	var list []Member
	if err := value.Get(&list); err != nil || len(list) != 1 || list[0] != (Member{Worker: "w", Queue: "muninn/w", Instance: rigInstance}) {
		t.Errorf("%v, %v", list, err)
	}
}

package activities

import "testing"

// TestOpen: a batch can be opened several times; one that is done has nothing to do.
func TestOpen(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	for range 2 {
		if out, err := call[OpenResult](r, r.Open, in); err != nil || out.Done || out.Archived || out.URLs != 1 || len(out.Asks) != 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	if out, err := call[OpenResult](r, r.Open, in); err != nil || !out.Archived {
		t.Errorf("archived: %+v, %v", out, err)
	}
	r.must(r.do(r.Commit, in))
	if out, err := call[OpenResult](r, r.Open, in); err != nil || !out.Done {
		t.Errorf("committed: %+v, %v", out, err)
	}
}

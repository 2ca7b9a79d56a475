package activities

import "testing"

// TestLeft reports whether any URL waits.
func TestLeft(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	left := func() bool {
		out, err := call[bool](r, r.Left, rigCrawl)
		r.must(err)
		return out
	}
	if !left() {
		t.Error("the seed does not wait")
	}
	in := r.batch()
	r.open(in, func(string) string { return "<p>no link" })
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	if left() {
		t.Error("something waits that was never found")
	}
}

package frontier

import "testing"

// TestNonceOfALaterLife: the nonce of a batch says whether it was given back before and is run again.
func TestNonceOfALaterLife(t *testing.T) {
	r, _ := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/")...)
	claims := r.next().Claims
	n, _ := Number(claims[0].ID)
	batch := claims[0].ID + "@w.7"
	_, err := r.Batch(batch).Start(r.grant(claims...))
	r.must(err)
	nonce := func(leases []Claim, known map[string][]string) string {
		t.Helper()
		lanes, err := r.Batch(batch).Reopen(leases, known)
		r.must(err)
		life, err := r.Batch(batch).Life()
		r.must(err)
		if len(lanes) != 1 {
			t.Fatalf("%d lanes", len(lanes))
		}
		return life.Nonce
	}
	first := nonce(claims, nil)
	if again := nonce(claims, nil); again != first {
		t.Errorf("one life has the nonces %s and %s", first, again)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	w, err := r.Crawl.Watermark()
	r.must(err)
	later := nonce([]Claim{{ID: claims[0].ID, PLD: claims[0].PLD, IP: claims[0].IP}}, map[string][]string{claims[0].ID: {"http://a.example/"}})
	if !w.passes(n) || LivedBefore(first) || !LivedBefore(later) {
		t.Errorf("the watermark %+v has passed batch %d; the nonces are %s, %s", w, n, first, later)
	}
	for range 100 {
		if LivedBefore(newNonce(false)) || !LivedBefore(newNonce(true)) || len(newNonce(true)) != 16 {
			t.Fatal("a nonce does not say of which life it is")
		}
	}
}

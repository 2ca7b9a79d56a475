package frontier

import (
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// A life of a batch lasts until its claims are committed or given back, whatever happens to the frontier meanwhile.
func TestLives(t *testing.T) {
	r := newRig(t, nil)
	r.submit("seeds", found(1, "http://a.example/")...)
	batch, lanes := r.take()
	first, err := r.Batch(batch).Life()
	r.must(err)
	if first.Nonce == "" || !first.Opened {
		t.Errorf("%+v", first)
	}
	_, err = r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
	r.must(err)
	r.reopen()
	if same, err := r.Batch(batch).Life(); err != nil || same != first {
		t.Errorf("run again while it lives, the batch has %+v, %v; before %+v", same, err, first)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	if _, err := r.Batch(batch).Life(); !errors.Is(err, ErrNoBatch) {
		t.Errorf("given back: %v", err)
	}
	lanes, err = r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
	r.must(err)
	second, err := r.Batch(batch).Life()
	r.must(err)
	if second.Nonce == "" || second.Nonce == first.Nonce {
		t.Errorf("run again after it was given back, the batch lives as %+v, before as %+v", second, first)
	}
	r.finish(batch, lanes)
	if _, err := r.Batch(batch).Life(); !errors.Is(err, ErrNoBatch) {
		t.Errorf("committed: %v", err)
	}
}

// All claims of a bundle are of one life.
func TestBundleLivesOnce(t *testing.T) {
	r := newRig(t, nil)
	r.submit("more", found(0.5, "http://b.example/", "http://c.example/")...)
	claims := r.next().Claims
	if len(claims) < 2 {
		t.Fatalf("%d claims", len(claims))
	}
	batch := r.start(claims...)
	nonces := map[string]bool{}
	for _, c := range r.Batch(batch).Claims() {
		nonces[c.Nonce] = true
	}
	if len(nonces) != 1 || nonces[""] {
		t.Errorf("nonces %v", nonces)
	}
}

// Only batches that go to an archive refer to the captures in it.
func TestAnotherArchive(t *testing.T) {
	r := newRig(t, nil)
	one, two := Place{Where: "/one"}, Place{Where: "/one", Prefix: "two"}
	goesTo := func(to Place, number int, former *Place) {
		t.Helper()
		n, was, err := r.UseArchive(to)
		r.must(err)
		if n != number || (was == nil) != (former == nil) || was != nil && *was != *former {
			t.Fatalf("%v is archive %d, before %v", to, n, was)
		}
	}
	goesTo(one, 0, nil)
	goesTo(one, 0, nil)
	url := "http://a.example/"
	r.submit("seeds", found(1, url)...)
	visit := crawl.Visit{ETag: `"e"`, Digest: "sha1:AAAA", URL: url, Date: r.clock.Now().UTC()}
	commit := func(batch string) {
		t.Helper()
		life, err := r.Batch(batch).Life()
		r.must(err)
		o := done(url)
		o.Visit = visit
		r.must(r.Commit(Commit{Batch: batch, Archive: life.Archive, Outcomes: []crawl.PageOutcome{o}, Originals: map[string]crawl.Visit{"sha1:AAAA": visit}}))
	}
	again := func(owner string) (batch string, previous crawl.Visit) {
		t.Helper()
		r.must(r.End("owner"))
		r.must(r.begin(owner, nil))
		r.must(r.URLs().Recrawl(owner))
		batch, lanes := r.take()
		for _, l := range lanes {
			for _, target := range l.Targets {
				if target.URL == url {
					return batch, target.Previous
				}
			}
		}
		t.Fatalf("%s is not claimed", url)
		return "", previous
	}
	original := func(archive int, want bool) {
		t.Helper()
		if _, found := r.URLs().Original(archive, url, "sha1:AAAA"); found != want {
			t.Errorf("original in archive %d: %v", archive, found)
		}
	}
	batch, _ := r.take()
	commit(batch)
	original(0, true)
	original(1, false)

	goesTo(two, 1, &one)
	r.reopen()
	batch, previous := again("second")
	if previous != (crawl.Visit{}) {
		t.Errorf("a batch that goes to another archive gets %+v", previous)
	}
	goesTo(one, 0, &two) // the batch stays where it is
	if life, err := r.Batch(batch).Life(); err != nil || life.Place != two || life.Archive != 1 {
		t.Errorf("%+v, %v", life, err)
	}
	commit(batch)
	original(1, true)

	r.must(r.End("second"))
	goesTo(two, 1, &one)
	if _, previous := again("third"); previous.Digest != "sha1:AAAA" {
		t.Errorf("back in the second archive, the page's visit is %+v", previous)
	}
}

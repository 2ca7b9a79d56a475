package activities

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestOwners: each URL is its partition's owner's, whichever worker is asked; nobody's while the partition is handed over. What is no URL is the first worker's, which says so.
func TestOwners(t *testing.T) {
	s := newSpreadRing(t, "w", "v")
	in := OwnersInput{Crawl: rigCrawl, URLs: []string{"foo bar"}}
	first := s.state.View("").Workers[0].Name
	want, of := []string{first}, map[string]int{}
	for _, host := range []string{"a.org", "b.org", "c.org", "d.org", "e.org", "f.org", "g.org", "h.org"} {
		in.URLs = append(in.URLs, "http://www."+host+"/page", "https://"+host+":8443/")
		owner := s.ownerOf(host).Settings.Worker
		want, of[owner] = append(want, owner, owner), of[owner]+1
	}
	if len(of) != 2 {
		t.Fatalf("all are of one worker: %v", of)
	}
	for name, r := range s.workers {
		if got, err := call[[]string](r, r.Owners, in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s says %v, %v; want %v", name, got, err, want)
		}
	}

	s.state.Lost(time.Now(), "v", "v")
	s.state.Tick(time.Now().Add(24 * time.Hour))
	w := s.workers["w"]
	w.Membership.Take(s.state.View("w"))
	for i, owner := range want {
		if owner == "v" {
			want[i] = ""
		}
	}
	want[0] = "w"
	if got, err := call[[]string](w, w.Owners, in); err != nil || !slices.Equal(got, want) {
		t.Errorf("once a worker is given up: %v, %v; want %v", got, err, want)
	}
}

// TestOwnersAway: a worker without a view of the ring does not answer.
func TestOwnersAway(t *testing.T) {
	a, _, _, _ := ringRig(t)
	a.Now = time.Now
	if _, err := a.Owners(t.Context(), OwnersInput{Crawl: rigCrawl, URLs: []string{rigSeed}}); !errors.Is(err, errAway) {
		t.Error(err)
	}
}

package checkpoint

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestPartitionsOfALaterLife: a batch is given back, the checkpoint has a watermark that has passed it, and then an operator resets it: what it archives after that is brought into
// partitions that are made again, though the watermark has passed its number.
func TestPartitionsOfALaterLife(t *testing.T) {
	w := newSpreadWorker(t, 9)
	w.now = w.now.Add(-2 * time.Hour) // a checkpoint is made an hour later, and objects of the store have the true time
	for range 10 {
		w.run(true)
	}
	claims, err := w.Crawl("c").Claims().Claim(t.Context(), frontier.Want{
		Round: 1, Claims: 1, Lanes: 10, Until: time.Now(), MaxFail: 3,
		Resolve: func(context.Context, string) (string, error) { return "192.0.2.1", nil },
		Refused: func(error) bool { return false },
		Backoff: func(int) time.Duration { return time.Minute },
	})
	must(t, err)
	if len(claims.Claims) != 1 {
		t.Fatalf("%d claims", len(claims.Claims))
	}
	claim := claims.Claims[0]
	n, _ := frontier.Number(claim.ID)
	batch := w.Crawl("c").Batch(claim.ID + "@w.7")
	_, err = batch.Start([]politeness.Grant{{Lease: claim.ID, IP: claim.IP, Number: 1, Deadline: time.Now().Add(time.Hour)}})
	must(t, err)
	must(t, batch.GiveBack(time.Now()))
	w.checkpointAll()
	mark, err := w.Crawl("c").Watermark()
	must(t, err)
	if mark.First > n || n >= mark.Below {
		t.Fatalf("the watermark %+v has not passed batch %d", mark, n)
	}
	w.later = true
	before := len(w.known)
	w.batch = int(n) - 1
	if w.run(true); len(w.known) == before {
		t.Fatal("the batch has no new links: take another seed")
	}
	made := opened(t, t.TempDir())
	must(t, partitionsOf(made, w.store).Run(t.Context(), every(0, 1)))
	next := regexp.MustCompile(` Next:.* Busy:`) // a host may be asked from a time on that is kept to the millisecond
	known := func(f *frontier.Frontier) map[string]string {
		of := together(t, f)
		for url, what := range of {
			of[url] = next.ReplaceAllString(what, " Busy:")
		}
		return of
	}
	sameKnowledge(t, known(w.Frontier), known(made))
}

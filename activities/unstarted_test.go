package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// startShard is a Temporal of one shard that starts batches, but for some.
type startShard struct {
	testShard
	lost    int      // starts that are lost yet
	started []string // batches
}

func (s *startShard) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	if s.lost > 0 {
		s.lost--
		return nil, errors.New("the worker is killed")
	}
	s.started = append(s.started, args[0].(BatchInput).Batch)
	return nil, nil
}

// A worker that is killed when it has bound claims to a batch and has not started that yet starts it when the round is tried again:
// nobody else knows of it, and its claims would run out only after frontier.DefaultClaimTTL.
func TestRoundStartsWhatAKillLeft(t *testing.T) {
	a := claimable(t)
	shard := &startShard{testShard: testShard{state: politeness.New(0, 1)}, lost: 1}
	a.Client, a.Archives = shard, &Archives{Default: t.TempDir()}
	in := ClaimInput{Crawl: "c", Round: 1, Reply: "r"}
	a.claimRound(t, in) // its result is lost with the worker
	if len(shard.started) > 0 {
		t.Fatalf("%v are started: the test tests nothing", shard.started)
	}
	a.Now = func() time.Time { return time.Now().Add(-claimWait) } // a round that has nothing to claim waits no longer
	out := a.claimRound(t, in)
	if len(shard.started) != 1 {
		t.Fatalf("the second attempt starts %v, %+v", shard.started, out)
	}

	// A batch that has begun is none that a kill has left.
	batch := a.Frontier.Crawl("c").Batch(shard.started[0])
	if _, err := batch.Reopen(batch.Claims(), nil); err != nil {
		t.Fatal(err)
	}
	if a.claimRound(t, in); len(shard.started) > 1 {
		t.Errorf("a batch that has begun is started again: %v", shard.started)
	}
}

// A batch that owes, and whose workflow does not look who takes its links, is started again by a round; one that looks is not.
func TestRoundStartsWhatOwes(t *testing.T) {
	a := claimable(t)
	shard := &startShard{testShard: testShard{state: politeness.New(0, 1)}}
	a.Client, a.Archives = shard, &Archives{Default: t.TempDir()}
	a.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r"})
	if len(shard.started) != 1 {
		t.Fatalf("%v are started", shard.started)
	}
	batch := shard.started[0]
	if err := a.Frontier.Crawl("c").Commit(frontier.Commit{Batch: batch, Owes: true}); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(-time.Hour) // a round that has nothing to claim waits no longer
	a.Now = func() time.Time { return now }
	in := BatchInput{Crawl: "c", Batch: batch}
	for i, c := range []struct {
		when  string
		does  func()
		first bool
		again int
	}{
		{"it has not looked in this process", func() {}, false, 1},
		{"it was started a moment ago", func() { now = now.Add(owingLook) }, false, 1},
		{"it has looked since", func() { a.Behind.note(in, now); now = now.Add(owingLook) }, false, 1},
		{"it does not look any more", func() { now = now.Add(time.Second) }, false, 2},
		{"the controller is another one", func() {}, true, 3},
		{"it was started a moment ago", func() {}, false, 3},
	} {
		c.does()
		a.claimRound(t, ClaimInput{Crawl: "c", Round: int64(i + 2), Reply: "r", First: c.first})
		if n := len(shard.started) - 1; n != c.again || shard.started[n] != batch {
			t.Errorf("%s: %v are started", c.when, shard.started)
		}
	}
}

package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// roundWait is how long a shard may take to answer a round at once. Then it is sent as a signal, which waits for a worker that
// runs the shard; a shard that is sent both serves a round twice, which changes nothing.
const roundWait = 20 * time.Second

// askRound sends a shard a round and returns its answer, if that comes within a wait. The update continues until roundWait is over: an answer that comes later says that the shard is slow and not
// silent. What it grants comes once more, with the answer to the signal that the round is sent as.
func (a *Activities) askRound(ctx context.Context, shard int, r politeness.Round, wait time.Duration) (RoundResult, error) {
	r.Shards = a.Settings.Shards
	update, end := context.WithTimeout(context.WithoutCancel(ctx), roundWait)
	ended := context.AfterFunc(ctx, end) // while it is waited for, it ends with the activity
	type answer struct {
		out RoundResult
		err error
	}
	came := make(chan answer, 1)
	go func() {
		defer end()
		var got answer
		asked, err := a.Client.UpdateWorkflow(update, client.UpdateWorkflowOptions{
			WorkflowID: names.PolitenessID(shard), UpdateName: names.UpdateRound, Args: []any{r}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = asked.Get(update, &got.out)
		}
		if got.err = err; err == nil {
			a.silence.heard(shard)
		}
		came <- got
	}()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	select {
	case got := <-came:
		ended()
		return got.out, got.err
	case <-patience.C:
		ended()
		return RoundResult{}, context.DeadlineExceeded
	}
}

// delivery is what became of a round that a shard was asked.
type delivery int

const (
	deliveryHeld    delivery = iota // it was not sent: the shard does not answer, and was sent a signal lately
	deliveryLost                    // Temporal has not taken it
	deliveryLeft                    // it was sent as a signal, and no answer is waited for: the shard has not answered the one before either
	deliverySent                    // it was sent as a signal, which will be answered by one
	deliveryAnswers                 // the shard has answered
)

// sendShard asks a shard, and sends it the round as a signal if it does not answer. A round that has to arrive is sent whatever is known of the shard. If the activity ends meanwhile, nothing is
// known of the shard by that.
func (a *Activities) sendShard(ctx context.Context, shard int, r politeness.Round, must bool) (out RoundResult, how delivery, err error) {
	t, wait := a.silence.ask(shard, a.Now(), must), roundWait
	if !t.may {
		return out, deliveryHeld, nil
	}
	if t.alone {
		wait = silentWait
	}
	if out, err = a.askRound(ctx, shard, r, wait); err == nil {
		return out, deliveryAnswers, nil
	}
	err = a.signalPoliteness(ctx, shard, r)
	switch {
	case err != nil && ctx.Err() != nil:
		a.silence.unsent(shard, t)
		return out, deliveryLost, err
	case err == nil && ctx.Err() == nil: // else nothing says that it is the shard
		a.silence.unanswered(shard, t)
	}
	a.silence.signalled(shard, a.Now(), err)
	switch {
	case err != nil:
		return out, deliveryLost, err
	case t.alone:
		return out, deliveryLeft, nil
	}
	return out, deliverySent, nil
}

// notify sends shards notices as signals, which Temporal keeps, and waits for no answer. It returns which could not be sent them.
func (a *Activities) notify(ctx context.Context, noticed map[int]*politeness.Round, must bool) (unsent map[int]bool, err error) {
	shards := slices.Sorted(maps.Keys(noticed))
	held, errs := make([]bool, len(shards)), make([]error, len(shards))
	var sending sync.WaitGroup
	for i, n := range shards { // side by side: those that are asked cost the wait for one
		sending.Go(func() { held[i], errs[i] = a.notifyShard(ctx, n, *noticed[n], must) })
	}
	sending.Wait()
	unsent = map[int]bool{}
	for i, n := range shards {
		if held[i] || errs[i] != nil {
			unsent[n] = true
		}
	}
	return unsent, errors.Join(errs...)
}

// notifyShard sends a shard notices, or reports that it is held, because it does not answer and was sent something lately. One of which it is not known whether it answers is asked to take them
// first: nothing else may be asked of it, and if it answers, it is sent all notices at once again.
func (a *Activities) notifyShard(ctx context.Context, shard int, r politeness.Round, must bool) (held bool, err error) {
	t := a.silence.notify(shard, a.Now(), must)
	if !t.may {
		return true, nil
	}
	if t.asks {
		if out, err := a.askRound(ctx, shard, r, silentWait); err == nil && out.Answer.Fault == "" { // a fault is answered to the controller, by signal
			return false, nil
		}
	}
	err = a.signalPoliteness(ctx, shard, r)
	if err != nil && ctx.Err() != nil {
		a.silence.unsent(shard, t)
		return false, err
	}
	a.silence.signalled(shard, a.Now(), err)
	return false, err
}

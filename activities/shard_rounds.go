package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// RoundResult is what a shard says to a round at once.
type RoundResult struct {
	Answer politeness.Answer `json:"answer"`
	At     time.Time         `json:"at"` // Temporal's time as the round was served

	confirm frontier.Confirmed // what that confirms, at the worker that has asked
}

// roundWait is how long a shard may take to answer a round at once. Then it is sent as a signal, which waits for a worker that
// runs the shard; a shard that is sent both serves a round twice, which changes nothing.
const roundWait = 20 * time.Second

// askRound sends a shard a round and returns its answer.
func (a *Activities) askRound(ctx context.Context, shard int, r politeness.Round) (out RoundResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundWait)
	defer cancel()
	r.Shards = a.Settings.Shards
	asked, err := a.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: names.PolitenessID(shard), UpdateName: names.UpdateRound, Args: []any{r}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = asked.Get(ctx, &out)
	}
	return out, err
}

// sendRound asks the shards that a round concerns. It returns what those say that answer at once, how many others will answer
// by a signal, and what is to be confirmed to the frontier once these have: they do not hold up what the others confirm. started is when Temporal says that the activity began. Shards that are only sent notices
// are sent them as a signal, which Temporal keeps, and no answer is waited for: else one that does not answer would hold up all rounds with notices.
func (a *Activities) sendRound(ctx context.Context, in ClaimInput, round frontier.Round, p crawl.Politeness, started time.Time) (answered []RoundResult, sent int, confirm frontier.Confirmed, err error) {
	rounds := a.splitRound(in, round, p)
	if in.First {
		leases, err := a.Frontier.Crawl(in.Crawl).Claims().Leases()
		if err != nil {
			return nil, 0, confirm, err
		}
		for n := range max(a.Settings.Shards, 1) {
			rounds.of(n, in).Known = &politeness.Known{Crawl: in.Crawl, Worker: a.Settings.Worker, Leases: leases, At: started}
		}
	}
	shards := slices.Sorted(maps.Keys(rounds.asked))
	answers, errs := make([]RoundResult, len(shards)), make([]error, len(shards))
	var asking sync.WaitGroup
	for i, n := range shards { // side by side: those that do not answer cost the wait for one
		asking.Go(func() { answers[i], errs[i] = a.askRound(ctx, n, *rounds.asked[n]) })
	}
	var unsent error
	for _, n := range slices.Sorted(maps.Keys(rounds.noticed)) {
		unsent = errors.Join(unsent, a.signalPoliteness(ctx, n, *rounds.noticed[n]))
	}
	asking.Wait()
	if unsent != nil {
		return nil, 0, confirm, unsent
	}
	for i, n := range shards {
		if errs[i] == nil {
			if answers[i].Answer.Fault == "" {
				answers[i].confirm = rounds.confirm[n].Answered(answers[i].Answer.Refused, false)
			}
			a.noteDiffering(answers[i].Answer.Differing)
			answered = append(answered, answers[i])
			continue
		}
		if err := a.signalPoliteness(ctx, n, *rounds.asked[n]); err != nil {
			return nil, 0, confirm, err
		}
		sent++
		confirm.Add(rounds.confirm[n])
	}
	return answered, sent, confirm, nil
}

// confirmAnswered confirms to the frontier what shards have answered at once, and gives the claims back whose asks were answered busy.
func (a *Activities) confirmAnswered(crawl string, answered []RoundResult) error {
	var all frontier.Confirmed
	for i := range answered {
		all.Add(answered[i].confirm)
		all.Busy = append(all.Busy, answered[i].Answer.Busy...)
		answered[i].Answer.Busy = nil // else the controller would have it done
	}
	return a.Frontier.Crawl(crawl).Claims().Confirm(all)
}

// startAnswered starts the batches that shards have granted at once, and returns the answers. Grants whose batches cannot be
// started stay in them: the controller tries again.
func (a *Activities) startAnswered(ctx context.Context, in ClaimInput, answered []RoundResult) []politeness.Answer {
	var grants []politeness.Grant
	answers, oldest := make([]politeness.Answer, len(answered)), time.Time{}
	for i, r := range answered {
		answers[i] = r.Answer
		grants = append(grants, r.Answer.Grants...)
		if oldest.IsZero() || r.At.Before(oldest) {
			oldest = r.At
		}
	}
	if len(grants) == 0 {
		return answers
	}
	if _, err := a.start(ctx, in.Crawl, grants, a.clockAt(oldest)); err != nil {
		activity.GetLogger(ctx).Warn("batches are not started yet", "crawl", in.Crawl, "error", err)
		return answers
	}
	for i := range answers {
		answers[i].Grants = nil
	}
	return answers
}

// shardRounds is what the shards are sent of a round, by their number.
type shardRounds struct {
	asked   map[int]*politeness.Round  // an answer is waited for
	noticed map[int]*politeness.Round  // notices alone, which need none
	confirm map[int]frontier.Confirmed // what the answer confirms
}

// of is what one shard is asked, nothing at first.
func (r shardRounds) of(shard int, in ClaimInput) *politeness.Round {
	if r.asked[shard] == nil {
		r.asked[shard] = &politeness.Round{From: in.Reply, Round: in.Round}
	}
	return r.asked[shard]
}

// notice adds notices to what shards are asked; those that are asked nothing get a round without a number, which is not answered unless it has a fault.
func (r shardRounds) notice(shard int, in ClaimInput, notices []politeness.Release) *politeness.Round {
	to := r.asked[shard]
	if to == nil {
		to = &politeness.Round{From: in.Reply}
		r.noticed[shard] = to
	}
	to.Releases = append(to.Releases, notices...)
	return to
}

// splitRound is what the shards are sent of a round of the frontier, and what their answers confirm to it.
func (a *Activities) splitRound(in ClaimInput, round frontier.Round, p crawl.Politeness) shardRounds {
	rounds, epoch := shardRounds{map[int]*politeness.Round{}, map[int]*politeness.Round{}, map[int]frontier.Confirmed{}}, a.Membership.Epoch()
	notices := map[int][]politeness.Release{}
	from := func(r *politeness.Round) *politeness.Round {
		r.Worker, r.Groups, r.Epoch = a.Settings.Worker, a.Groups.Hash(), epoch
		return r
	}
	at := func(ip string) *politeness.Round { return from(rounds.of(a.shardOf(ip), in)) }
	confirm := func(ip string, c frontier.Confirmed) {
		of := rounds.confirm[a.shardOf(ip)]
		of.Add(c)
		rounds.confirm[a.shardOf(ip)] = of
	}
	for _, c := range round.Claims {
		r := at(c.IP)
		ask := a.askOf(in.Crawl, c, p, in.Reply)
		ask.Line = round.Line
		r.Asks = append(r.Asks, ask)
	}
	now := a.Now()
	for _, l := range round.Releases {
		release := l.Release(in.Crawl, a.Settings.Worker, now)
		release.IP = a.leaseAddress(l.IP)
		r := at(l.IP)
		r.Releases = append(r.Releases, release)
		if notice, says := release.Notice(); says {
			for n := range a.Settings.Shards { // a host may have addresses in other shards
				if n != a.shardOf(l.IP) {
					notices[n] = append(notices[n], notice)
				}
			}
		}
		confirm(l.IP, frontier.Confirmed{Releases: []politeness.Key{l.Key()}})
	}
	for _, c := range round.Renewals {
		r := at(c.IP)
		r.Renewals = append(r.Renewals, politeness.Renewal{Ask: a.askOf(in.Crawl, c, p, in.Reply), Number: c.Grant})
		confirm(c.IP, frontier.Confirmed{Renewed: []politeness.Key{{Lease: c.ID, Number: c.Grant}}, Until: politeness.Renewed(now)})
	}
	for n, list := range notices {
		from(rounds.notice(n, in, list))
	}
	return rounds
}

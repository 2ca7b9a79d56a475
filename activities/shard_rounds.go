package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

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

// sendRound asks the shards that a round concerns. It returns what those say that answer at once, how many others will answer
// by a signal, and what is to be confirmed to the frontier once these have: they do not hold up what the others confirm. started is when Temporal says that the activity began. Shards that are only sent notices
// are sent them as a signal: else one that does not answer would hold up all rounds with notices.
//
// A shard that cannot be sent its part takes from what is confirmed that alone: its releases and renewals, and the releases of which it was to be sent a notice. They are sent once more, see
// silence. What was asked of it is answered busy in its place. The round fails if Temporal takes nothing of it, or not all of the first round of a controller.
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
	answers, how, errs := make([]RoundResult, len(shards)), make([]delivery, len(shards)), make([]error, len(shards))
	var asking sync.WaitGroup
	for i, n := range shards { // side by side: those that do not answer cost the wait for one
		asking.Go(func() { answers[i], how[i], errs[i] = a.sendShard(ctx, n, *rounds.asked[n], in.First) })
	}
	unsent, errNotices := a.notify(ctx, rounds.noticed, in.First)
	asking.Wait()
	lost := 0
	for i, n := range shards {
		if unsent[n] = how[i] <= deliveryLost; how[i] == deliveryLost {
			lost++
		}
	}
	if errLost := errors.Join(errs...); ctx.Err() != nil || errLost != nil && (in.First || lost == len(shards)) || errNotices != nil && in.First {
		return nil, 0, confirm, errors.Join(ctx.Err(), errLost, errNotices)
	}
	for i, n := range shards {
		if how[i] == deliveryLost { // others have got theirs: it waits as if it did not answer, else rounds would try without a pause
			a.silence.change(n, func(u *unheard) { u.silent = true })
		}
	}
	owed := rounds.owed(unsent)
	a.silence.owe(in.Crawl, owed, a.Now())
	wait := map[politeness.Key]bool{}
	for k := range owed {
		wait[k] = true
	}
	for i, n := range shards {
		arrived := rounds.confirm[n].Without(wait)
		switch how[i] {
		case deliveryAnswers:
			if answers[i].Answer.Fault == "" {
				answers[i].confirm = arrived.Answered(answers[i].Answer.Refused, false)
			}
			a.noteDiffering(answers[i].Answer.Differing)
			answered = append(answered, answers[i])
		case deliverySent:
			sent++
			confirm.Add(arrived)
		case deliveryHeld, deliveryLost:
			answered = append(answered, busyAnswer(n, rounds.asked[n]))
		}
	}
	return answered, sent, confirm, nil
}

// busyAnswer answers a round in the place of a shard that could not be sent it: no claim waits for its leases.
func busyAnswer(shard int, r *politeness.Round) RoundResult {
	out := RoundResult{Answer: politeness.Answer{Shard: shard, Round: r.Round}}
	for _, ask := range r.Asks {
		out.Answer.Busy = append(out.Answer.Busy, ask.Lease)
	}
	return out
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
		if !r.At.IsZero() && (oldest.IsZero() || r.At.Before(oldest)) {
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
	notices map[int][]politeness.Key   // the releases of which a shard is sent notices, in either
}

// owed are the releases whose notices were for shards that were not sent them, and these shards.
func (r shardRounds) owed(unsent map[int]bool) map[politeness.Key][]int {
	owed := map[politeness.Key][]int{}
	for n, keys := range r.notices {
		if unsent[n] {
			for _, k := range keys {
				owed[k] = append(owed[k], n)
			}
		}
	}
	return owed
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
	rounds, epoch := shardRounds{map[int]*politeness.Round{}, map[int]*politeness.Round{}, map[int]frontier.Confirmed{}, map[int][]politeness.Key{}}, a.Membership.Epoch()
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
					if notice.HostRest > 0 || notice.Trouble != "" { // a rest that is over is not worth another try, a trouble slows the host down also later
						rounds.notices[n] = append(rounds.notices[n], l.Key())
					}
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

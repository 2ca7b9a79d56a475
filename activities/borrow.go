package activities

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// BorrowInput asks for a lease at once, for a few requests.
type BorrowInput struct {
	politeness.Ask
	Shards int `json:"shards"` // that the worker knows
}

// borrower returns the function by which a claim gets leases on other addresses than its own. An earlier attempt may have used such
// an address; when is not known, so a pause comes first.
func (a *Activities) borrower(name, claim string, plan crawl.Politeness, clock politeness.Clock) func(ctx context.Context, addr netip.Addr) (fetch.Loan, error) {
	return func(ctx context.Context, addr netip.Addr) (fetch.Loan, error) {
		ip, lane := addr.String(), a.Frontier.Crawl(name).Lane(claim)
		shard := a.shardOf(ip)
		ask := a.askOf(name, frontier.Claim{ID: politeness.LoanOf(claim, ip), IP: ip}, plan, "")
		if err := lane.BorrowAddress(ip); err != nil {
			return fetch.Loan{}, borrowError(err)
		}
		grant, err := a.borrow(ctx, shard, ask)
		if err != nil {
			var said *temporal.ApplicationError
			if errors.As(err, &said) { // else it may be granted later, without a receiver: it is given back when the claim ends
				if err := lane.AddressRefused(ip); err != nil {
					return fetch.Loan{}, err
				}
			}
			return fetch.Loan{}, &fetch.BusyError{Reason: "its address is busy: " + err.Error()}
		}
		loan := fetch.Loan{NotBefore: clock.NotBefore(grant), Until: clock.Deadline(grant)}
		if rested := a.Now().Add(a.pausesAt(plan, "", ip).MinDelay.D()); rested.After(loan.NotBefore) {
			loan.NotBefore = rested
		}
		loan.Return = func(next time.Time) {
			_ = lane.ReturnAddress(ip, grant.Number, next) // else it is given back when the claim ends
			back := ask.Withdrawal()
			back.Number, back.Rest = grant.Number, politeness.RestOf(next, a.Now())
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTime)
			defer cancel()
			_ = a.signalPoliteness(ctx, shard, politeness.Round{From: claim, Releases: []politeness.Release{back}}) // else the next round says so
		}
		return loan, nil
	}
}

// borrowError says to a lane what it means that the frontier does not let a host or an address to it.
func borrowError(err error) error {
	var rests *frontier.RestsError
	switch {
	case errors.As(err, &rests):
		return &fetch.RestsError{Until: rests.Until}
	case errors.Is(err, frontier.ErrAsked), errors.Is(err, frontier.ErrUnreturned):
		return &fetch.BusyError{Reason: err.Error()}
	}
	return err
}

// BorrowWait is how long a shard lets a borrower wait for its lease.
const BorrowWait = 20 * time.Second

// borrowMargin is what a shard that is slow to answer gets beyond that: a lane waits no longer, for it holds its own address.
const borrowMargin = 10 * time.Second

// returnTime bounds how long giving a loan back may take.
const returnTime = 5 * time.Second

func (a *Activities) borrow(ctx context.Context, shard int, ask politeness.Ask) (grant politeness.Grant, err error) {
	ctx, cancel := context.WithTimeout(ctx, BorrowWait+borrowMargin)
	defer cancel()
	for try := 0; ; try++ {
		var handle client.WorkflowUpdateHandle
		handle, err = a.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: names.PolitenessID(shard), UpdateName: names.UpdateBorrow, Args: []any{BorrowInput{ask, a.Settings.Shards}},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(ctx, &grant)
		}
		var gone *serviceerror.NotFound
		if !errors.As(err, &gone) || try > 0 {
			return grant, err
		}
		if err = StartPoliteness(ctx, a.Client, shard, a.Settings.Shards, nil); err != nil {
			return grant, err
		}
	}
}

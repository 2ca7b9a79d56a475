package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
)

// MostOwing is how many batches of a crawl may owe (frontier.Owing) at a worker: then it claims nothing more of the crawl. Those in progress may still
// become more.
const MostOwing = 200

// owingLook is after how long the workflow of a batch that owes, and has not looked who takes its links, is started again. One that runs looks sooner: it
// waits for an owner, and until it looks again, for 2.5 minutes together.
const owingLook = 5 * time.Minute

// OwingHold keeps a crawl from claiming while MostOwing of its batches wait for other workers.
func OwingHold(a *Activities) Hold {
	return func(crawl string) string {
		if crawl == "" {
			return ""
		}
		owing, err := a.Frontier.Crawl(crawl).Owing()
		if err != nil || len(owing) < MostOwing {
			return ""
		}
		return fmt.Sprintf("%d batches wait until other workers take their links, and at most %d may: see `muninn workers` for who is silent", len(owing), MostOwing)
	}
}

// startOwing starts batches again that owe and whose workflows are gone, as when an operator has terminated them. They deliver all that their segments
// have: who has a part of it knows so.
func (a *Activities) startOwing(ctx context.Context, plan frontier.Plan) error {
	name := plan.Definition.Name
	owing, err := a.Frontier.Crawl(name).Owing()
	if err != nil || len(owing) == 0 {
		return err
	}
	mark, err := a.Frontier.Crawl(name).Watermark()
	if err != nil {
		return err
	}
	for _, o := range owing {
		in := BatchInput{Holder: a.holder(), Crawl: name, Batch: o.Batch, Shards: a.Settings.Shards, Attempts: a.Settings.Attempts, Spread: true, Owes: true}
		if !a.Behind.silent(in, a.Now(), owingLook) {
			continue
		}
		of, err := names.ParseBatch(o.Batch)
		if err != nil {
			return err
		}
		place := plan.Archives[o.Archive]
		in.Owed = &Owed{Unsaid: true, Left: DeliverInput{
			Crawl: name, Batch: o.Batch, Worker: of.Worker, Nonce: o.Nonce, Where: place.Where, Prefix: place.Prefix, Run: plan.Run,
			First: mark.First, Watermark: mark.Below, Partitions: allPartitions(),
		}}
		const summary = "links that are not delivered"
		if err := a.startWorkflow(ctx, in, of.PLD(), summary, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE); err != nil {
			return err
		}
		a.Behind.note(in, a.Now())
	}
	return nil
}

func allPartitions() []int {
	list := make([]int, ring.Partitions)
	for p := range list {
		list[p] = p
	}
	return list
}

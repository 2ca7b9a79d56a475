package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// How a batch of a spread crawl delivers what it has found for other workers.
const (
	// deliverTimeout is how long an owner may take for a delivery, and deliverAttempts how often it tries, with 1 to 16 s between. Then the ring may name another one.
	deliverTimeout  = 2 * time.Minute
	deliverAttempts = 6
	// deliverStart is how long a delivery waits for its owner to begin: one that is at work begins at once, and waits there for its turn. It is
	// shorter than a heartbeat of the ring: until that is missed, the batches of all workers try the owner.
	deliverStart = 5 * time.Second
	// deliverPause is how long a batch waits, at first, until it looks again who takes its links; deliverPauseMost is the longest pause. A
	// worker that is lost is given up after minutes, and each look costs the batch a few events.
	deliverPause     = time.Second
	deliverPauseMost = 30 * time.Second
)

// versionOwes is the change by which a batch waits for no other worker before it is committed. Before it, only one with claims of a former tenure was
// committed before its deliveries, and said so to its crawl; others waited without end.
const versionOwes = "owes-at-once"

// deliver sends what the batch has found for other workers to them, and waits until they have queued it: an owner that is slow holds up those
// that send it more than it can take. What an owner does not begin within deliverStart, does not queue within deliverTimeout, or cannot take now, because it
// is silent or the partition moves, is left until the batch is committed: its queues, and who is to have their partition, need not wait.
func (b *batch) deliver(ctx workflow.Context) error {
	for pause := deliverPause; b.in.Spread; pause = min(2*pause, deliverPauseMost) {
		var left activities.UndeliveredResult
		err := workflow.ExecuteLocalActivity(withLocalOptions(ctx, "see what is to be delivered"), steps.Undelivered, b.in).Get(ctx, &left)
		if err == nil && left.Stale != nil {
			return b.owe(ctx, *left.Stale)
		}
		if err != nil || len(left.To) == 0 && left.Waits == 0 {
			return err
		}
		delivered, rest, why, err := b.deliverTo(ctx, left.To)
		if err != nil || rest == 0 && left.Waits == 0 {
			return err
		}
		if rest := left.Rest(b.in.Delivered); rest != nil && owesAtOnce(ctx) {
			return b.owe(ctx, *rest)
		}
		if delivered > 0 {
			pause = deliverPause
		}
		details := fmt.Sprintf("links to %d partitions wait until other workers take them", rest+left.Waits)
		if why != "" {
			details += ": " + why
		}
		b.state(ctx, crawl.BatchFetching, details)
		if err := workflow.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func owesAtOnce(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, versionOwes, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

// deliverTo sends one delivery to each owner, side by side. rest is how many partitions have not taken theirs, and why says why the last of them
// has not: their owner is asked again, or the next one. That an owner refuses them, as by a setting, the batch's worker is to know: it holds the crawl.
func (b *batch) deliverTo(ctx workflow.Context, to []activities.Delivery) (delivered, rest int, why string, err error) {
	b.in.Refused = ""
	answers := make([]workflow.Future, len(to))
	for i, d := range to {
		answers[i] = workflow.ExecuteActivity(withDeliverOptions(ctx, d), steps.Deliver, d.DeliverInput)
	}
	for i, d := range to {
		var out activities.DeliverResult
		failed := answers[i].Get(ctx, &out)
		if ctx.Err() != nil {
			err = failed
		}
		if failed != nil {
			workflow.GetLogger(ctx).Warn("links are not delivered; they are sent again", "crawl", b.in.Crawl, "batch", b.in.Batch, "owner", d.Owner, "error", failed)
			out.Waits = reasonOf(failed)
		}
		if out.Waits != "" {
			why = fmt.Sprintf("worker %s: %s", d.Owner, out.Waits)
		}
		if isFinal(failed) {
			b.in.Refused = fmt.Sprintf("worker %s refuses them: %s", d.Owner, out.Waits)
		}
		b.in.Delivered = append(b.in.Delivered, out.Delivered...)
		delivered, rest = delivered+len(out.Delivered), rest+len(d.Partitions)-len(out.Delivered)
	}
	return delivered, rest, why, err
}

// isFinal reports whether a step has said that it fails again however often it is tried.
func isFinal(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// undelivered reports whether a commit has failed because links are not delivered: the ring has changed since they were.
func undelivered(err error) bool {
	return ofType(err, activities.ErrorUndelivered) != nil
}

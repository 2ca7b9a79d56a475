package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
)

// DeliverInput has the owner of partitions queue the links that a segment of another worker has to them. It names the segment: the links
// are read from the archive.
type DeliverInput struct {
	Crawl     string `json:"crawl"`
	Batch     string `json:"batch"`
	Worker    string `json:"worker"` // that has the batch
	Nonce     string `json:"nonce"`  // of the batch's life
	Where     string `json:"where"`  // the archive
	Prefix    string `json:"prefix,omitempty"`
	Run       uint32 `json:"run"`
	Watermark uint64 `json:"watermark"`       // see frontier.Watermark: Below
	First     uint64 `json:"first,omitempty"` // and First
	// Partitions are the owner's, by the view of this epoch.
	Partitions []int  `json:"partitions"`
	Epoch      uint64 `json:"epoch"`
}

// DeliverResult says which links are queued, on disk.
type DeliverResult struct {
	Delivered []int `json:"delivered,omitempty"` // partitions
	// Waits says why those to the other partitions are not: they are to be sent to the owner of the partition by a later view.
	Waits string `json:"waits,omitempty"`
}

// DefaultDeliveries is how many deliveries a worker takes in at a time, if its settings do not say it. Further ones wait at their source,
// whose batches stay in progress until then.
const DefaultDeliveries = 4

// Deliver queues the links of another worker's segment that lead to partitions of this one. It is idempotent. Its right is checked before
// anything is written, and again when all is on disk.
func (a *Activities) Deliver(ctx context.Context, in DeliverInput) (out DeliverResult, err error) {
	leave, err := a.deliveries.enter(ctx, a.Settings.Deliveries)
	if err != nil {
		return out, err
	}
	defer leave()
	may := func(p frontier.Partition) error { return a.check(ring.Accept, int(p), in.Epoch) }
	accepted, refused := acceptedOf(in.Partitions, may)
	if len(accepted) > 0 {
		err = a.deliver(ctx, in, accepted, may)
	}
	if archive.Damaged(err) {
		err = a.passOver(ctx, in.Crawl, err, lostLinks)
	}
	switch {
	case comesAgain(err):
		out.Waits = err.Error()
	case err != nil:
		return out, err
	default:
		out.Delivered = accepted
	}
	if refused != nil {
		out.Waits = refused.Error()
	}
	return out, nil
}

func (a *Activities) deliver(ctx context.Context, in DeliverInput, partitions []int, may func(frontier.Partition) error) error {
	err := a.queueLinks(ctx, in, partitions, may)
	if errors.Is(err, archive.ErrNotFound) { // its worker has put it there, and stores are consistent
		err = &crawl.InputError{Message: fmt.Sprintf("the segment of batch %s is not in %s as this worker sees it: its settings archive, s3-endpoint and s3-region must name the store that worker %s writes to: %v",
			in.Batch, in.Where, in.Worker, err)}
	}
	return err
}

// queueLinks reads the links of the segment, and queues them.
func (a *Activities) queueLinks(ctx context.Context, in DeliverInput, partitions []int, may func(frontier.Partition) error) error {
	store, err := a.sourceOf(ctx, in)
	if err != nil {
		return err
	}
	return a.Engine.Deliver(ctx, store, pipeline.Arrival{
		Segment: archive.Label{Crawl: in.Crawl, Batch: in.Batch, Nonce: in.Nonce, Worker: in.Worker, Prefix: in.Prefix},
		Run:     in.Run, Watermark: frontier.Watermark{First: in.First, Below: in.Watermark}, Partitions: partitions,
	}, may)
}

// sourceOf is the archive that a delivery is read from: one that batches of the crawl have gone to, whatever is allowed now, or one that is allowed.
func (a *Activities) sourceOf(ctx context.Context, in DeliverInput) (archive.Store, error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(plan.Archives, func(p frontier.Place) bool { return p.Where == in.Where }) {
		return a.Archives.reopen(ctx, in.Where)
	}
	return a.Archives.Open(ctx, in.Where)
}

// acceptedOf are the partitions that may take deliveries, and why the first of the others may not.
func acceptedOf(partitions []int, may func(frontier.Partition) error) (accepted []int, refused error) {
	for _, p := range partitions {
		if err := may(frontier.Partition(p)); err == nil {
			accepted = append(accepted, p)
		} else if refused == nil {
			refused = err
		}
	}
	return accepted, refused
}

// comesAgain reports whether a delivery that has failed is to be sent again by a later view of the ring: the partition is another worker's,
// or on its way to this one, or this one has not begun the run yet. Other faults are the receiver's or the store's: Temporal tries again.
func comesAgain(err error) bool {
	for _, reason := range []error{ring.ErrStale, ring.ErrNotNow, ring.ErrAhead, frontier.ErrMoving, frontier.ErrNotBegun, frontier.ErrNoCrawl} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// noteRefusal notes that another worker refuses what a batch has found, or that none does any more.
func (a *Activities) noteRefusal(in BatchInput) {
	var refusal error
	if in.Refused != "" {
		refusal = errors.New(in.Refused)
	}
	a.refusals.note(in.Crawl, in.Batch, refusal, a.Now())
}

// DeliveryHold keeps a crawl from claiming while another worker refuses its links, as by a setting: further batches would owe them as well.
func DeliveryHold(a *Activities) Hold {
	return func(crawl string) string {
		if err := a.refusals.newest(crawl, a.Now()); err != nil {
			return fmt.Sprintf("links are not delivered: %v", err)
		}
		return ""
	}
}

// check asks the ring for a right of this process; a worker that is in no ring has all.
func (a *Activities) check(act ring.Act, p int, epoch uint64) error {
	if a.Membership == nil {
		return nil
	}
	return a.Membership.Rights().Check(act, frontier.Partition(p), epoch)
}

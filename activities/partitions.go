package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/ring"
)

// Partitions carries out what the ring asks of a worker. Export and Load are idempotent: a task may be asked for again.
type Partitions interface {
	// Export writes the partition to the archive and returns the key of the object. No batch of the partition is in progress.
	Export(ctx context.Context, partition int, epoch uint64) (object string, err error)
	// Load puts the object in place of all that the worker has of the partition; without one, it rebuilds the partition. fault says why the
	// object cannot be read.
	Load(ctx context.Context, partition int, object string) (fault string, err error)
	// Drop deletes what the worker has of the partition.
	Drop(ctx context.Context, partition int) error
}

// BoundCrawls are the partitions of a ring whose crawls all are bound to one worker each: nothing of a partition moves when its owner
// changes.
type BoundCrawls struct{}

// noObject is the key that stands for the export of a partition in which no crawl is spread over the ring.
const noObject = "-"

// Export writes nothing.
func (BoundCrawls) Export(context.Context, int, uint64) (string, error) { return noObject, nil }

// Load loads nothing.
func (BoundCrawls) Load(context.Context, int, string) (string, error) { return "", nil }

// Drop deletes nothing.
func (BoundCrawls) Drop(context.Context, int) error { return nil }

// CarryOut does what the newest view of the ring asks of this process, and returns what is to be reported. A task that fails is left out:
// the next view asks for it again.
func (m *Membership) CarryOut(ctx context.Context, parts Partitions) (RingReports, error) {
	var tasks []ring.Task
	var epoch uint64
	reports := RingReports{}
	m.With(func(rules *ring.Membership) { tasks, epoch, reports.RingMember = rules.Tasks(), rules.Epoch(), m.of })
	for _, t := range tasks {
		if err := ctx.Err(); err != nil {
			return reports, err
		}
		switch t.Act {
		case ring.Export:
			closes := false
			m.With(func(rules *ring.Membership) { closes = rules.StartExport(t.Partition) })
			if !closes { // a later view gives it back
				continue
			}
			object, err := parts.Export(ctx, t.Partition, epoch)
			if err != nil {
				return reports, err
			}
			reports.Exported = append(reports.Exported, ring.Report{Partition: t.Partition, Order: t.Order, Object: object})
		case ring.Load:
			fault, err := parts.Load(ctx, t.Partition, t.Object)
			if err != nil {
				return reports, err
			}
			reports.Loaded = append(reports.Loaded, ring.Report{Partition: t.Partition, Order: t.Order, Fault: fault})
		case ring.Drop:
			if err := parts.Drop(ctx, t.Partition); err != nil {
				return reports, err
			}
		}
	}
	return reports, nil
}

package activities

import "context"

// Partitions carries out what the ring asks of a worker. All of it is idempotent: a task may be asked for again. Several partitions may be
// worked on at a time, but one by one call only.
type Partitions interface {
	// Free returns those of some partitions of which no batch is in progress, as soon as there is one, or none after a while.
	Free(ctx context.Context, partitions []int) ([]int, error)
	// GiveBack has the batches end that are in progress in some partitions, now. It does not wait for their end.
	GiveBack(ctx context.Context, partitions []int) error
	// Export writes the partition to the archive and returns the key of the object. No batch of the partition is in progress, and none
	// commits to it any more.
	Export(ctx context.Context, partition int, epoch uint64) (object string, err error)
	// Load puts the object in place of all that the worker has of the partition. fault says why the object cannot be read.
	Load(ctx context.Context, partition int, object string) (fault string, err error)
	// Rebuild makes partitions from what the archive has of them, in place of all that the worker has.
	Rebuild(ctx context.Context, partitions []int) error
	// Drop deletes what the worker has of the partition.
	Drop(ctx context.Context, partition int) error
}

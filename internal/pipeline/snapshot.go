package pipeline

import (
	"bytes"
	"context"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// snapshot is what a crawl has learned of a topic, as the archive keeps it in case the frontier is lost.
type snapshot struct {
	Topic  string `cbor:"1,keyasint"`           // its canonical text
	Order  []byte `cbor:"2,keyasint,omitempty"` // state of its order, if that learns
	Memory []byte `cbor:"3,keyasint,omitempty"` // memory of its judge
}

// maxSnapshot bounds what is read of it, in bytes.
const maxSnapshot = 64 << 20

// KeepSnapshot puts what the crawl has learned into the archive: PREFIX/CRAWL/learned/run-N-TIME@WORKER.cbor; its memory of pages
// into the frontier, too.
func (e *Engine) KeepSnapshot(ctx context.Context, plan frontier.Plan, store archive.Store) error {
	name := plan.Definition.Name
	if plan.Definition.Topic.Empty() {
		return nil
	}
	order, err := e.Frontier.Crawl(name).Learning().Snapshot()
	if err != nil {
		return err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return err
	}
	memory, err := judge.EncodeMemory()
	if err != nil {
		return err
	}
	if err := e.Frontier.Crawl(name).Learning().Remember(memory); err != nil {
		return err
	}
	raw, err := codec.Marshal(snapshot{plan.Definition.Topic.Canonical(), order, memory})
	if err != nil {
		return err
	}
	key := archive.LayoutOf(plan.Definition).Snapshot(plan.Run, e.Now(), e.Worker)
	return store.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

// restoreSnapshot gives the frontier the newest snapshot, if it is of the same topic. What cannot be read is learned again.
func (e *Engine) restoreSnapshot(ctx context.Context, store archive.Store, d crawl.Definition) error {
	var keys []string
	err := store.List(ctx, archive.LayoutOf(d).Snapshots(), func(o archive.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	if err != nil {
		return err
	}
	last := archive.LayoutOf(d).NewestSnapshot(keys, e.Worker)
	if last == "" {
		return nil
	}
	raw, err := archive.ReadAll(ctx, store, last, maxSnapshot)
	if err != nil {
		return err
	}
	var known snapshot
	if err := codec.Unmarshal(raw, &known); err != nil || known.Topic != d.Topic.Canonical() {
		return nil
	}
	if len(known.Memory) > 0 {
		if err := e.Frontier.Crawl(d.Name).Learning().Remember(known.Memory); err != nil {
			return err
		}
	}
	if len(known.Order) == 0 {
		return nil
	}
	if err := e.Frontier.Crawl(d.Name).Learning().Restore(known.Order); err != nil {
		e.log(ctx).Warn("what was learned before cannot be read and is learned again", "key", last, "error", err)
	}
	return nil
}

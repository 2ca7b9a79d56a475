// Package learning lets the workers of a spread crawl learn from each other's pages, by way of the archive that they have in common. Each worker
// writes a stream of objects: the learning updates of its own commits (frontier.LearningUpdate), features and no texts. Each reads the streams of
// the others. So it costs no message of Temporal, and no worker waits for another: what comes late or is lost costs learning alone.
//
// From time to time the first worker of the ring writes what it knows, with how far it is in each stream. A worker that has nothing of the run, or is so far
// behind that objects are gone, starts from that. Objects that the snapshot before has are deleted.
package learning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/share"
)

// version is that of the objects; those of another version are passed over.
const version = 1

const (
	// SnapshotEvery is after how many pages of all workers a snapshot is written.
	SnapshotEvery = 4000
	// Wait is how long an exchange that has failed waits.
	Wait = 10 * time.Second
	// objectBytes is about how many bytes of updates an object has; a single update may be longer.
	objectBytes = 512 << 10
	// maxObject and maxSnapshot bound what is read, in bytes.
	maxObject   = 16 << 20
	maxSnapshot = 64 << 20
)

// object is what a key of updates has.
type object struct {
	Version int                       `cbor:"1,keyasint"`
	Topic   string                    `cbor:"2,keyasint"` // that they are of
	Mark    frontier.LearningMark     `cbor:"3,keyasint"` // of the stream with it
	Updates []frontier.LearningUpdate `cbor:"4,keyasint"`
}

// snapshot is what a key of snapshots has.
type snapshot struct {
	Version int                       `cbor:"1,keyasint"`
	Topic   string                    `cbor:"2,keyasint"`
	State   frontier.LearningSnapshot `cbor:"3,keyasint"`
}

// Exchange is that of a worker, for all its spread crawls. It is for one goroutine.
type Exchange struct {
	Frontier *frontier.Frontier
	Store    func(context.Context) (archive.Store, error) // that the workers have in common
	Stream   string                                       // of this worker and its data folder
	Every    int                                          // pages of its own, at most, after which it exchanges; see share.LearnEvery
	Snapshot int                                          // SnapshotEvery, but in tests
	Leads    func() bool                                  // this worker is to write snapshots; two that do it do no harm
	Workers  func() int                                   // of the ring that are up
	Now      func() time.Time
	Log      *slog.Logger
	Untaken  *Backlog // kept up to date; may be nil

	runs map[string]*run // by crawl
}

// run is where this process stands with a run.
type run struct {
	owner   string
	pages   int64     // of this worker at the last exchange
	tried   time.Time // the last exchange
	failed  bool
	idle    int                              // exchanges in a row that found nothing to send or to take, and no page
	adopted string                           // key of the last snapshot that was tried
	covered map[string]frontier.LearningMark // what the last snapshot of this process has
	swept   bool                             // former runs are deleted
}

// Step exchanges what is due. Its error lists what went wrong: it is done again after Wait.
func (x *Exchange) Step(ctx context.Context) error {
	var errs []error
	active := map[string]bool{}
	for _, at := range x.Frontier.SpreadLearners() {
		active[at.Crawl] = true
		r := x.run(at)
		if !r.due(at.Pages, x.Every, x.Now()) {
			continue
		}
		moved, err := x.exchange(ctx, at, r)
		if r.failed = err != nil; r.failed {
			errs = append(errs, fmt.Errorf("exchange what the order of %s learns: %w", at.Crawl, err))
		} else {
			r.done(at.Pages, moved)
		}
		r.tried = x.Now()
	}
	for crawl := range x.runs {
		if !active[crawl] {
			delete(x.runs, crawl)
			x.Untaken.set(crawl, 0)
			errs = append(errs, x.sweep(ctx, crawl, ""))
		}
	}
	return errors.Join(errs...)
}

func (x *Exchange) run(at frontier.LearningState) *run {
	if x.runs == nil {
		x.runs = map[string]*run{}
	}
	r := x.runs[at.Crawl]
	if r == nil || r.owner != at.Owner {
		r = &run{owner: at.Owner, pages: -1}
		x.runs[at.Crawl] = r
	}
	return r
}

// done notes an exchange, and whether it has sent or taken anything.
func (r *run) done(pages int64, moved bool) {
	if r.idle++; moved || pages != r.pages {
		r.idle = 0
	}
	r.pages = pages
}

// due reports whether a run is to be exchanged by now: at first, after so many pages, and after a time. A worker that fetches nothing reads what the others learn: its
// URLs wait in the order of what it knows. While the others send nothing either, it looks less and less often.
func (r *run) due(pages int64, every int, now time.Time) bool {
	since := now.Sub(r.tried)
	if r.failed {
		return since >= Wait
	}
	if pages == r.pages {
		return since >= share.LearnWaitQuiet(pages, r.idle)
	}
	return r.pages < 0 || pages < r.pages || pages-r.pages >= share.LearnEvery(pages, every) || since >= share.LearnWait(pages)
}

// exchange sends, then takes. moved: there was something.
func (x *Exchange) exchange(ctx context.Context, at frontier.LearningState, r *run) (moved bool, err error) {
	store, err := x.Store(ctx)
	if err != nil {
		return false, err
	}
	t := turn{Exchange: x, store: store, at: at, run: r, learning: x.Frontier.Crawl(at.Crawl).Learning(), stream: frontier.LearningStream{Owner: at.Owner, Name: x.Stream}}
	if err := t.send(ctx); err != nil { // what is put and not known to be sent would be taken
		return t.moved, err
	}
	if err := t.take(ctx); err != nil {
		return t.moved, err
	}
	if x.Leads() {
		err = t.lead(ctx)
	}
	return t.moved, err
}

// turn is an exchange in progress.
type turn struct {
	*Exchange
	store    archive.Store
	at       frontier.LearningState
	run      *run
	learning frontier.Learning
	stream   frontier.LearningStream
	listed   listed
	moved    bool // something was sent or taken
}

// send writes what is not sent yet. A key is put once: an object that a process has put which was killed then counts as it is.
func (t *turn) send(ctx context.Context) error {
	each := share.LearnEach(t.at.Pages, t.Workers())
	for {
		list, mark, err := t.learning.Unsent(t.stream, objectBytes, each)
		if err != nil {
			return err
		}
		if len(list) == 0 { // what was taken since is passed over for good
			return t.learning.Sent(t.stream, mark)
		}
		t.moved = true
		key := archive.Frontiers{}.LearningUpdates(t.at.Crawl, t.at.Owner, t.Stream, mark.Object)
		raw, err := codec.Marshal(object{version, t.at.Topic, mark, list})
		if err != nil {
			return err
		}
		if err = t.store.PutIfAbsent(ctx, key, raw); errors.Is(err, archive.ErrExists) {
			var there object
			if there, err = read[object](ctx, t.store, key, maxObject); err == nil {
				mark.Update = there.Mark.Update
			}
		}
		if err != nil {
			return err
		}
		if err := t.learning.Sent(t.stream, mark); err != nil {
			return err
		}
	}
}

func read[T any](ctx context.Context, store archive.Store, key string, most int64) (value T, err error) {
	raw, err := archive.ReadAll(ctx, store, key, most)
	if err != nil {
		return value, err
	}
	if err := codec.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("read %s: %w: %w", key, errUnreadable, err)
	}
	return value, nil
}

var errUnreadable = errors.New("it is damaged")

// sweep deletes what the archive has of the runs of a crawl, but of one.
func (x *Exchange) sweep(ctx context.Context, crawl, but string) error {
	if !x.Leads() {
		return nil
	}
	store, err := x.Store(ctx)
	if err != nil {
		return err
	}
	var old []string
	err = store.List(ctx, archive.Frontiers{}.Learning(crawl), func(o archive.Object) error {
		if _, _, _, of := (archive.Frontiers{}).IsLearning(crawl, but, o.Key); !of || but == "" {
			old = append(old, o.Key)
		}
		return nil
	})
	for _, key := range old {
		err = errors.Join(err, store.Delete(ctx, key))
	}
	return err
}

// put writes a snapshot, and returns what it has.
func (t *turn) put(ctx context.Context) (marks map[string]frontier.LearningMark, err error) {
	state, err := t.learning.Share(t.stream)
	if err != nil {
		return nil, err
	}
	raw, err := codec.Marshal(snapshot{version, t.at.Topic, state})
	if err != nil {
		return nil, err
	}
	key := archive.Frontiers{}.LearningSnapshot(t.at.Crawl, t.at.Owner, t.Stream, state.Pages)
	return state.Marks, t.store.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

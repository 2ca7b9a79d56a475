package desk

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/selection"
)

// Bounds of what a server keeps of selections.
const (
	// maxOpened is the number of selections whose entries are kept in memory; the one that nobody has looked at for longest is given up.
	maxOpened = 100
	// maxKept is the number of selections whose candidates are kept: each takes up to 100 MB.
	maxKept = 3
	// maxPool is the number of candidates of a selection that the model sees; of more, a sample that is chosen by their URLs.
	maxPool = 20_000
	// maxRecounted is the number of captures of a selection that are counted again with each decision; more are counted when the archive is read.
	maxRecounted = 50_000
	// maxGroups is the number of groups that are counted; those that come first do.
	maxGroups = 200_000
	// logAge is how long entries that others append may be unknown.
	logAge = 2 * time.Second
	// passAge is after which time the archive is read again if nothing was decided, for captures that are new.
	passAge = 15 * time.Minute
	// rarely is how many times as long as it took passes until the archive is read again, or the model learns again.
	rarely = 20
	// maxFirsts is the number of selections of which it is remembered what they are about.
	maxFirsts = 1000
	// listAge is how long the names of selections are remembered.
	listAge = 10 * time.Second
)

// Config says what a desk has.
type Config struct {
	Archives []archive.Store
	// Shown returns a function that reports whether visitors may see a capture, as of now; nil in place of the function: they may see all. What is closed may
	// become open with a day, never the other way round.
	Shown func() func(crawl, url string, date time.Time) bool
	Now   func() time.Time
	Log   *slog.Logger
}

// At names a selection.
type At struct {
	Archive int // the number of its archive, from 1
	Name    string
}

// Desk has the selections. It is safe for concurrent use.
type Desk struct {
	Config
	poke chan struct{} // somebody waits for work

	mu     sync.Mutex
	opened map[At]*opened
	firsts map[At]selection.Entry
	list   []At
	listed time.Time
}

// New makes a desk.
func New(c Config) *Desk {
	return &Desk{Config: c, poke: make(chan struct{}, 1), opened: map[At]*opened{}, firsts: map[At]selection.Entry{}}
}

// opened is a selection that somebody has looked at.
type opened struct {
	at    At
	ready chan struct{} // closed when the entries were read, or cannot be
	fault error         // of reading them; known when ready is closed

	io   sync.Mutex // protects what follows: held while entries are read or put
	log  *selection.Log
	read time.Time // when its entries were

	mu      sync.Mutex // protects what follows; state and entries are changed with io held, too
	state   *selection.State
	entries []selection.Entry
	asked   time.Time // when somebody looked at it
	work    *Work
	why     error     // the archive could not be read last
	failed  time.Time // when that was
	pass    *pass
	passed  time.Time     // when the archive was read last, also if what came of it was given up
	took    time.Duration // how long that took
}

// Selection is a selection as of a version. It is never changed.
type Selection struct {
	At
	State   *selection.State
	Entries []selection.Entry // number n stands at n−1
	Work    *Work             // nil: it is being worked out, or cannot be
	Fault   error             // why it cannot be
}

// List names the selections, by archives and names.
func (d *Desk) List(ctx context.Context) ([]At, error) {
	d.mu.Lock()
	list, listed := d.list, d.listed
	d.mu.Unlock()
	if !listed.IsZero() && d.Now().Sub(listed) < listAge {
		return list, nil
	}
	list = nil
	for i, store := range d.Archives {
		names, err := selection.Names(ctx, store)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			list = append(list, At{i + 1, name})
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list, d.listed = list, d.Now()
	return list, nil
}

// First is the entry that has made a selection: what it is about, and by whom it was made. It never changes.
func (d *Desk) First(ctx context.Context, at At) (selection.Entry, error) {
	if at.Archive < 1 || at.Archive > len(d.Archives) {
		return selection.Entry{}, fmt.Errorf("archive %d: %w", at.Archive, selection.ErrNone)
	}
	d.mu.Lock()
	e, known := d.firsts[at]
	d.mu.Unlock()
	if known {
		return e, nil
	}
	e, err := selection.First(ctx, d.Archives[at.Archive-1], at.Name)
	if err != nil {
		return e, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.firsts) >= maxFirsts {
		clear(d.firsts)
	}
	d.firsts[at] = e
	return e, nil
}

// Get is a selection as it is now, but for entries that others have appended in the last moment. What is worked out of it may be of an
// earlier version. It is selection.ErrNone, or selection.ErrName, if there is none.
func (d *Desk) Get(ctx context.Context, at At) (*Selection, error) {
	o, err := d.open(ctx, at)
	if err != nil {
		return nil, err
	}
	if o.io.TryLock() { // else somebody reads them now, and it is not waited for
		err := d.update(ctx, o, logAge)
		o.io.Unlock()
		if err != nil {
			return nil, err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = d.Now()
	select {
	case d.poke <- struct{}{}:
	default:
	}
	return o.now(), nil
}

func (o *opened) now() *Selection {
	return &Selection{o.at, o.state, o.entries, o.work, o.why}
}

// open finds a selection, and reads its entries if nobody has. It is continued when the request ends, for the next one.
func (d *Desk) open(ctx context.Context, at At) (*opened, error) {
	if at.Archive < 1 || at.Archive > len(d.Archives) {
		return nil, fmt.Errorf("archive %d: %w", at.Archive, selection.ErrNone)
	}
	d.mu.Lock()
	o := d.opened[at]
	if o == nil {
		o = &opened{at: at, ready: make(chan struct{}), asked: d.Now()}
		d.opened[at] = o
		d.giveUp(at)
		go func(ctx context.Context) {
			defer close(o.ready)
			if o.log, o.fault = selection.Open(ctx, d.Archives[at.Archive-1], at.Name); o.fault == nil {
				o.state, o.fault = o.log.State(0, selection.ParseQuery)
				o.read, o.entries = d.Now(), o.log.Entries()
			}
			if o.fault != nil {
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(d.opened, at)
			}
		}(context.WithoutCancel(ctx))
	}
	d.mu.Unlock()
	select {
	case <-o.ready:
		return o, o.fault
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// giveUp makes room for another selection. d.mu is held.
func (d *Desk) giveUp(but At) {
	if len(d.opened) <= maxOpened {
		return
	}
	var last *opened
	var asked time.Time
	for at, o := range d.opened {
		if at == but || !o.mu.TryLock() {
			continue
		}
		if last == nil || o.asked.Before(asked) {
			last, asked = o, o.asked
		}
		o.mu.Unlock()
	}
	if last != nil {
		delete(d.opened, last.at)
	}
}

// update reads the entries that were appended, unless that was done within a time. o.io is held.
func (d *Desk) update(ctx context.Context, o *opened, within time.Duration) error {
	if d.Now().Sub(o.read) < within {
		return nil
	}
	if err := o.log.Update(ctx); err != nil {
		return err
	}
	o.read = d.Now()
	return o.restate()
}

// restate takes in the entries that were read or put. o.io is held.
func (o *opened) restate() error {
	if o.state.Version == o.log.Version() {
		return nil
	}
	state, err := o.log.State(0, selection.ParseQuery)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state, o.entries = state, o.log.Entries()
	return nil
}

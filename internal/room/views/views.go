package views

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/build"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/search"
)

// Config says what views are built of.
type Config struct {
	Archives  []archive.Store
	Catalogue catalogue.Catalogue
	Index     search.Index
	// Derive says that the step text is run on segments that it was not run on; else they are found by their URLs alone.
	Derive bool
	PDF    func(ctx context.Context, file []byte, textBytes int) (page.Paper, error)
	Dir    string // of working files; empty: that of the system
	Log    *slog.Logger
	Now    func() time.Time
	// Before, if it is not nil, is called with each segment before it is added, and may be called with it again: Journal.Add.
	Before func(search.SegmentName) error
}

// Views are the views of a server. They are safe for concurrent use.
type Views struct {
	Config
	builders []*build.Builder // of each archive
	index    *remembering

	mu     sync.Mutex // protects what follows
	crawls []room.Crawl
	state  room.State
	failed map[search.SegmentName]bool // segments that cannot be derived: they are damaged
	listed time.Time                   // when the crawls were listed
	took   time.Duration               // how long that took
	counts map[string][2]int           // of crawls: segments, and those that are in the views
}

// maxFaults is the number of faults that readers are shown.
const maxFaults = 10

// New makes views.
func New(c Config) *Views {
	v := &Views{Config: c, index: &remembering{Index: c.Index, known: map[search.SegmentName]bool{}}, failed: map[search.SegmentName]bool{}}
	for _, store := range c.Archives {
		v.builders = append(v.builders, &build.Builder{Store: store, To: c.Catalogue, Damaged: v.fault})
	}
	return v
}

// Crawls are the crawls of all archives, in the order of their names.
func (v *Views) Crawls() []room.Crawl {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.crawls
}

// State says how far the views have come.
func (v *Views) State() room.State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.state
	s.Faults = slices.Clone(s.Faults)
	return s
}

func (v *Views) fault(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text := err.Error()
	if slices.Contains(v.state.Faults, text) {
		return
	}
	if v.Log != nil {
		v.Log.Error("views", "error", err)
	}
	v.state.Faults = append(v.state.Faults, text)
	v.state.Faults = v.state.Faults[max(0, len(v.state.Faults)-maxFaults):]
}

// Follow passes over the archives again and again, with a pause between, until the context ends.
func (v *Views) Follow(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if err := v.Pass(ctx); err != nil && ctx.Err() == nil {
			v.fault(err) // an archive that cannot be reached may be reached later
		}
		timer.Reset(pause)
	}
}

// Pass adds to the views what the archives have and they lack.
func (v *Views) Pass(ctx context.Context) error {
	if err := v.List(ctx); err != nil {
		return err
	}
	var faults []error
	for _, c := range v.Crawls() {
		if err := v.pass(ctx, c); err != nil {
			faults = append(faults, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

func (v *Views) pass(ctx context.Context, c room.Crawl) error {
	names, err := segments(ctx, c)
	if err != nil {
		return err
	}
	if v.Before != nil {
		for _, name := range names {
			if err := v.Before(search.SegmentName{Crawl: c.Name, Name: name}); err != nil {
				return err
			}
		}
	}
	v.count(c, names)
	at := slices.Index(v.Archives, c.Store)
	if _, err := v.builders[at].Fill(ctx, c.CrawlAt); err != nil {
		return err
	}
	err = v.fill(ctx, c, names) // first: of an archive that is not for writing nothing more can be had
	if v.Derive && ctx.Err() == nil {
		err = errors.Join(err, v.derive(ctx, c, names))
	}
	v.count(c, names)
	return err
}

// segments are the names of the segments of a crawl.
func segments(ctx context.Context, c room.Crawl) (list []string, err error) {
	err = c.Store.List(ctx, c.Layout().Manifests(), func(o archive.Object) error {
		if name, is := archive.SegmentOf(o.Key); is {
			list = append(list, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the segments of %s: %w", c.Name, err)
	}
	return list, nil
}

// count sums up the state; that of the other crawls is what it was.
func (v *Views) count(of room.Crawl, names []string) {
	viewed := 0
	for _, name := range names {
		if v.index.knows(search.SegmentName{Crawl: of.Name, Name: name}) {
			viewed++
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.counts == nil {
		v.counts = map[string][2]int{}
	}
	v.counts[of.Name] = [2]int{len(names), viewed}
	v.state.Segments, v.state.Viewed = 0, 0
	for _, n := range v.counts {
		v.state.Segments, v.state.Viewed = v.state.Segments+n[0], v.state.Viewed+n[1]
	}
}

// derive runs the step text on segments that it was not run on. One that is damaged is reported and passed over.
func (v *Views) derive(ctx context.Context, c room.Crawl, names []string) error {
	done := map[string]bool{}
	err := derive.Segments(ctx, c.Store, c.CrawlAt, derive.Text, func(segment string) error {
		done[segment] = true
		return nil
	})
	if err != nil {
		return err
	}
	deriver := derive.Deriver{Store: c.Store, Dir: v.Dir, PDF: v.PDF, Now: v.Now}
	for _, name := range names {
		id := search.SegmentName{Crawl: c.Name, Name: name}
		if done[name] || v.failed[id] {
			continue
		}
		if _, err := deriver.Segment(ctx, c.CrawlAt, name, derive.Text); err != nil {
			if ctx.Err() != nil || !archive.Damaged(err) {
				return err
			}
			v.failed[id] = true
			v.fault(err)
			continue
		}
		if err := v.fill(ctx, c, []string{name}); err != nil { // readers find it while the others are derived
			return err
		}
		v.count(c, names)
	}
	return nil
}

// List lists the crawls of all archives. To list an archive may take long: it is done again after twenty times as long.
func (v *Views) List(ctx context.Context) error {
	begun := v.Now()
	if !v.listed.IsZero() && begun.Sub(v.listed) < 20*v.took {
		return nil
	}
	var list []room.Crawl
	for _, store := range v.Archives {
		crawls, err := archive.Crawls(ctx, store)
		if err != nil {
			return fmt.Errorf("list the crawls of %s: %w", store, err)
		}
		for _, at := range crawls {
			if i := slices.IndexFunc(list, func(c room.Crawl) bool { return c.Name == at.Name }); i >= 0 {
				v.fault(fmt.Errorf("there are two crawls %s, in %s and in %s: only that of the first is shown; serve the other one by itself", at.Name, where(list[i]), where(room.Crawl{CrawlAt: at, Store: store})))
				continue
			}
			list = append(list, room.Crawl{CrawlAt: at, Store: store})
		}
	}
	slices.SortFunc(list, func(a, b room.Crawl) int { return strings.Compare(a.Name, b.Name) })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.crawls, v.listed, v.took = list, begun, v.Now().Sub(begun)
	return nil
}

func where(c room.Crawl) string {
	return strings.TrimSuffix(c.Store.String()+"/"+c.Prefix, "/")
}

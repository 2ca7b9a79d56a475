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
	levels   levels

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
		v.builders = append(v.builders, &build.Builder{Store: store, To: c.Catalogue, Damaged: v.fault, Read: v.read})
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
	if archive.Damaged(err) {
		text += "; `muninn verify` says what is damaged"
	}
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
		more, err := v.round(ctx)
		if err != nil && ctx.Err() == nil {
			v.fault(err) // an archive that cannot be reached may be reached later
		}
		if more {
			timer.Reset(0)
		} else {
			timer.Reset(pause)
		}
	}
}

// Pass adds to the views what the archives have and they lack.
func (v *Views) Pass(ctx context.Context) error {
	for {
		if more, err := v.round(ctx); !more || ctx.Err() != nil {
			return err
		}
	}
}

// round takes what the archives have into the catalogue, and then works for a while on the index and on texts that are missing, a bit for each crawl: what a crawl
// lacks keeps no other one waiting. more says that there is something left to do.
func (v *Views) round(ctx context.Context) (more bool, err error) {
	if err = v.List(ctx); err != nil {
		return false, err
	}
	var faults []error
	begun, crawls, names := v.Now(), v.Crawls(), map[string][]string{}
	for _, c := range crawls {
		if names[c.Name], err = v.catalogue(ctx, c); err != nil {
			faults = append(faults, err)
			delete(names, c.Name)
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	each := max(sliceTime, looksRarely*v.Now().Sub(begun)) / time.Duration(max(1, len(names)))
	for _, c := range crawls {
		list, listed := names[c.Name]
		if !listed { // what was known of it stays
			continue
		}
		left, err := v.slice(ctx, c, list, v.Now().Add(each))
		if err != nil {
			faults = append(faults, err)
		}
		more = more || left
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return more, errors.Join(faults...)
}

// How long the index and texts are worked on between two looks at the archives: at least so long, and so many times as long as the look took.
const (
	sliceTime   = 15 * time.Second
	looksRarely = 20
)

// catalogue fills the catalogue, and returns the segments of a crawl.
func (v *Views) catalogue(ctx context.Context, c room.Crawl) ([]string, error) {
	names, err := segments(ctx, c)
	if err != nil {
		return nil, err
	}
	if v.Before != nil {
		for _, name := range names {
			if err := v.Before(search.SegmentName{Crawl: c.Name, Name: name}); err != nil {
				return nil, err
			}
		}
	}
	v.count(c, names)
	at := slices.Index(v.Archives, c.Store)
	_, err = v.builders[at].FillListed(ctx, c.CrawlAt, names)
	return names, err
}

// slice fills the index with segments that it lacks until a time, at least with one: first with those that were derived, because an archive that cannot be
// written into gives nothing more. more says that there are others.
func (v *Views) slice(ctx context.Context, c room.Crawl, names []string, until time.Time) (more bool, err error) {
	defer v.count(c, names)
	names, err = v.lacking(ctx, c, names)
	if err != nil || len(names) == 0 { // no derivation is listed, and no manifest is read
		return false, err
	}
	derived := map[string]bool{}
	err = derive.Segments(ctx, c.Store, c.CrawlAt, derive.Text, func(segment string) error {
		derived[segment] = true
		return nil
	})
	if err != nil {
		return false, err
	}
	worked := false
	for _, have := range []bool{true, false} {
		for _, name := range names {
			id := search.SegmentName{Crawl: c.Name, Name: name}
			if derived[name] != have || !have && !v.Derive {
				continue
			}
			if worked && !v.Now().Before(until) {
				return true, nil
			}
			worked = true
			if err := v.derive(ctx, c, id, have); err != nil {
				return false, err
			}
			if _, err := v.fill(ctx, c, []string{name}); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// lacking are those segments that the index lacks, and that may be read.
func (v *Views) lacking(ctx context.Context, c room.Crawl, names []string) (list []string, err error) {
	for _, name := range names {
		id := search.SegmentName{Crawl: c.Name, Name: name}
		if v.failed[id] {
			continue
		}
		has, err := v.index.HasSegment(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("look for segment %s in the index: %w", id, err)
		}
		if !has {
			list = append(list, name)
		}
	}
	return list, nil
}

// segments are the names of the segments of a crawl.
func segments(ctx context.Context, c room.Crawl) (list []string, err error) {
	list = []string{} // of a crawl without any, too: it was listed
	err = c.Store.List(ctx, c.Layout().Manifests(), func(o archive.Object) error {
		if name, is := archive.SegmentOf(o.Key); is && o.Key == c.Layout().Manifest(name) {
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

// derive runs the step text on a segment, unless that was done. One that is damaged is reported, and passed over from then on.
func (v *Views) derive(ctx context.Context, c room.Crawl, id search.SegmentName, done bool) error {
	if done {
		return nil
	}
	deriver := derive.Deriver{Store: c.Store, Dir: v.Dir, PDF: v.PDF, Now: v.Now}
	_, err := deriver.Segment(ctx, c.CrawlAt, id.Name, derive.Text)
	if err != nil && ctx.Err() == nil && archive.Damaged(err) {
		v.failed[id] = true
		v.fault(err)
		return nil
	}
	return err
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

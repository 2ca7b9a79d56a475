package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/internal/selection"
)

// Decision is what a person has decided on a page.
type Decision struct {
	ID       string // of the entry: the same decision has the same one, however often it is sent
	Version  uint64 // of the selection that the page has shown
	Who, Why string
	Of       []selection.Decision // of one group, of one URL, or of the URLs that are shown of a group
	// About reports whether a decision of somebody else is about what is decided here, beside one of the same URL or group: a group that has the URL, or a
	// URL of the group. nil: that is not known.
	About  func(selection.Decision) bool
	Anyway bool // also if others have decided otherwise meanwhile
}

// Done says what became of a decision.
type Done struct {
	Entry uint64 `json:"entry"` // its number
	There bool   `json:"there"` // it was there already: nothing was appended
}

// ChangedError says that somebody has decided otherwise since the page was made. Nothing was appended.
type ChangedError struct {
	Entry   uint64
	Who     string
	Verdict selection.Verdict
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has decided meanwhile, in entry %d: %s", e.Who, e.Entry, e.Verdict)
}

// Decide appends a decision, unless it is there already, or a later one has replaced it, or somebody has decided otherwise since the page was made
// (*ChangedError). An error of the entry is selection.ErrEntry.
func (d *Desk) Decide(ctx context.Context, at At, c Decision) (Done, error) {
	o, err := d.open(ctx, at)
	if err != nil {
		return Done{}, err
	}
	o.io.Lock()
	defer o.io.Unlock()
	if err := d.update(ctx, o, 0); err != nil {
		return Done{}, err
	}
	if c.Version < 1 || c.Version > o.log.Version() {
		return Done{}, fmt.Errorf("%w: the selection has no version %d", selection.ErrEntry, c.Version)
	}
	since, own := c.Version, uint64(0)
	if n, known := o.log.Number(c.ID); known {
		since, own = n, n
	}
	entry, err := o.there(since, own, &c)
	if entry > 0 || err != nil {
		return Done{entry, true}, err
	}
	number, err := o.log.AppendIf(ctx, selection.Entry{ID: c.ID, Who: c.Who, Why: c.Why, Decisions: c.Of}, func() (err error) {
		if entry, err = o.there(since, 0, &c); err == nil && entry > 0 { // by another server, while this one was about to write
			err = errThere
		}
		return err
	})
	if errors.Is(err, errThere) {
		return Done{entry, true}, o.restate()
	}
	if err != nil {
		return Done{}, errors.Join(err, o.restate()) // entries of others may have been read
	}
	o.read = d.Now()
	return Done{number, false}, o.restate()
}

var errThere = errors.New("somebody has decided the same")

// there is the number of the entry that has a decision already: its own, or one that says the same; 0: there is none. It is a *ChangedError if somebody has decided
// otherwise since.
func (o *opened) there(since, own uint64, c *Decision) (uint64, error) {
	if last, other, found := o.since(since, c); found {
		if last.Verdict != c.Of[0].Verdict && (own > 0 || !c.Anyway) {
			return 0, &ChangedError{other, o.log.Entry(other).Who, last.Verdict}
		}
		if last.Verdict == c.Of[0].Verdict && len(c.Of) == 1 && last.URL == c.Of[0].URL && last.Group == c.Of[0].Group {
			return other, nil
		}
	}
	return own, nil
}

// since is the last decision after an entry that speaks of what is decided, and the number of its entry.
func (o *opened) since(number uint64, c *Decision) (last selection.Decision, entry uint64, found bool) {
	urls, groups := map[string]bool{}, map[selection.Group]bool{}
	for _, of := range c.Of {
		urls[of.URL], groups[of.Group] = of.URL != "", of.Group != ""
	}
	for n := number + 1; n <= o.log.Version(); n++ {
		for _, other := range o.log.Entry(n).Decisions {
			if urls[other.URL] || groups[other.Group] || c.About != nil && c.About(other) {
				last, entry, found = other, n, true
			}
		}
	}
	return last, entry, found
}

package desk

import (
	"context"
	"slices"
	"time"
)

// Follow works out what visitors look at, until the context ends.
func (d *Desk) Follow(ctx context.Context) error {
	const pause = time.Second // until it is looked again if what was put off is due
	timer := time.NewTicker(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.poke:
		case <-timer.C:
		}
		d.Round(ctx)
	}
}

// Round works out once what is due of the selections that somebody has looked at last.
func (d *Desk) Round(ctx context.Context) {
	for _, o := range d.wanted() {
		if ctx.Err() != nil {
			return
		}
		d.advance(ctx, o)
	}
}

// wanted are the selections whose work is kept, those that somebody has looked at last; that of the others is given up.
func (d *Desk) wanted() (list []*opened) {
	d.mu.Lock()
	for _, o := range d.opened {
		select {
		case <-o.ready:
			if o.fault == nil {
				list = append(list, o)
			}
		default:
		}
	}
	d.mu.Unlock()
	asked := map[*opened]time.Time{}
	for _, o := range list {
		o.mu.Lock()
		asked[o] = o.asked
		o.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b *opened) int { return asked[b].Compare(asked[a]) })
	for _, o := range list[min(len(list), maxKept):] {
		o.mu.Lock()
		o.work, o.pass = nil, nil
		o.mu.Unlock()
	}
	return list[:min(len(list), maxKept)]
}

// advance reads the archive or learns, if that is due.
func (d *Desk) advance(ctx context.Context, o *opened) {
	o.mu.Lock()
	state, p, w, asked, failed, failedAt, passed, took := o.state, o.pass, o.work, o.asked, o.why, o.failed, o.passed, o.took
	o.mu.Unlock()
	now := d.Now()
	if failed != nil && now.Sub(failedAt) < passAge/rarely || p == nil && now.Sub(passed) < rarely*took { // visitors of many selections have the archive read no more often
		return
	}
	if p == nil || d.outdated(p, state.Version, asked, now) {
		fresh, err := d.read(ctx, o.at, state)
		if err != nil {
			if ctx.Err() == nil {
				o.mu.Lock()
				o.why, o.failed = err, d.Now()
				o.mu.Unlock()
				if d.Log != nil {
					d.Log.Error("selection", "name", o.at.Name, "error", err)
				}
			}
			return
		}
		p, w = fresh, nil
	}
	if w == nil || w.Learned != state.Version && p.state.SameRules(state) && now.Sub(w.ended) >= rarely/4*w.took {
		w = d.learn(p, state)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass, o.work, o.why, o.passed, o.took = p, w, nil, p.when, p.took
}

// outdated reports whether the archive is to be read again: something was decided, captures may be new, or open from today on.
func (d *Desk) outdated(p *pass, version uint64, asked, now time.Time) bool {
	age := now.Sub(p.when)
	due := p.state.Version != version || asked.After(p.when) && (age >= passAge || d.Shown != nil && now.UTC().YearDay() != p.when.UTC().YearDay())
	return due && age >= rarely*p.took
}

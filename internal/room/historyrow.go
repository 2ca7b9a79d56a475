package room

import (
	"context"
	"time"

	"github.com/muninn-archive/muninn/internal/selection"
)

// entryRow is an entry of a selection, as far as readers may see what it speaks of.
type entryRow struct {
	Entry     uint64       `json:"entry"`
	Who       string       `json:"who"`
	When      time.Time    `json:"when"`
	Why       string       `json:"why,omitempty"`
	Made      bool         `json:"made"` // it has made the selection
	Rules     []ruleRow    `json:"rules,omitempty"`
	Withdrawn []uint64     `json:"withdrawn,omitempty"`
	Decisions []decidedRow `json:"decisions,omitempty"`
	Accepted  int          `json:"accepted,omitempty"` // proposals
	More      int          `json:"more,omitempty"`     // decisions that are not listed
	Closed    bool         `json:"closed"`             // a part of what it speaks of is not open here
}

// decidedRow is a decision.
type decidedRow struct {
	Verdict selection.Verdict `json:"verdict"`
	URL     string            `json:"url,omitempty"`
	Group   selection.Group   `json:"group,omitempty"`
	Address string            `json:"address"`
}

func (r *Room) entryRow(ctx context.Context, c *chosenOf, number uint64, e *selection.Entry) (entryRow, error) {
	row := entryRow{Entry: number, Who: e.Who, When: e.When, Made: e.Create != nil, Withdrawn: e.Withdrawn[:min(len(e.Withdrawn), stepsShown)]}
	if c.whole {
		row.Why, row.Accepted = e.Why, len(e.Accepted)
	} else {
		row.Closed = e.Why != "" || len(e.Accepted) > 0
	}
	for _, rule := range e.Rules[:min(len(e.Rules), stepsShown)] {
		if !c.whole {
			rule.Query, row.Closed = "", true
		}
		row.Rules = append(row.Rules, ruleRow{Entry: number, Verdict: rule.Verdict, Query: rule.Query, Who: e.Who})
	}
	for i, d := range e.Decisions {
		if len(row.Decisions) == stepsShown || i == decisionsLooked {
			if c.whole {
				row.More = len(e.Decisions) - len(row.Decisions)
			} else {
				row.Closed = true
			}
			break
		}
		open, err := r.speaks(ctx, c, &d)
		if err != nil {
			return row, err
		}
		if !open {
			row.Closed = true
			continue
		}
		out := decidedRow{Verdict: d.Verdict, URL: d.URL, Group: d.Group, Address: address("/calendar", "url", d.URL)}
		if d.Group != "" {
			out.Address = c.address("/selection/group", "group", string(d.Group))
		}
		row.Decisions = append(row.Decisions, out)
	}
	return row, nil
}

// decisionsLooked is the number of decisions of an entry that are looked at for those that are open.
const decisionsLooked = 100

// speaks reports whether readers may see a capture that a decision speaks of.
func (r *Room) speaks(ctx context.Context, c *chosenOf, d *selection.Decision) (bool, error) {
	if c.whole {
		return true, nil
	}
	if d.Group == "" {
		return r.sees(ctx, d.URL)
	}
	if c.Work == nil {
		return false, nil
	}
	_, known := c.Work.Group(d.Group)
	return known, nil
}

// sees reports whether readers may see a capture of a URL.
func (r *Room) sees(ctx context.Context, url string) (found bool, err error) {
	err = r.Door.Captures(ctx, Lookup{URL: url}, func(e Entry) error {
		if found = e.URL == url; found {
			return errEnough
		}
		return nil
	})
	return found, unlessEnough(err)
}

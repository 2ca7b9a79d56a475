package kept

import (
	"context"
	"fmt"
	"strings"

	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/selection"
)

// Source has the captures that are decided on: candidates.Archive.
type Source interface {
	// Each calls fn with each candidate, for one after the other.
	Each(ctx context.Context, fn func(selection.Facts) error) error
}

// Sum counts candidates by what becomes of them.
type Sum struct {
	Kept    int `json:"kept"`
	Dropped int `json:"dropped"`
	Open    int `json:"open"` // nothing is decided: in an export they count as dropped
}

// ByQuery keeps the candidates that match a query. Its text names it.
func ByQuery(ctx context.Context, from Source, text string) (*export.Chosen, Sum, error) {
	q, err := selection.ParseQuery(text)
	if err != nil {
		return nil, Sum{}, err
	}
	name := "query " + text
	return collect(ctx, from, name, func(f *selection.Facts) (selection.Verdict, export.Decision) {
		if q.Match(f) {
			return selection.Keep, export.Decision{Keep: true, By: name, Why: "the query matches"}
		}
		return selection.Drop, export.Decision{By: name, Why: "the query does not match"}
	})
}

// BySelection keeps the candidates that a selection keeps. Those that are open are dropped.
func BySelection(ctx context.Context, from Source, s *selection.State) (*export.Chosen, Sum, error) {
	name := fmt.Sprintf("selection %s, version %d", s.Name, s.Version)
	return collect(ctx, from, name, func(f *selection.Facts) (selection.Verdict, export.Decision) {
		r, step := s.Reason(f)
		return r.Verdict, decisionOf(r, &step)
	})
}

func collect(ctx context.Context, from Source, name string, decide func(*selection.Facts) (selection.Verdict, export.Decision)) (*export.Chosen, Sum, error) {
	out, sum := export.NewChosen(name), Sum{}
	err := from.Each(ctx, func(f selection.Facts) error {
		v, d := decide(&f)
		switch v {
		case selection.Keep:
			sum.Kept++
		case selection.Drop:
			sum.Dropped++
		default:
			sum.Open++
		}
		out.Add(f.Crawl, f.URL, f.Date, d)
		return nil
	})
	if err != nil {
		return nil, sum, fmt.Errorf("%s: %w", name, err)
	}
	return out, sum, nil
}

// decisionOf says who or which rule a ruling is by, and why.
func decisionOf(r selection.Ruling, step *selection.Step) export.Decision {
	d := export.Decision{Keep: r.Verdict == selection.Keep, Why: step.Why}
	switch r.By {
	case selection.ByPerson:
		d.By = step.Who
		if step.Group != "" {
			d.Why = strings.TrimSuffix(string(step.Group)+": "+step.Why, ": ")
		}
	case selection.ByRule:
		d.By = fmt.Sprintf("rule %d of %s: %s %s", step.Entry, step.Who, step.Verdict, step.Query)
	case selection.ByProposal:
		d.By, d.Why = "proposal that "+step.Who+" accepted", strings.TrimSuffix(fmt.Sprintf("certainty %.2f: %s", step.Certainty, step.Why), ": ")
	default:
		d.By = "nobody"
	}
	if r.Verdict == selection.Ask {
		d.Why = strings.TrimPrefix(d.Why+"; it is open, and counts as dropped", "; ")
	}
	return d
}

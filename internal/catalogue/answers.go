package catalogue

import (
	"context"
	"math"
)

// AnswerIndex is what an implementation reads its DNS answers by.
type AnswerIndex interface {
	// ReadAnswers reads the answers that a query's name or address has, from behind a place on, at most n. Times, limit and After of
	// the query are not its affair.
	ReadAnswers(ctx context.Context, q AnswerQuery, after AnswerPosition, n int) ([]Answer, error)
}

// AnswerPosition is the place of an answer: by name, address, time and segment, or, of an address, by name, time and segment. Addresses are in
// the order of their texts.
type AnswerPosition struct {
	Name, Address string
	Time, Segment int64
}

func (a *Answer) position() AnswerPosition {
	return AnswerPosition{a.Name, a.Address.String(), a.Date.Unix(), a.Segment.Number()}
}

// ScanAnswers answers a query from an index.
func ScanAnswers(ctx context.Context, index AnswerIndex, q AnswerQuery, fn func(Answer) error) error {
	if q.Name != "" && q.Address.IsValid() {
		return &QueryError{"name", "and address are given: ask for one of them"}
	}
	q.Name, q.Address = NormalName(q.Name), q.Address.Unmap().WithZone("")
	since, through := q.Times()
	at := AnswerPosition{Time: math.MinInt64, Segment: math.MinInt64}
	if q.After != nil {
		at = q.After.position()
	}
	found, idle, n := 0, 0, firstPage
	for {
		page, err := index.ReadAnswers(ctx, q, at, n)
		if err != nil {
			return err
		}
		for i := range page {
			if err := ctx.Err(); err != nil {
				return err
			}
			if idle++; q.MaxScan > 0 && idle > q.MaxScan {
				return ErrScan
			}
			if t := page[i].Date.Unix(); t < since || t > through || q.Admits != nil && !q.Admits(&page[i]) {
				continue
			}
			idle = 0
			if err := fn(page[i]); err != nil {
				return err
			}
			if found++; found == q.Limit {
				return nil
			}
		}
		if len(page) < n {
			return nil
		}
		at, n = page[n-1].position(), min(2*n, fullPage)
	}
}

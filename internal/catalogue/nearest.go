package catalogue

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Nearest calls fn with the captures of a URL in the order in which they answer for it, until fn returns an error, which Nearest returns: those of the URL as it is
// written, those of the same URL in canonical form, those of other URLs with its key, and of these redirects last: a redirect from http to https, or to a path with a
// slash at its end, has the key of its target and does not stand for it. Each kind is in the order of the query, Closest or Reverse, which has an exact URL and no
// limit.
func Nearest(ctx context.Context, c Catalogue, q Query, fn func(Entry) error) error {
	if q.Match != Exact || q.URL == "" || q.Limit != 0 {
		return errors.New("the nearest capture is one of a URL: the query has none, or it has a limit")
	}
	scheme, rest := SplitScheme(q.URL)
	rank := func(e *Entry) likeness {
		switch {
		case e.URL == q.URL:
			return literal
		case urls.Same(e.URL, scheme+rest):
			return canonical
		case e.Status >= 300 && e.Status <= 399 && e.Status != 304:
			return redirecting
		}
		return alike
	}
	filters := q.Filters[:len(q.Filters):len(q.Filters)]
	for l := literal; l < unlike; {
		next := unlike // the next kind that there is
		q.Filters = append(filters, Filter{where: func(e *Entry) bool {
			r := rank(e)
			if r > l {
				next = min(next, r)
			}
			return r == l
		}})
		if err := c.Query(ctx, q, fn); err != nil {
			return err
		}
		l = next
	}
	return nil
}

// likeness says how the URL of a capture is like one that has its key.
type likeness uint8

const (
	literal likeness = iota
	canonical
	alike
	redirecting
	unlike
)

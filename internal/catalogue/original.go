package catalogue

import (
	"context"
	"errors"
)

// ErrNoOriginal says that a revisit refers to a capture that the catalogue does not have.
var ErrNoOriginal = errors.New("the capture that this revisit refers to is not in the archive")

// maxRevisits is how many captures of a payload are looked at, of a URL and of all, for one that is no revisit.
const maxRevisits = 100_000

// OriginalOf is the capture whose payload a revisit has: the one of the URL and the time that its record names, else of that URL the nearest one with the same
// payload, else one of any URL with it. Of a 304 the digest is that of its original, too. ErrNoOriginal if there is none, or none among the first 100,000 with the payload.
func OriginalOf(ctx context.Context, c Catalogue, revisit *Entry) (Entry, error) {
	whole := Filter{where: func(e *Entry) bool { return !e.Revisit && e.Digest == revisit.Digest }}
	q := Query{URL: revisit.Original.URL, Digest: revisit.Digest, Filters: []Filter{whole}, MaxScan: maxRevisits}
	if q.URL != "" {
		of := q
		if of.Closest = revisit.Original.Date; !of.Closest.IsZero() {
			of.Sort = Closest
		}
		e, err := first(ctx, func(ctx context.Context, fn func(Entry) error) error { return Nearest(ctx, c, of, fn) })
		if err == nil || !noneOf(err) {
			return e, err
		}
	}
	if q.URL = ""; q.Digest == "" {
		return Entry{}, ErrNoOriginal
	}
	e, err := first(ctx, func(ctx context.Context, fn func(Entry) error) error { return c.Query(ctx, q, fn) })
	if err != nil && noneOf(err) {
		err = ErrNoOriginal
	}
	return e, err
}

// errFound ends a search. It is not errEnough, which a scan takes for its own.
var errFound = errors.New("found")

// first is the first capture of an answer; ErrNoOriginal if it has none.
func first(ctx context.Context, ask func(context.Context, func(Entry) error) error) (found Entry, err error) {
	err = ask(ctx, func(e Entry) error {
		found = e
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return found, nil
	case err == nil:
		err = ErrNoOriginal
	}
	return Entry{}, err
}

// noneOf reports whether an error says that a search for an original has found none: a record may name what is no URL.
func noneOf(err error) bool {
	var wrong *QueryError
	return errors.Is(err, ErrNoOriginal) || errors.Is(err, ErrScan) || errors.As(err, &wrong)
}

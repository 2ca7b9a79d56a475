package catalogue

import (
	"errors"
	"time"
)

// errTime says what a time in a query looks like.
var errTime = errors.New("use 4, 6, 8, 10, 12 or 14 digits: year, month, day, hour, minute, second, in UTC")

// errYear says which years a query may name: the first second of year 1 is the zero time, which means that there is none.
var errYear = errors.New("use a year from 0002 to 9999")

// Dated reports whether a time is of a year that a query may name: 2 and later.
func Dated(t time.Time) bool { return t.Year() >= 2 }

// ParseTime reads a time as CDX servers take it, YYYY to YYYYMMDDhhmmss: the first and the last second of the time that it names.
func ParseTime(text string) (first, last time.Time, err error) {
	if len(text) < 4 || len(text) > len(Timestamp) || len(text)%2 != 0 {
		return first, last, errTime
	}
	first, err = time.Parse(Timestamp[:len(text)], text)
	if err != nil {
		return first, last, errTime
	}
	if !Dated(first) {
		return time.Time{}, last, errYear
	}
	var end time.Time
	switch len(text) {
	case 4:
		end = first.AddDate(1, 0, 0)
	case 6:
		end = first.AddDate(0, 1, 0)
	case 8:
		end = first.AddDate(0, 0, 1)
	case 10:
		end = first.Add(time.Hour)
	case 12:
		end = first.Add(time.Minute)
	default:
		end = first.Add(time.Second)
	}
	return first, end.Add(-time.Second), nil
}

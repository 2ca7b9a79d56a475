package dates

import "time"

// unit is a unit of dates relative to now.
type unit uint8

const (
	seconds unit = iota + 1
	minutes
	hours
	days
	weeks
	months
	years
)

const (
	maxWords  = 5 // words of a text that is read for "yesterday" without a time of day
	maxCounts = 7 // "1 day, 2 hours, 5 minutes ago"
	maxAmount = 4 // digits of a count
)

// relative reads a date relative to now.
func (r *reader) relative(now time.Time) (time.Time, Precision, bool) {
	for i := range r.toks[:r.n] {
		t := &r.toks[i]
		if t.kind == letters && t.back > 0 {
			if at, p, ok := r.dayWord(i, now); ok {
				return at, p, true
			}
		}
		if t.kind == number && t.width <= maxAmount || t.has(one) {
			if at, p, ok := r.ago(i, now); ok {
				return at, p, true
			}
		}
	}
	return time.Time{}, 0, false
}

// dayWord reads "yesterday at 10:15"; without a time of day only if the text holds little else.
func (r *reader) dayWord(i int, now time.Time) (time.Time, Precision, bool) {
	t := &r.toks[i]
	if t.flags&afterI != 0 && !r.hasFlag(i-1, letterI) {
		return time.Time{}, 0, false
	}
	if t.flags&weak != 0 && !r.hasFlag(i+1, letterA) { // hier à
		return time.Time{}, 0, false
	}
	c := r.clockNear(i, i+1)
	if c.precision == 0 {
		words := 0
		for j := range r.toks[:r.n] {
			if r.toks[j].kind == number || words > maxWords {
				return time.Time{}, 0, false
			}
			if k := r.toks[j].kind; k == letters {
				words++
			}
		}
		if words > maxWords {
			return time.Time{}, 0, false
		}
	}
	back := int(t.back) - 1
	if back == 1 && r.isSign(i-1, '-') && r.hasFlag(i-2, before) { // avant-hier
		back++
	}
	return r.onDay(now.AddDate(0, 0, -back), c, Day)
}

// onDay is a time of day on a day.
func (r *reader) onDay(day time.Time, c clock, p Precision) (time.Time, Precision, bool) {
	d := date{year: day.Year(), month: int(day.Month()), day: day.Day(), clock: c}
	if !r.valid(d.year, d.month, d.day) {
		return time.Time{}, 0, false
	}
	t, precise, ok := d.time()
	if c.precision == 0 {
		precise = p
	}
	return t, precise, ok
}

// ago reads counts of time before now, but for those that end with years: "2 hours ago", "1 day, 2 hours ago", "vor 3 Tagen" and "il y a 2 jours".
func (r *reader) ago(i int, now time.Time) (time.Time, Precision, bool) {
	before := r.hasFlag(i-1, agoBefore) || r.hasFlag(i-1, letterA) && r.hasFlag(i-2, letterY)
	at, least, to := now, unit(0), i
	for range maxCounts {
		n := 1
		switch {
		case r.isNumber(to, maxAmount):
			n = int(r.toks[to].value)
		case !r.hasFlag(to, one):
			n = 0
		}
		if to+1 >= r.n || r.toks[to].kind == sign || r.toks[to+1].kind != letters || r.toks[to+1].unit == 0 {
			break
		}
		least = r.toks[to+1].unit
		switch least {
		case seconds:
			at = at.Add(-time.Duration(n) * time.Second)
		case minutes:
			at = at.Add(-time.Duration(n) * time.Minute)
		case hours:
			at = at.Add(-time.Duration(n) * time.Hour)
		case days:
			at = at.AddDate(0, 0, -n)
		case weeks:
			at = at.AddDate(0, 0, -7*n)
		case months:
			at = monthsBefore(at, n)
		case years:
			at = monthsBefore(at, 12*n)
		}
		to += 2
		for next := to; next < r.n && next < to+2; next++ {
			if r.isNumber(next, maxAmount) {
				to = next
				break
			}
			if !r.isSign(next, ',') && !r.hasFlag(next, and) {
				break
			}
		}
		if !r.isNumber(to, maxAmount) {
			break
		}
	}
	if least == 0 || least == years || r.isNumber(i-1, 255) {
		return time.Time{}, 0, false
	}
	if !before {
		for end := to + 2; to < end && (r.isSign(to, '.') || r.hasFlag(to, agoFill)); to++ {
		}
		if !r.hasFlag(to, agoAfter) {
			return time.Time{}, 0, false
		}
		to++
	}
	if least >= days {
		c, _, ok := r.clockAfter(to)
		switch {
		case least == months:
			return r.onDay(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC), clock{}, Month)
		case least == weeks:
			return r.onDay(at, clock{}, Week)
		case !ok:
			c = clock{}
		}
		return r.onDay(at, c, Day)
	}
	if at.Year() < firstYear || at.Year() > r.last {
		return time.Time{}, 0, false
	}
	switch least {
	case hours:
		return at.Truncate(time.Minute), Hour, true
	case minutes:
		return at.Truncate(time.Minute), Minute, true
	}
	return at.Truncate(time.Second), Second, true
}

// monthsBefore is the same day of an earlier month, or its last day.
func monthsBefore(t time.Time, n int) time.Time {
	before := t.AddDate(0, -n, 0)
	if before.Day() != t.Day() {
		before = before.AddDate(0, 0, -before.Day())
	}
	return before
}

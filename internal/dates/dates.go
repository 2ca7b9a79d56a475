package dates

import "time"

// Precision says how much of a date was given. What was not given is the smallest there is: the first of the
// month, 00:00:00.
type Precision uint8

// The precisions, coarsest first; zero is that of no date. Week is only that of "2 weeks ago".
const (
	Month Precision = iota + 1
	Week
	Day
	Hour
	Minute
	Second
)

// String names a precision.
func (p Precision) String() string {
	switch p {
	case Month:
		return "month"
	case Week:
		return "week"
	case Day:
		return "day"
	case Hour:
		return "hour"
	case Minute:
		return "minute"
	case Second:
		return "second"
	}
	return "none"
}

const (
	maxText   = 300  // bytes of a text that are looked at
	firstYear = 1990 // no page is older
	lastYear  = 2100 // if now is not known
	maxPhrase = 80   // bytes of a text without a digit that may hold a date
)

// Read reads the date that text is or holds. With a zero now, dates relative to now are not read. Where a
// text can be read in more than one way the rules are those of the package; above all: 5/6/2014 is the sixth of
// May, 5-6-2014 and 5.6.2014 are the fifth of June, unless a weekday or the language says otherwise.
func Read(text string, now time.Time) (time.Time, Precision, bool) {
	if !mayHold(text, now.IsZero()) {
		return time.Time{}, 0, false
	}
	r := reader{last: lastYear}
	if !now.IsZero() {
		r.last = now.UTC().Year() + 2
		r.short = r.last % 100
	} else {
		r.short = 49
	}
	r.scan(text)
	r.join()
	if t, ok := r.unix(); ok {
		return t, Second, true
	}
	for i := range r.toks[:r.n] {
		if d, ok := r.dateAt(i); ok {
			return r.finish(d)
		}
	}
	if !now.IsZero() {
		if t, p, ok := r.relative(now.UTC()); ok {
			return t, p, true
		}
	}
	for i := range r.toks[:r.n] {
		if d, ok := r.monthAt(i); ok {
			return time.Date(d.year, time.Month(d.month), 1, 0, 0, 0, 0, time.UTC), Month, true
		}
	}
	return time.Time{}, 0, false
}

// Format is Read that writes the date as RFC 3339.
func Format(text string, now time.Time) (string, bool) {
	t, _, ok := Read(text, now)
	if !ok {
		return "", false
	}
	return t.Format(time.RFC3339), true
}

// mayHold reports whether a date may be in text at all: it has a digit, or is short enough for "yesterday".
func mayHold(text string, absolute bool) bool {
	for i := range min(len(text), maxText) {
		if c := text[i]; c-'0' < 10 || c == 0xEF || c == 0xD9 || c == 0xDB || c == 0xE0 { // these begin wide digits, and those of Arabic, Persian and India
			return true
		}
	}
	return !absolute && len(text) <= maxPhrase
}

// date is a date that was found in the tokens [from, to).
type date struct {
	year, month, day int
	from, to         int
	clock            clock
}

// reader reads one text.
type reader struct {
	toks  [maxTokens]token
	n     int
	last  int // the last year that counts
	short int // the last year of two digits that counts as one after 2000

	arabic bool // the text has letters or digits of Arabic script
}

// dateAt reads the full date whose first number is the token i, or whose month's name is.
func (r *reader) dateAt(i int) (date, bool) {
	t := &r.toks[i]
	switch {
	case t.kind == number && i+4 < r.n && (t.width == 4 || t.width <= 2):
		if d, ok := r.numeric(i); ok {
			return d, true
		}
		if d, ok := r.signed(i); ok {
			return d, true
		}
		return r.worded(i)
	case t.kind == number && t.width == 8:
		return r.compact(i)
	case t.kind == letters && t.month > 0:
		return r.named(i)
	}
	return date{}, false
}

// finish looks for the time of day of a date.
func (r *reader) finish(d date) (time.Time, Precision, bool) {
	if d.clock.precision == 0 {
		d.clock = r.clockNear(d.from, d.to)
	}
	return d.time()
}

// time is a date with its time of day.
func (d *date) time() (time.Time, Precision, bool) {
	c, zone := &d.clock, time.UTC
	if c.zone != 0 {
		zone = time.FixedZone("", c.zone*60)
	}
	return time.Date(d.year, time.Month(d.month), d.day, c.hour, c.minute, c.second, c.nano, zone), max(c.precision, Day), true
}

// valid reports whether a day exists and is in the years that count.
func (r *reader) valid(year, month, day int) bool {
	return year >= firstYear && year <= r.last && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(month, year)
}

// daysIn is the number of days of a month.
func daysIn(month, year int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// longYear is the year of two digits as one of four, 0 if it is none that counts.
func (r *reader) longYear(year int) int {
	switch {
	case year >= firstYear%100:
		return 1900 + year
	case year <= r.short:
		return 2000 + year
	}
	return 0
}

// unix reads a count of seconds or milliseconds.
func (r *reader) unix() (time.Time, bool) {
	for i := range r.toks[:r.n] {
		t := &r.toks[i]
		if t.kind != number || t.width != 10 && t.width != 13 {
			continue
		}
		alone := r.n == 1
		after := i > 0 && r.toks[i-1].is('=') && (t.width == 13 || i > 1 && r.toks[i-2].has(stamp))
		if !alone && !after || after && i+1 < r.n && r.toks[i+1].glued && (r.toks[i+1].kind == letters || r.toks[i+1].is('.')) {
			continue
		}
		at := time.Unix(t.value, 0)
		if t.width == 13 {
			at = time.UnixMilli(t.value)
		}
		if at = at.UTC(); at.Year() >= firstYear && at.Year() <= r.last {
			return at, true
		}
	}
	return time.Time{}, false
}

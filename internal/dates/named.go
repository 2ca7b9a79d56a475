package dates

// maxLinks bounds the signs and small words between the parts of a date ("5 de mayo de 2014").
const maxLinks = 4

// named reads the date around the name of a month, the token i: 5 May 2014, May 5, 2014 or 2014 May 5.
func (r *reader) named(i int) (date, bool) {
	if r.toks[i].has(persian) {
		return r.persian(i)
	}
	d := date{month: int(r.toks[i].month)}
	p, q := r.back(i-1), r.skip(i+1)
	if r.isNumber(p, 2) && !r.belongs(p) {
		d.day, d.from = int(r.toks[p].value), p
		if r.yearAfter(&d, q, i-1, true) && r.valid(d.year, d.month, d.day) {
			return d, true
		}
		if y := r.back(p - 1); y >= 0 && y < p-1 && r.isYear(y) && r.wordBetween(y, p) { // 2014. gada 5. maijs
			d.year, d.from, d.to, d.clock = r.year(y), y, i+1, clock{}
			return d, r.valid(d.year, d.month, d.day)
		}
	}
	if !r.isNumber(q, 2) || r.isSign(q+1, ':') {
		return date{}, false
	}
	d.day, d.from, d.clock = int(r.toks[q].value), i, clock{}
	if r.yearAfter(&d, r.skip(q+1), i+1, false) && r.valid(d.year, d.month, d.day) && r.sure(i, d) {
		return d, true
	}
	if r.isYear(p) {
		d.year, d.from, d.to, d.clock = r.year(p), p, q+1, clock{}
		return d, r.valid(d.year, d.month, d.day)
	}
	return date{}, false
}

// belongs reports whether the number i is the end of a time of day or of a name.
func (r *reader) belongs(i int) bool {
	return i > 0 && r.toks[i].glued && (r.isSign(i-1, ':') || r.toks[i-1].kind == letters && r.toks[i-1].flags&han == 0)
}

// yearAfter reads the year at the token i, before which the time of day may stand: 21 Nov 09:15:00 UTC 2026. The
// token between the day and the month is given: May 10-12 is no date of the year 2012, May-10-12 is.
func (r *reader) yearAfter(d *date, i, between int, dayFirst bool) bool {
	if r.isYear(i) {
		d.year, d.to = r.year(i), i+1
		return true
	}
	if !r.isNumber(i, 2) {
		return false
	}
	if c, to, ok := r.clockAt(i, false); ok {
		if to = r.skip(to); r.isYear(to) {
			d.year, d.to, d.clock = r.year(to), to+1, c
			return true
		}
	}
	if r.toks[i].width != 2 || r.isSign(i+1, ':') {
		return false
	}
	short := r.glued(i) && (r.isSign(i-1, '\'') || (r.isSign(i-1, '-') || r.isSign(i-1, '/')) && r.toks[between].is(rune(r.toks[i-1].value)))
	if !short && dayFirst {
		_, _, short = r.clockAt(i+1, false)
	}
	d.year, d.to = r.longYear(int(r.toks[i].value)), i+1
	return short
}

// sure reports whether the name of a month before its day is one: where it is also a common word ("set 5, 2014") it begins
// the text, has a weekday before it or a time of day after it.
func (r *reader) sure(i int, d date) bool {
	if !r.toks[i].has(weak) || i == 0 || d.clock.precision != 0 {
		return true
	}
	if r.weekdayBefore(i) != 0 {
		return true
	}
	_, _, ok := r.clockAfter(d.to)
	return ok
}

// monthAt reads a month with its year: November 2026, noviembre de 2026, 2026年11月, and 2026-11 if the text is
// nothing else.
func (r *reader) monthAt(i int) (date, bool) {
	t := &r.toks[i]
	d := date{day: 1}
	switch {
	case t.kind == letters && t.month > 0 && t.flags&(weak|persian) == 0:
		d.month = int(t.month)
		p, q := r.back(i-1), r.skip(i+1)
		switch {
		case r.isYear(q) && !r.isNumber(p, 3):
			d.year = r.year(q)
		case r.isYear(p) && r.n <= 4 && !r.isNumber(q, 255):
			d.year = r.year(p)
		}
	case r.isYear(i) && r.hasFlag(i+1, yearSign) && r.isNumber(i+2, 2) && r.hasFlag(i+3, monthSign) && !r.isNumber(i+4, 255):
		d.year, d.month = r.year(i), int(r.toks[i+2].value)
	case i == 0 && r.n == 3 && r.isYear(0) && r.isSign(1, '-') && r.glued(2) && r.isNumber(2, 2) && r.toks[2].width == 2:
		d.year, d.month = r.year(0), int(r.toks[2].value)
	}
	return d, r.valid(d.year, d.month, 1)
}

func (r *reader) isYear(i int) bool {
	return r.isNumber(i, 4) && r.toks[i].width == 4 && r.year(i) >= firstYear && r.year(i) <= r.last
}

// year is the year that a number stands for: those of the Buddhist calendar are 543 greater.
func (r *reader) year(i int) int {
	year := int(r.toks[i].value)
	if year >= firstYear+buddhist {
		year -= buddhist
	}
	return year
}

// wordBetween reports whether a word after a year stands between two tokens.
func (r *reader) wordBetween(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if r.toks[i].has(yearWord) {
			return true
		}
	}
	return false
}

// skip and back pass over what may stand between the parts of a date.
func (r *reader) skip(i int) int {
	for end := i + maxLinks; i < end && i < r.n && r.links(i); i++ {
	}
	return i
}

func (r *reader) back(i int) int {
	for end := i - maxLinks; i > end && i >= 0 && r.links(i); i-- {
	}
	return i
}

func (r *reader) links(i int) bool {
	t := &r.toks[i]
	if t.kind == letters {
		return t.flags&(link|yearWord) != 0 || t.flags&ordinal != 0 && t.glued
	}
	if t.kind == sign {
		switch t.value {
		case '.', ',', '-', '/', '\'', 'º', 'ª', '°':
			return true
		}
	}
	return false
}

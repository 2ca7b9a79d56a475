package dates

import "time"

// numeric reads a date of three numbers with the same sign between them, whose first is the token i.
func (r *reader) numeric(i int) (date, bool) {
	sep := r.toks[i+1].value
	if r.toks[i+1].kind != sign || sep != '/' && sep != '.' && sep != '-' || !r.glued(i+1) || !r.isSign(i+3, rune(sep)) || !r.glued(i+3) ||
		!r.isNumber(i+2, 2) || !r.isNumber(i+4, 4) || r.version(i, rune(sep)) {
		return date{}, false
	}
	spaced := !r.glued(i+2) || !r.glued(i+4)
	if spaced && sep != '.' {
		return date{}, false
	}
	a, b, c := int(r.toks[i].value), int(r.toks[i+2].value), int(r.toks[i+4].value)
	d := date{from: i, to: i + 5}
	if r.toks[i].width == 4 {
		d.year, d.month, d.day = r.year(i), b, c
		if r.arabic && a >= firstPersian && a <= lastPersian && r.toks[i+4].width <= 2 {
			return d, r.fromPersian(&d)
		}
		return d, r.toks[i+4].width <= 2 && r.valid(d.year, b, c)
	}
	switch width := r.toks[i+4].width; {
	case width == 4:
		d.year = r.year(i + 4)
	case width == 2 && !spaced && (sep == '/' || r.toks[i].width == 2 && r.toks[i+2].width == 2 && (sep == '-' || b <= 12 && r.announced(i))):
		d.year = r.longYear(c)
	default:
		return date{}, false
	}
	if d.day, d.month = a, b; !r.dayFirst(d, rune(sep)) {
		d.day, d.month = b, a
	}
	return d, r.valid(d.year, d.month, d.day)
}

// version reports whether the three numbers from i are part of something longer, as those of versions and addresses are.
func (r *reader) version(i int, sep rune) bool {
	if r.toks[i].width != 4 || sep == '.' {
		if r.isSign(i+5, sep) && r.glued(i+5) && r.glued(i+6) && r.isNumber(i+6, 255) {
			return true
		}
	}
	if i == 0 {
		return false
	}
	before := &r.toks[i-1]
	if r.toks[i].glued {
		if before.kind == letters && before.flags&han == 0 {
			return true
		}
		if r.toks[i].width != 4 && before.kind == sign && (before.value == '.' || before.value == '/' || before.value == '-') && r.isNumber(i-2, 255) && before.glued {
			return true
		}
	}
	if before.is('.') || before.is(':') {
		return sep == '.' && r.hasFlag(i-2, software)
	}
	return sep == '.' && before.has(software)
}

// announced reports that what stands before the token i is no word that is not known: "Linux 04.06.22" is none.
func (r *reader) announced(i int) bool {
	if i == 0 {
		return true
	}
	t := &r.toks[i-1]
	return t.kind == sign || t.kind == letters && (t.weekday > 0 || t.flags&(at|known|han|am|pm) != 0)
}

// dayFirst decides whether the day or the month comes first. The date is given with the day first.
func (r *reader) dayFirst(d date, sep rune) bool {
	if d.day > 12 || d.month > 12 {
		return d.month <= 12
	}
	if d.day == d.month {
		return true
	}
	if w := r.weekdayBefore(d.from); w != 0 && d.year >= firstYear && d.month >= 1 && d.day >= 1 {
		first, second := weekday(d.year, d.month, d.day) == w, weekday(d.year, d.day, d.month) == w
		if first != second {
			return first
		}
	}
	if sep == '-' { // with a half of the day behind it, as forums in English write it
		for i := d.to; i < min(r.n, d.to+maxGap+6); i++ {
			if r.toks[i].flags&(am|pm) != 0 {
				return false
			}
		}
	}
	if sep != '/' {
		return true
	}
	for i := range r.toks[:min(r.n, d.to+maxGap)] {
		if near := i < 2 || i >= d.from-maxLinks; near && r.toks[i].has(dayFirst) {
			return true
		}
	}
	return false
}

// weekdayBefore is the weekday that is named just before the token i, 1 for Monday; 0 if none is.
func (r *reader) weekdayBefore(i int) uint8 {
	for i--; i >= 0 && (r.isSign(i, ',') || r.isSign(i, '.') || r.isSign(i, '(') || r.isSign(i, ')') || r.hasFlag(i, known)) && r.toks[i].weekday == 0; i-- {
	}
	if i < 0 || r.toks[i].kind != letters || r.toks[i].weekday > 7 {
		return 0
	}
	return r.toks[i].weekday
}

func weekday(year, month, day int) uint8 {
	return uint8((time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Weekday()+6)%7 + 1)
}

// signed reads 2012年8月1日 and 2012년 8월 1일.
func (r *reader) signed(i int) (date, bool) {
	if i+5 >= r.n || !r.isYear(i) || !r.hasFlag(i+1, yearSign) || !r.isNumber(i+2, 2) || !r.hasFlag(i+3, monthSign) ||
		!r.isNumber(i+4, 2) || !r.hasFlag(i+5, daySign) {
		return date{}, false
	}
	d := date{year: r.year(i), month: int(r.toks[i+2].value), day: int(r.toks[i+4].value), from: i, to: i + 6}
	return d, r.valid(d.year, d.month, d.day)
}

// compact reads 20120801T100000Z.
func (r *reader) compact(i int) (date, bool) {
	if !r.hasFlag(i+1, isoT) || !r.glued(i+1) || !r.isNumber(i+2, 6) || !r.glued(i+2) {
		return date{}, false
	}
	n, t := int(r.toks[i].value), int(r.toks[i+2].value)
	d := date{year: n / 10000, month: n / 100 % 100, day: n % 100, from: i, to: i + 3}
	switch r.toks[i+2].width {
	case 6:
		d.clock = clock{hour: t / 10000, minute: t / 100 % 100, second: t % 100, precision: Second}
	case 4:
		d.clock = clock{hour: t / 100, minute: t % 100, precision: Minute}
	default:
		return date{}, false
	}
	if d.clock.hour > 23 || d.clock.minute > 59 || d.clock.second > 59 {
		return date{}, false
	}
	if zone, _, ok := r.zoneAt(i+3, true); ok {
		d.clock.zone = zone
	}
	return d, r.valid(d.year, d.month, d.day)
}

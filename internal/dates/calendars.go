package dates

import "time"

// Calendars besides the Gregorian one that pages show.
const (
	buddhist     = 543  // years that the Buddhist calendar of Thailand is ahead
	firstPersian = 1369 // the year of the Persian calendar that began in 1990
	lastPersian  = 1479
)

// monthDays are the days before each month of the Persian calendar.
var monthDays = [...]int{0, 31, 62, 93, 124, 155, 186, 216, 246, 276, 306, 336, 366}

// fromPersian gives a date of the Persian calendar in the Gregorian one; false if there is none. A cycle of 33 years has eight leap years; that
// is right from 1178 to 1633 (Borkowski, The Persian calendar for 3000 years, Earth, Moon, and Planets 74, 1996).
func (r *reader) fromPersian(d *date) bool {
	if d.year < firstPersian || d.year > lastPersian || d.month < 1 || d.month > 12 || d.day < 1 || d.day > monthDays[d.month]-monthDays[d.month-1] {
		return false
	}
	leaps := func(before int) int { // of the years before one, since the beginning of the cycle of 1309
		n := 0
		for y := 1309; y < before; y++ {
			switch y % 33 {
			case 1, 5, 9, 13, 17, 22, 26, 30:
				n++
			}
		}
		return n
	}
	if d.month == 12 && d.day == 30 && leaps(d.year+1) == leaps(d.year) {
		return false
	}
	days := 365*(d.year-1309) + leaps(d.year) + monthDays[d.month-1] + d.day - 1
	at := time.Date(1930, 3, 21, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days) // the first day of 1309
	d.year, d.month, d.day = at.Year(), int(at.Month()), at.Day()
	return r.valid(d.year, d.month, d.day)
}

// persian reads a date of the Persian calendar whose month's name is the token i: 14 Esfand 1393.
func (r *reader) persian(i int) (date, bool) {
	p, q := r.back(i-1), r.skip(i+1)
	if !r.isNumber(p, 2) || !r.isNumber(q, 4) || r.belongs(p) {
		return date{}, false
	}
	d := date{year: int(r.toks[q].value), month: int(r.toks[i].month), day: int(r.toks[p].value), from: p, to: q + 1}
	return d, r.fromPersian(&d)
}

// worded reads a date whose month is a number behind a word for "month", as Vietnamese has it, from its day on: 5 tháng 3 năm 2015.
func (r *reader) worded(i int) (date, bool) {
	if !r.isNumber(i, 2) || !r.hasFlag(i+1, monthWord) || !r.isNumber(i+2, 2) {
		return date{}, false
	}
	y := r.skip(i + 3)
	if !r.isYear(y) {
		return date{}, false
	}
	d := date{year: r.year(y), month: int(r.toks[i+2].value), day: int(r.toks[i].value), from: i, to: y + 1}
	return d, r.valid(d.year, d.month, d.day)
}

// join makes one name of a month's name of two words, and of two names of a month with a slash between them, as Arabic newspapers write both.
func (r *reader) join() {
	if !r.arabic {
		return
	}
	for i := 0; i+1 < r.n; i++ {
		t, next := &r.toks[i], &r.toks[i+1]
		if t.part != 0 && next.part != 0 {
			if month := pairs[[2]uint8{t.part, next.part}]; month > 0 {
				t.month = month
				next.word = word{flags: link}
			}
		}
		at := i + 1
		if r.hasFlag(at, link) {
			at++
		}
		if t.month > 0 && r.isSign(at, '/') && at+1 < r.n && r.toks[at+1].month == t.month {
			r.toks[at+1].word = word{flags: link}
		}
	}
}

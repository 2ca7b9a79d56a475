package dates

// clock is a time of day. Its zone is in minutes east of UTC; its precision is zero if there is none.
type clock struct {
	hour, minute, second, nano int
	zone                       int
	precision                  Precision
	zoned                      bool
}

const (
	maxGap    = 8  // tokens between a date and its time of day
	maxBefore = 16 // tokens before a date in which its time of day is looked for
)

// clockNear reads the time of day after a date in the tokens [from, to), or else before it.
func (r *reader) clockNear(from, to int) clock {
	if c, _, ok := r.clockAfter(to); ok {
		return c
	}
	for i := max(0, from-maxBefore); i < from; i++ {
		if i > 0 && (r.isSign(i-1, ':') || r.isSign(i-1, '.')) && r.toks[i].glued {
			continue
		}
		c, end, ok := r.clockAt(i, false)
		if !ok || end > from {
			continue
		}
		for end < from && from-end <= maxGap && r.between(end) {
			end++
		}
		if end < from {
			continue
		}
		if !c.zoned {
			if zone, _, ok := r.zoneAt(to, true); ok {
				c.zone = zone
			}
		}
		return c
	}
	return clock{}
}

// clockAfter reads the time of day that the tokens from i lead to.
func (r *reader) clockAfter(i int) (c clock, to int, ok bool) {
	announced := false
	for end := min(r.n, i+maxGap); i < end; i++ {
		if c, to, ok = r.clockAt(i, announced); ok {
			return c, to, true
		}
		switch {
		case r.isSign(i, '(') && r.isSign(i+2, ')'): // a weekday, mostly
			i += 2
		case !r.between(i):
			return clock{}, i, false
		default:
			announced = announced || r.toks[i].has(at)
		}
	}
	return clock{}, i, false
}

// between reports whether a token may stand between a date and its time of day.
func (r *reader) between(i int) bool {
	t := &r.toks[i]
	if t.kind == letters {
		return t.weekday > 0 || t.flags&(at|known|han|am) != 0
	}
	if t.kind == sign {
		switch t.value {
		case ',', '-', '–', '—', '@', '|', '·', '•', '»', '«', '(', ')', ';', ':', '.', '/', '~', '\'', '[', ']', '→', '›', 'º', '°':
			return true
		}
	}
	return false
}

// clockAt reads the time of day that begins with the token i. If a word before it announced it, or the word
// after it does, 10.23 is one too.
func (r *reader) clockAt(i int, announced bool) (c clock, to int, ok bool) {
	first := i
	half := r.half(i)
	if half != 0 {
		i++
	}
	if !r.isNumber(i, 2) {
		return clock{}, 0, false
	}
	c.hour, c.precision = int(r.toks[i].value), Hour
	plain := false // the hour stands alone, as in 9 am
	i++
	switch {
	case r.isSign(i, ':') && r.glued(i) && r.part(i+1, 2):
		i = r.colons(&c, i)
	case r.hasFlag(i, hourSign):
		i, ok = r.hourSigns(&c, i, announced)
		if !ok {
			return clock{}, 0, false
		}
	case r.isSign(i, '.') && r.glued(i) && r.part(i+1, 2) && r.glued(i+1) && r.toks[i+1].width == 2:
		i, ok = r.dots(&c, i, announced)
		if !ok {
			return clock{}, 0, false
		}
	default:
		plain = true
	}
	if half == 0 {
		var end int
		if half, end = r.halfAfter(i); half != 0 {
			i = end
		}
	}
	switch {
	case plain && (half == 0 || c.hour < 1 || c.hour > 12):
		return clock{}, 0, false
	case half == pm && c.hour < 12:
		c.hour += 12
	case half == am && c.hour == 12:
		c.hour = 0
	}
	if c.hour > 23 || c.minute > 59 || c.second > 59 {
		return clock{}, 0, false
	}
	exact := c.precision == Second || first > 0 && r.hasFlag(first-1, isoT) && r.glued(first)
	if zone, end, ok := r.zoneAt(i, exact); ok {
		c.zone, c.zoned, i = zone, true, end
	}
	return c, i, true
}

// colons reads what follows an hour from a colon on: 18:05, 18:05:30 and 18:05:30.123.
func (r *reader) colons(c *clock, i int) (to int) {
	c.minute, c.precision = int(r.toks[i+1].value), Minute
	if i += 2; r.isSign(i, ':') && r.glued(i) && r.part(i+1, 2) {
		c.second, c.precision = int(r.toks[i+1].value), Second
		if i += 2; (r.isSign(i, '.') || r.isSign(i, ',') && r.isNumber(i+1, 3)) && r.glued(i) && r.glued(i+1) && r.isNumber(i+1, 9) {
			c.nano = int(r.toks[i+1].value)
			for range 9 - r.toks[i+1].width {
				c.nano *= 10
			}
			i += 2
		}
	}
	if r.hasFlag(i, hourSign) && !r.toks[i].glued { // 18:05 Uhr
		i++
	}
	return i
}

// hourSigns reads what follows an hour from a word or letter for hours on: 18h05, 18 Uhr 05, and 18時05分30秒.
func (r *reader) hourSigns(c *clock, i int, announced bool) (to int, ok bool) {
	if !announced && !r.toks[i].glued && !r.toks[i].has(han|dayFirst) && !r.isNumber(i+1, 2) { // 5 h
		return 0, false
	}
	if i++; r.part(i, 2) && (r.hasFlag(i-1, han) || r.glued(i) || r.hasFlag(i+1, minuteSign) || !r.isSign(i+1, ':') && !r.isSign(i+1, '.')) {
		c.minute, c.precision = int(r.toks[i].value), Minute
		if i++; r.hasFlag(i, minuteSign) {
			if i++; r.part(i, 2) && r.hasFlag(i+1, secondSign) {
				c.second, c.precision = int(r.toks[i].value), Second
				i += 2
			}
		}
	}
	return i, true
}

// dots reads what follows an hour from a dot on: 18.05 and 18.05.30, if a word announces it or a sign for hours follows, and if it is
// not the beginning of a longer number with dots.
func (r *reader) dots(c *clock, i int, announced bool) (to int, ok bool) {
	end := i + 2
	if r.isSign(end, '.') && r.glued(end) && r.part(end+1, 2) && r.glued(end+1) && r.toks[end+1].width == 2 {
		end += 2
	}
	if more := r.isSign(end, '.') && r.glued(end+1) && r.isNumber(end+1, 255); more || !announced && !r.hasFlag(end, hourSign) {
		return 0, false
	}
	c.minute, c.precision = int(r.toks[i+1].value), Minute
	if end > i+2 {
		c.second, c.precision = int(r.toks[i+3].value), Second
	}
	if r.hasFlag(end, hourSign) {
		end++
	}
	return end, true
}

// part reports whether the token i is a number that minutes and seconds may be.
func (r *reader) part(i int, width uint8) bool {
	return r.isNumber(i, width) && r.toks[i].value < 60
}

// half is the half of the day that the token i names before an hour, as Chinese and Korean do.
func (r *reader) half(i int) flags {
	if i >= r.n || r.toks[i].kind != letters {
		return 0
	}
	return r.toks[i].flags & (am | pm)
}

// halfAfter reads am, pm, a.m. and p. m.
func (r *reader) halfAfter(i int) (half flags, to int) {
	if half := r.half(i); half != 0 {
		return half, i + 1
	}
	j := i + 1
	if r.isSign(j, '.') {
		j++
	}
	if !r.hasFlag(i, letterA|letterP) || !r.hasFlag(j, letterM) {
		return 0, i
	}
	if j++; r.isSign(j, '.') {
		j++
	}
	if r.hasFlag(i, letterA) {
		return am, j
	}
	return pm, j
}

// zoneAt reads a zone: UTC, CET, +0200, +02:00, UTC+2. A pair that may be the end of a span of time
// (10:15-11:00) is one only after an exact time.
func (r *reader) zoneAt(i int, exact bool) (zone, to int, ok bool) {
	if r.isSign(i, '(') {
		i++
	}
	named := false
	if i < r.n && r.toks[i].has(isZone) && (r.toks[i].upper || r.toks[i].zone == 0) {
		zone, named = int(r.toks[i].zone), true
		if i++; zone != 0 {
			return zone, i, true
		}
	}
	minus := r.isSign(i, '-')
	if !minus && !r.isSign(i, '+') || !r.isNumber(i+1, 4) || !r.glued(i+1) {
		return zone, i, named
	}
	n, to := &r.toks[i+1], i+2
	hours, minutes := int(n.value), 0
	switch {
	case n.width == 4:
		hours, minutes = hours/100, hours%100
	case n.width == 2 && r.isSign(to, ':') && r.glued(to) && r.isNumber(to+1, 2) && r.glued(to+1):
		if minus && !exact && !named && r.glued(i) {
			return 0, i, false
		}
		minutes = int(r.toks[to+1].value)
		to += 2
	case n.width == 3 || !named && (n.width == 1 || !r.glued(i)):
		return zone, i, named
	}
	if hours > 14 || minutes > 59 {
		return zone, i, named
	}
	if zone = hours*60 + minutes; minus {
		zone = -zone
	}
	return zone, to, true
}

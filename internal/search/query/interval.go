package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// interval reads the value of a field with numbers. The message says what is wrong with it.
func interval(f Field, value string) (Range, string) {
	if f == Date {
		return period(value)
	}
	r := Range{Field: f, Low: math.Inf(-1), High: math.Inf(1), Text: value}
	wrong := fmt.Sprintf("%s: takes a number, such as %s:%s, or an interval, such as %s", f, f, examples[f], map[Field]string{Score: "score:0.5..0.8", Status: "status:400..499"}[f])
	var err error
	number := func(s string, open float64) (n float64) {
		if s == "" {
			return open
		}
		n, e := strconv.ParseFloat(s, 64)
		if e != nil || math.IsNaN(n) || math.IsInf(n, 0) || len(s) > 24 || strings.ContainsAny(s, "xXpP_") {
			err = fmt.Errorf("%s", wrong)
		}
		return n
	}
	low, high, isInterval := strings.Cut(value, "..")
	switch {
	case isInterval:
		r.Low, r.High = number(low, r.Low), number(high, r.High)
		if err == nil && r.Low > r.High {
			return r, fmt.Sprintf("the interval %s ends before it begins: write %s:%s..%s", value, f, high, low)
		}
		if low == "" && high == "" {
			return r, wrong
		}
	case strings.HasPrefix(value, ">="):
		r.Low = number(value[2:], math.NaN())
	case strings.HasPrefix(value, "<="):
		r.High = number(value[2:], math.NaN())
	case strings.HasPrefix(value, ">"):
		r.Low, r.AboveLow = number(value[1:], math.NaN()), true
	case strings.HasPrefix(value, "<"):
		r.High, r.ToBelow = number(value[1:], math.NaN()), true
	case f == Status && len(value) == 3 && value[0] >= '1' && value[0] <= '9' && strings.EqualFold(value[1:], "xx"):
		r.Low = float64(value[0]-'0') * 100
		r.High = r.Low + 99
	default:
		r.Low = number(value, math.NaN())
		r.High = r.Low
	}
	if err != nil || math.IsNaN(r.Low) || math.IsNaN(r.High) {
		return r, wrong
	}
	return r, ""
}

const wrongDate = "date: takes a year, a month, a day or an interval of them, such as date:2025, date:2025-03, date:2025-03-07, date:2025..2026 or date:2025-03.."

// period reads the value of a date, in UTC. The end of an interval belongs to it whole: 2025..2026 is two years.
func period(value string) (Range, string) {
	r := Range{Field: Date, Low: math.Inf(-1), High: math.Inf(1), ToBelow: true, Text: value}
	first, last, isInterval := strings.Cut(value, "..")
	if !isInterval {
		last = first
	}
	if first == "" && last == "" {
		return r, wrongDate
	}
	if first != "" {
		from, _, ok := calendar(first)
		if !ok {
			return r, wrongDate
		}
		r.Low = float64(from.Unix())
	}
	if last != "" {
		_, to, ok := calendar(last)
		if !ok {
			return r, wrongDate
		}
		r.High = float64(to.Unix())
	}
	if r.Low >= r.High {
		return r, fmt.Sprintf("the interval %s ends before it begins: write date:%s..%s", value, last, first)
	}
	return r, ""
}

// calendar is the year, month or day that a text names, up to the beginning of the next.
func calendar(s string) (from, to time.Time, ok bool) {
	for _, of := range []struct {
		layout              string
		years, months, days int
	}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {"2006-01-02", 0, 0, 1}} {
		if len(s) != len(of.layout) {
			continue
		}
		t, err := time.Parse(of.layout, s)
		return t, t.AddDate(of.years, of.months, of.days), err == nil && t.Year() > 0
	}
	return from, to, false
}

// seconds is a time in seconds since 1970; zero if it is infinite.
func seconds(n float64) time.Time {
	if math.IsInf(n, 0) {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}

// Contains reports whether a number is in the interval.
func (r Range) Contains(n float64) bool {
	return (n > r.Low || n == r.Low && !r.AboveLow) && (n < r.High || n == r.High && !r.ToBelow)
}

// Period asks for captures from one month or day up to another, in the form that date: takes.
func Period(first, last string) (Range, error) {
	value := first
	if last != first {
		value = first + ".." + last
	}
	r, message := period(value)
	if message != "" {
		return r, &Error{0, message}
	}
	return r, nil
}

package extract

import (
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/dates"
)

// isFront reports whether an address is that of the front of a host.
func isFront(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	return at < 0 || at == len(rest)-1
}

// dateOfURL reads the date in an address that has more behind it: /2014/05/16/ravens, /2014-05-16-ravens, /20140516/ravens. Without more
// behind it, it is that of a list.
func dateOfURL(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	if at < 0 {
		return ""
	}
	path, _, _ := strings.Cut(rest[at:], "?")
	for segment := range strings.SplitSeq(strings.ToLower(path), "/") {
		switch segment {
		case "event", "events", "calendar", "agenda", "kalender", "termine", "veranstaltungen", "evenements", "eventos", "eventi": // the date of what is to come
			return ""
		}
	}
	for i := 0; i+11 < len(path); i++ {
		if path[i] != '/' || !strings.HasPrefix(path[i+1:], "20") && !strings.HasPrefix(path[i+1:], "19") {
			continue
		}
		if date, end := digitsOfDate(path[i+1:]); date != "" && i+1+end+2 < len(path) {
			if at, precision, ok := dates.Read(date, time.Time{}); ok && precision == dates.Day {
				return at.Format(time.RFC3339)
			}
		}
	}
	return ""
}

// digitsOfDate reads year, month and day with one separator or none between them, and a separator behind them.
func digitsOfDate(s string) (date string, end int) {
	number := func(from, most int) int {
		n := 0
		for n < most && from+n < len(s) && isDigit(s[from+n]) {
			n++
		}
		return n
	}
	if number(0, 5) != 4 && number(0, 9) != 8 {
		return "", 0
	}
	if number(0, 9) == 8 {
		if len(s) > 8 && strings.IndexByte("/_-", s[8]) >= 0 {
			return s[:4] + "-" + s[4:6] + "-" + s[6:8], 8
		}
		return "", 0
	}
	between := s[4]
	if between != '/' && between != '-' && between != '_' {
		return "", 0
	}
	month := number(5, 2)
	if month == 0 || 5+month >= len(s) || s[5+month] != between {
		return "", 0
	}
	at := 6 + month
	day := number(at, 2)
	if day == 0 || at+day >= len(s) || strings.IndexByte("/_-.", s[at+day]) < 0 {
		return "", 0
	}
	two := func(s string) string { return strings.Repeat("0", 2-len(s)) + s }
	return s[:4] + "-" + two(s[5:5+month]) + "-" + two(s[at:at+day]), at + day
}

package extract

import (
	"testing"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{"1,234 views": "1234", "Replies: 7": "7", "3.5": "3.5", "1.234.567": "1234567", "-12 points": "-12", "none": "", "12, 13": "12", "2 000": "2000", "2.8K views": "2800", "3M": "3000000", "3 km": "3"} {
		if got := number(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDateTime(t *testing.T) {
	for value, want := range map[string]string{
		"2026-11-21T08:00:00+01:00": "2026-11-21T08:00:00+01:00", "2026-11-21": "2026-11-21T00:00:00Z", "Sat, 21 Nov 2026 08:00:00 GMT": "2026-11-21T08:00:00Z",
		"Posted: Thu Dec 17, 2009 1:44 pm Post subject: x": "2009-12-17T13:44:00Z", "on December 17, 2009": "2009-12-17T00:00:00Z", "17 Dec 2009, 13:44": "2009-12-17T13:44:00Z",
		"yesterday": "", "": "", "May 99, 2009": "",
	} {
		if got := dateTime(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

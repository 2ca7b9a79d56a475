package dates

import (
	"strings"
	"testing"
	"time"
)

// FuzzRead: for any text, a date that is read is in the valid years, is read again from RFC 3339, and does not
// depend on what follows the first 300 bytes.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"by Hugo » Sat Nov 21, 2026 9:15 am", "Sat 21 Nov 09:15:00 CET 2026", "el 02/04/2014 a las 3:20 p. m.", "2012. 8. 1. 오후 3:20", "il y a 2 jours", "1 day, 2 hours ago",
		"2012年8月1日(水) 10時15分", "14:08, 23 February 2009 (UTC+01:00)", "1381172401460", "20120801T100000Z", "21-Nov-26 10.15 Uhr", "i går kl. 10.15", "5 d'agost de 2014",
		strings.Repeat("1.", 200), strings.Repeat("May 5 ", 60), "\xe5\xb9\xffé２０",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, now := range []time.Time{{}, now} {
			at, p, ok := Read(text, now)
			if !ok {
				if p != 0 || !at.IsZero() {
					t.Fatalf("%q: %s (%s) though nothing is read", text, at, p)
				}
				continue
			}
			if at.Year() < firstYear || at.Year() > lastYear || p < Month || p > Second {
				t.Fatalf("%q: %s (%s)", text, at, p)
			}
			if p <= Day && at.Sub(at.Truncate(24*time.Hour)) != 0 && at.Location() == time.UTC {
				t.Fatalf("%q: %s has a time of day and the precision %s", text, at, p)
			}
			written := at.Format(time.RFC3339)
			if again, ok := Format(written, now); !ok || again != written {
				t.Fatalf("%q is %q, which is %q", text, written, again)
			}
			if len(text) > maxText {
				if more, _, ok := Read(text+"1 x", now); !ok || !more.Equal(at) {
					t.Fatalf("%q: %s with more after it", text, more)
				}
			}
		}
	})
}

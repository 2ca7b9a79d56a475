package dates

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// layouts give a time to the second, to the minute and to the day.
var layouts = [3][]string{
	{time.ANSIC, time.UnixDate, time.RubyDate, time.RFC850, time.RFC1123, time.RFC1123Z, time.RFC3339, time.RFC3339Nano, time.DateTime, "20060102T150405Z", "02/Jan/2006:15:04:05 -0700",
		"Monday, January 2, 2006 at 3:04:05 PM", "« on: January 02, 2006, 03:04:05 PM »", "2006/01/02 15:04:05", "2.1.2006 15:04:05", "2006年1月2日 15時04分05秒", "15:04:05, 2 January 2006 (UTC)"},
	{time.RFC822, time.RFC822Z, "Mon Jan 2, 2006 3:04 pm", "by Hugo » Mon Jan 02, 2006 3:04 pm", "Jan 2 2006, 03:04 PM", "2 January 2006 15:04", "2 January 2006 - 03:04 PM", "Jan 2, 2006 at 3:04 PM",
		"02.01.2006 um 15:04 Uhr", "le 02/01/2006 à 15h04", "Mon, 01/02/2006 - 15:04", "2006. 1. 2. 15:04", "2006-01-02T15:04", "01-02-2006, 03:04 PM", "02-01-2006, 15:04", "2006年1月2日 15:04", "15:04 on Jan 2, 2006", "2-Jan-06 15:04"},
	{time.DateOnly, "2006/01/02", "1/2/2006", "01/02/06", "02.01.2006", "2 Jan 2006", "January 2, 2006", "Mon, 2 Jan 2006", "2-1-2006", "Jan. 2, 2006", "2006年1月2日", "2-Jan-2006"},
}

// TestLayouts: a time in any of the layouts is read.
func TestLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	from := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for range 3000 {
		at := time.Unix(from+rng.Int64N(now.Unix()-from), 0).UTC()
		for i, step := range []time.Duration{time.Second, time.Minute, 24 * time.Hour} {
			want := at.Truncate(step)
			for _, layout := range layouts[i] {
				text := want.Format(layout)
				if got, _, ok := Read(text, now); !ok || !got.Equal(want) {
					t.Fatalf("%q: %s, want %s", text, got, want)
				}
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, text := range []string{"by Hugo » Sat Nov 21, 2026 9:15 am", "5 февраля 2014 г. в 10:15", "2012年8月1日", "no date", "12 comments"} {
		if n := testing.AllocsPerRun(100, func() { Read(text, now) }); n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{
		"forum": "by Hugo » Sat Nov 21, 2026 9:15 am", "posted": "Posted: Thu Dec 17, 2009 1:44 pm Post subject: x", "machine": "2026-11-21T08:00:00+01:00", "German": "Samstag, 5. Oktober 2013 um 10:23",
		"Russian": "5 февраля 2014 г. в 10:15", "slashes": "16/07/2014 - 08:33", "none": "12 comments and 5 views", "no digit": strings.Repeat("ravens fly over the hills ", 10),
		"long": strings.Repeat("5 ravens, 2014 ", 20), "relative": "2 hours ago",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(text, now)
			}
		})
	}
}

package dates

import (
	"strings"
	"testing"
	"time"
)

func TestRelative(t *testing.T) {
	texts := map[string]string{
		"yesterday at 10:15":        "2026-11-24T10:15",
		"Yesterday, 10:15 PM":       "2026-11-24T22:15",
		"« on: Today at 09:12:30 »": "2026-11-25T09:12:30Z",
		"today 09:12":               "2026-11-25T09:12",
		"Yesterday":                 "2026-11-24",
		"Posted yesterday by Hugo":  "2026-11-24",
		"2 hours ago":               "2026-11-25T12:30",
		"an hour ago":               "2026-11-25T13:30",
		"1 hour, 5 minutes ago":     "2026-11-25T13:25",
		"1 day and 2 hours ago":     "2026-11-24T12:30",
		"30 seconds ago":            "2026-11-25T14:30:15Z",
		"3 days ago at 10:15":       "2026-11-22T10:15",
		"1 year, 2 months ago":      "2025-09-01",
		"1 year, 2 months, 1 week, 3 days, 1 hour, 5 minutes and 1 second ago": "2025-09-15T13:25:44Z",
		"2d ago":               "2026-11-23",
		"10:15 yesterday":      "2026-11-24T10:15",
		"2 weeks ago":          "2026-11-11",
		"11 months ago":        "2025-12-01",
		"5min ago":             "2026-11-25T14:25",
		"vor 3 Tagen":          "2026-11-22",
		"vor einer Stunde":     "2026-11-25T13:30",
		"gestern um 18.05 Uhr": "2026-11-24T18:05",
		"il y a 2 jours":       "2026-11-23",
		"il y a une heure":     "2026-11-25T13:30",
		"aujourd'hui à 10h15":  "2026-11-25T10:15",
		"hier à 10h15":         "2026-11-24T10:15",
		"avant-hier à 10h15":   "2026-11-23T10:15",
		"hace 2 horas":         "2026-11-25T12:30",
		"há 2 horas":           "2026-11-25T12:30",
		"2 ore fa":             "2026-11-25T12:30",
		"2 dagen geleden":      "2026-11-23",
		"i går kl. 10.15":      "2026-11-24T10:15",
		"for 2 timer siden":    "2026-11-25T12:30",
		"2 timmar sedan":       "2026-11-25T12:30",
		"2 godziny temu":       "2026-11-25T12:30",
		"před 2 hodinami":      "2026-11-25T12:30",
		"2 часа назад":         "2026-11-25T12:30",
		"вчера в 10:15":        "2026-11-24T10:15",
		"2 години тому":        "2026-11-25T12:30",
		"dün 10:15":            "2026-11-24T10:15",
		"2 saat önce":          "2026-11-25T12:30",
		"πριν 2 ώρες":          "2026-11-25T12:30",
		"2 tuntia sitten":      "2026-11-25T12:30",
		"acum 2 ore":           "2026-11-25T12:30",
		"2 jam yang lalu":      "2026-11-25T12:30",
		"昨天 10:15":             "2026-11-24T10:15",
		"3天前":                  "2026-11-22",
		"2小时前":                 "2026-11-25T12:30",
		"5 分前":                 "2026-11-25T14:25",
		"2시간 전":                "2026-11-25T12:30",
		"3일 전":                 "2026-11-22",
	}
	check(t, now, texts)
	for text := range texts {
		if at, _, ok := Read(text, time.Time{}); ok {
			t.Errorf("%q is read as %s without a now", text, at)
		}
	}
}

// TestNot: texts that are no dates, or ambiguous ones.
func TestNot(t *testing.T) {
	for _, text := range []string{
		"", " ", "2026", "May", "May 99, 2009", "31 February 2014", "May 10-12, 2014", "10:30 Nov 2009", "hier 10:15", "hier um 10:15 Uhr", "1 year ago", "il y a un an", "Feb 30, 2014", "29.2.2013", "31/02/2014", "13/13/2014", "2014-02-30", "2014-13-01",
		"99/12/05/2014", "1.2.2010.5", "v1.2.2010", "version 1.2.2010", "Version: 1.2.2010", "10.11.12.13", "MyBB 1.8.12", "Linux 04.06.22", "phpBB 3.0.12", "1.2.3",
		"12 comments", "1,234 views", "10:15", "5 May", "May 5", "5/6", "2012/13", "2012-8", "in 2012-08 we", "555-12-34", "+49 30 1234567", "12345678901", "call 1381172401",
		"?id=1381172401", "1 2 2014", "May 5, 1985", "May 5, 2029", "5 May 2500", "1985-05-05", "9999999999", "0000000000", "20120801", "00/00/0000", "0000-00-00 00:00:00", "0.0.0000",
		"out of 5 in 2014 or so", "the set 2014", "you may have 2014 ravens", "posts since then", "in ten years", "hier ist 1 Rabe", "2 years ago", "2 hours", "5 ago",
		"today is a day on which many ravens fly over the hills", "ago", "1 1 1", "2012年", "8月1日", "24年8月1日", "2012年13月1日", "99999999999999999999/1/1", "1/1/99999999999999999999",
		"Raven Pro 5 2014", strings.Repeat("r ", 150) + "5 May 2014", strings.Repeat("1", 1000), strings.Repeat("1/", 500), strings.Repeat("may ", 500), "2014-05-0\xff", "\xff\xfe1\xff",
	} {
		if at, p, ok := Read(text, now); ok || p != 0 || !at.IsZero() {
			t.Errorf("%q is read as %s (%s)", text, at, p)
		}
	}
	check(t, time.Time{}, map[string]string{"yesterday": "", "May 5, 2099": "2099-05-05", "May 5, 2101": "", "5 May '60": "", "12/30/09": "2009-12-30"})
}

func TestPrecision(t *testing.T) {
	for text, want := range map[string]Precision{
		"November 2026": Month, "5 May 2014": Day, "5 May 2014, 9 am": Hour, "5 May 2014 9:15": Minute, "5 May 2014 9:15:00": Second, "2 weeks ago": Week, "3 days ago": Day,
		"2 hours ago": Hour, "5 minutes ago": Minute, "5 seconds ago": Second, "1381172401": Second, "yesterday": Day, "2 months ago": Month, "x": 0,
	} {
		if _, got, _ := Read(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if at, _, _ := Read("2014-05-05T10:15:30.25+02:00", now); at.Nanosecond() != 250e6 || at.UTC().Hour() != 8 {
		t.Errorf("the fraction is lost: %s", at)
	}
}

// TestWithoutNow: dates that are given in full need no now.
func TestWithoutNow(t *testing.T) {
	check(t, time.Time{}, map[string]string{
		"2026-11-21T08:00:00+01:00": "2026-11-21T08:00:00+01:00", "2026-11-21": "2026-11-21", "Sat, 21 Nov 2026 08:00:00 GMT": "2026-11-21T08:00",
		"Posted: Thu Dec 17, 2009 1:44 pm Post subject: x": "2009-12-17T13:44", "on December 17, 2009": "2009-12-17", "17 Dec 2009, 13:44": "2009-12-17T13:44", "yesterday": "", "": "", "May 99, 2009": "",
	})
}

package aah

import (
	"regexp"
	"time"
)

// wholeDates are layouts of values that are a date and nothing else.
var wholeDates = []string{
	time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02", time.RFC1123Z, time.RFC1123,
}

// datesInText are dates that stand in a phrase, as in "Posted: Thu Dec 17, 2009 1:44 pm by Munin"; the
// first that is found counts. They name no time zone: UTC is taken.
var datesInText = []struct {
	find    *regexp.Regexp
	layouts []string
}{
	{regexp.MustCompile(`[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d{2} ?[ap]m`), []string{"Jan 2, 2006 3:04 pm", "Jan 2, 2006, 3:04 pm", "Jan 2, 2006 3:04pm"}},
	{regexp.MustCompile(`[A-Z][a-z]{2,8} \d{1,2}, \d{4}`), []string{"January 2, 2006", "Jan 2, 2006"}},
	{regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2,8} \d{4}(,? \d{1,2}:\d{2})?`), []string{"2 January 2006", "2 Jan 2006", "2 Jan 2006 15:04", "2 Jan 2006, 15:04", "2 January 2006, 15:04"}},
	{regexp.MustCompile(`\d{4}-\d{2}-\d{2}`), []string{"2006-01-02"}},
}

// maxDate bounds the phrase that a date is looked for in.
const maxDate = 300

// dateTime writes a date as RFC 3339 if it is or holds one, "" if not.
func dateTime(value string) string {
	for _, layout := range wholeDates {
		if t, err := time.Parse(layout, value); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	if len(value) > maxDate {
		return ""
	}
	for _, d := range datesInText {
		found := d.find.FindString(value)
		for _, layout := range d.layouts {
			if t, err := time.Parse(layout, found); err == nil {
				return t.Format(time.RFC3339)
			}
		}
	}
	return ""
}

package extract

import (
	"time"

	"github.com/muninn-archive/muninn/internal/dates"
)

// MaxDate bounds the phrase that a date is looked for in, in bytes.
const MaxDate = 300

// dateTime writes a date as RFC 3339 if a text is or holds one, "" if not. Dates relative to now ("two
// hours ago") are not read: the capture has its own date, and a second look at the page must say the same.
func dateTime(text string) string {
	if out, ok := dates.Format(text, time.Time{}); ok {
		return out
	}
	return ""
}

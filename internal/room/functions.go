package room

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// stamp is the form of times in addresses: 14 digits, UTC.
const stamp = catalogue.Timestamp

// functions are those of the templates.
var functions = template.FuncMap{
	"plain": plain,
	"line":  func(s string) string { return oneLine(s, titleBytes) },
	"short": func(s string) string { return oneLine(s, urlBytes) },
	"live":  live,
	"when":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"day":   func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
	"clock": func(t time.Time) string { return t.UTC().Format(time.TimeOnly) },
	"some":  func(t time.Time) bool { return !t.IsZero() },
	"score": func(f float64) string {
		if f < 0 {
			return "none"
		}
		return strconv.FormatFloat(f, 'f', 3, 64)
	},
	"share":       func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) },
	"escaped":     url.QueryEscape, // so that no character of it shows
	"number":      number,
	"bytes":       sizeText,
	"captureURL":  func(e Link) string { return e.capture() },
	"calendarURL": func(u string) string { return address("/calendar", "url", u) },
	"hostURL":     func(h string) string { return address("/host", "host", h) },
	"crawlURL":    func(c string) string { return address("/crawl", "name", c) },
	"searchURL":   func(q string) string { return address("/search", "q", q) },
	"lookURL":     func(u string) string { return address("/calendar", "url", u) },
	"lang": func(code string) string { // one that is no ISO 639 code helps no reader
		if len(code) < 2 || len(code) > 3 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz") != "" {
			return ""
		}
		return code
	},
	"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	},
}

// address is a path of the room with parameters, as pairs of name and value; empty values are left out.
func address(path string, pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// Link names a capture in addresses.
type Link struct {
	URL   string    `json:"url"`
	Date  time.Time `json:"date"`
	Crawl string    `json:"crawl"`
}

func (l Link) capture() string {
	return address("/capture", "url", l.URL, "at", l.Date.UTC().Format(stamp), "crawl", l.Crawl)
}

func (e *Entry) link() Link { return Link{e.URL, e.Date, e.Crawl} }

// number is a number with blanks between its thousands.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func sizeText(n int64) string {
	f, units := float64(n), []string{"bytes", "kB", "MB", "GB", "TB"}
	at := 0
	for f >= 1000 && at < len(units)-1 {
		f, at = f/1000, at+1
	}
	if at == 0 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + units[at]
}

func jsonOf(data any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b) // it escapes <, > and &
	e.SetIndent("", " ")
	err := e.Encode(data)
	return b.Bytes(), err
}

package webworld

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// calendarView is what the template "calendar" gets.
type calendarView struct {
	Date                    time.Time
	Text                    string
	Before, After, NextYear string
	Days                    []string
	Session                 string
	Deeper                  string
}

// trap is an endless calendar, with session ids in paths, parameters and queries, and paths that grow.
type trap struct {
	b *Builder
	s *Host
}

func planTrap(b *Builder, s *Host) *trap {
	s.SetRobots(Rules{}, "")
	t := &trap{b: b, s: s}
	s.Dynamic = t.answer
	return t
}

func (t *trap) generate() {
	res := t.s.AddHTML("/", "trap", false, t.page("/", time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)))
	res.Endless = true
}

// answer knows every date, every session and every depth; it is safe for concurrent use.
func (t *trap) answer(u *url.URL) *Resource {
	date, err := time.Parse(time.DateOnly, u.Query().Get("date"))
	if err != nil {
		date = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	}
	known := false
	for _, prefix := range []string{"/calendar", "/events", "/room/", "/deeper/"} {
		known = known || strings.HasPrefix(u.Path, prefix)
	}
	if !known {
		return nil
	}
	res := t.s.Missing(u.RequestURI())
	res.Status, res.Kind = 200, "trap"
	res.Body = [][]byte{t.page(u.RequestURI(), date)}
	return res
}

func (t *trap) page(uri string, date time.Time) []byte {
	r := t.b.Random(t.s, "%s", uri)
	day := func(y, m, d int) string { return date.AddDate(y, m, d).Format(time.DateOnly) }
	path, _, _ := strings.Cut(uri, "?")
	v := calendarView{
		Date: date, Text: t.b.Text.Paragraph(r, TheWorld, 2), Before: day(0, -1, 0), After: day(0, 1, 0), NextYear: day(1, 0, 0),
		Session: fmt.Sprintf("%016X", r.Uint64()), Deeper: path[:strings.LastIndex(path, "/")+1],
	}
	for d := range 7 {
		v.Days = append(v.Days, day(0, 0, d+1))
	}
	var out strings.Builder
	if err := t.b.views.ExecuteTemplate(&out, "calendar", v); err != nil {
		return []byte(err.Error())
	}
	return []byte(out.String())
}

package room

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxCalendar bounds the captures of a calendar that are counted, maxYear those of a year that are listed.
const (
	maxCalendar = 50_000
	maxYear     = 2_000
)

type calendarPage struct {
	URL      string      `json:"url"`
	Host     string      `json:"host"`
	Captures int         `json:"captures"`
	More     bool        `json:"more,omitempty"` // there are more than are counted
	Years    []yearCount `json:"years"`
	Year     int         `json:"year"` // that Months are of
	Months   []month     `json:"months"`
	Cut      bool        `json:"cut,omitempty"` // the year has more than are listed
	Pair     bool        `json:"-"`             // there are two to compare
}

type yearCount struct {
	Year    int    `json:"year"`
	N       int    `json:"n"`
	Address string `json:"address"`
	Here    bool   `json:"-"`
}

type month struct {
	Month string     `json:"month"`
	Name  string     `json:"-"`
	Days  []monthDay `json:"days"`
}

type monthDay struct {
	Day      string         `json:"day"`
	Captures []dayOfCapture `json:"captures"`
}

type dayOfCapture struct {
	Link
	Run       uint32 `json:"run,omitempty"`
	Status    int    `json:"status"`
	Unchanged bool   `json:"unchanged"` // a revisit: the page was the same as at an earlier capture
	Digest    string `json:"digest"`
	Address   string `json:"address"`
	Changes   string `json:"changes,omitempty"` // compared with the capture before, if it has another payload
}

func (r *Room) calendar(req *http.Request) (view, error) {
	v := req.URL.Query()
	asked := strings.TrimSpace(v.Get("url"))
	if asked == "" {
		return view{}, wrong("url is missing")
	}
	year, _ := strconv.Atoi(v.Get("year"))
	p := &calendarPage{URL: asked, Year: year, Years: []yearCount{}, Months: []month{}}
	var list []Entry
	err := r.Door.Captures(req.Context(), Lookup{URL: asked}, func(e Entry) error {
		if p.Captures == maxCalendar {
			p.More = true
			return errEnough
		}
		p.Captures++
		if n := len(p.Years); n == 0 || p.Years[n-1].Year != e.Date.Year() {
			p.Years = append(p.Years, yearCount{Year: e.Date.Year(), Address: address("/calendar", "url", asked, "year", strconv.Itoa(e.Date.Year()))})
		}
		p.Years[len(p.Years)-1].N++
		if year == 0 && len(list) > 0 && list[0].Date.Year() != e.Date.Year() {
			list, p.Cut = list[:0], false // without a year the last one is shown
		}
		if year != 0 && year != e.Date.Year() {
			return nil
		}
		if len(list) < maxYear {
			list = append(list, e)
		} else {
			p.Cut = true
		}
		return nil
	})
	if err := unlessEnough(err); err != nil {
		return view{}, err
	}
	if p.Captures == 0 {
		return view{}, missing("there is no capture of %s here", oneLine(asked, urlBytes))
	}
	if year == 0 {
		p.Year = list[0].Date.Year()
	}
	for i := range p.Years {
		p.Years[i].Here = p.Years[i].Year == p.Year
	}
	p.fill(list)
	return view{Name: "calendar", Title: "Captures of " + oneLine(p.URL, urlBytes), Data: p}, nil
}

// fill sorts captures into months and days.
func (p *calendarPage) fill(list []Entry) {
	var before *Entry
	for i := range list {
		e := &list[i]
		if i == 0 {
			p.URL = e.URL
			if u, err := url.Parse(e.URL); err == nil {
				p.Host = u.Hostname()
			}
		}
		m := e.Date.Format("2006-01")
		if n := len(p.Months); n == 0 || p.Months[n-1].Month != m {
			p.Months = append(p.Months, month{Month: m, Name: e.Date.Format("January 2006")})
		}
		of := &p.Months[len(p.Months)-1]
		day := e.Date.Format(time.DateOnly)
		if n := len(of.Days); n == 0 || of.Days[n-1].Day != day {
			of.Days = append(of.Days, monthDay{Day: day})
		}
		c := dayOfCapture{Link: e.link(), Run: e.Run, Status: e.Status, Unchanged: e.Revisit, Digest: e.Digest, Address: e.link().capture()}
		if before != nil && before.Digest != e.Digest {
			c.Changes = compareAddress(before.link(), e.link())
		}
		to := &of.Days[len(of.Days)-1]
		to.Captures = append(to.Captures, c)
		before = e
	}
	p.Pair = len(list) > 1
}

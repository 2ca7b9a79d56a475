package recognition

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row sums up an application.
type Row struct {
	Application string         `json:"application"`
	Pages       int            `json:"pages"`
	Recognised  int            `json:"recognised"`
	Other       int            `json:"other_recognised"` // by the recogniser beside ours
	OtherWrong  int            `json:"other_wrong"`
	Judged      int            `json:"levels_judged"` // pages whose label of the level is held for right
	Right       int            `json:"levels_right"`
	Terminal    int            `json:"terminal"`
	WithObjects int            `json:"terminal_with_objects"`
	Bodies      int            `json:"terminal_with_body"`
	Objects     map[string]int `json:"objects"`
}

// Result is all that was measured.
type Result struct {
	Base     string                    `json:"base"`
	Compared bool                      `json:"compared"`
	Rows     []Row                     `json:"applications"`
	Total    Row                       `json:"total"`
	Levels   map[string]map[string]int `json:"levels"`       // label → found → pages
	Found    map[string]map[string]int `json:"found"`        // application → found → pages
	PerPart  map[string]map[string]int `json:"level_counts"` // level found → pages, pages with objects
	Doubts   []Labelled                `json:"doubtful_labels,omitempty"`
	Parse    time.Duration             `json:"parse_ns_per_page"`
	Helper   time.Duration             `json:"helper_ns_per_page"`
	Pages    []Seen                    `json:"pages"`
}

// Sum makes the tables.
func Sum(base string, compared bool, seen []Seen) Result {
	r := Result{Base: base, Compared: compared, Levels: map[string]map[string]int{}, Found: map[string]map[string]int{}, PerPart: map[string]map[string]int{}, Pages: seen}
	rows := map[string]*Row{}
	count := func(table map[string]map[string]int, row, column string) {
		if table[row] == nil {
			table[row] = map[string]int{}
		}
		table[row][column]++
	}
	r.Total = Row{Application: "all", Objects: map[string]int{}}
	for _, s := range seen {
		row := rows[s.Application()]
		if row == nil {
			row = &Row{Application: s.Application(), Objects: map[string]int{}}
			rows[s.Application()] = row
		}
		row.add(s)
		r.Total.add(s)
		if s.Known() {
			count(r.Found, s.Application(), none(s.Found))
		}
		if s.Judged() {
			count(r.Levels, s.Labelled.Level, none(s.Level))
		}
		if s.Doubt != "" {
			r.Doubts = append(r.Doubts, s.Labelled)
		}
		count(r.PerPart, none(s.Level), "pages")
		if len(s.Objects) > 0 {
			count(r.PerPart, none(s.Level), "with objects")
		}
		r.Parse += s.Parse
		r.Helper += s.Took
	}
	if n := time.Duration(len(seen)); n > 0 {
		r.Parse, r.Helper = r.Parse/n, r.Helper/n
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r.Rows = append(r.Rows, *rows[name])
	}
	return r
}

func none(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (r *Row) add(s Seen) {
	r.Pages++
	if !s.Known() {
		r.Pages--
		return
	}
	if s.Found == s.Application() {
		r.Recognised++
	}
	switch s.Other {
	case "right":
		r.Other++
	case "wrong":
		r.OtherWrong++
	}
	if s.Judged() {
		r.Judged++
		if s.Agrees(s.Level) {
			r.Right++
		}
	}
	if s.Content {
		r.Terminal++
		if len(s.Objects) > 0 {
			r.WithObjects++
		}
		if s.Bodies > 0 {
			r.Bodies++
		}
	}
	for name, n := range s.Objects {
		r.Objects[name] += n
	}
}

// Print writes the tables for people.
func (r Result) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "application\tpages\trecognised\tothers'\tlevels judged\tright\tterminal\twith objects\twith a body\tobjects\t\n")
	for _, row := range append(slices.Clone(r.Rows), r.Total) {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%s\t%s\t\n", row.Application, row.Pages, Share(row.Recognised, row.Pages), r.other(row),
			row.Judged, Share(row.Right, row.Judged), row.Terminal, Share(row.WithObjects, row.Terminal), Share(row.Bodies, row.Terminal), types(row.Objects))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if r.Compared {
		fmt.Fprintf(out, "others': wappalyzergo, which took %d pages for another application\n", r.Total.OtherWrong)
	}
	fmt.Fprintf(out, "time a page: parsing %s, helper %s\n", r.Parse.Round(time.Microsecond), r.Helper.Round(time.Microsecond))
	if err := table(out, "applications (known, found)", r.Found); err != nil {
		return err
	}
	if err := table(out, "levels (label, found)", r.Levels); err != nil {
		return err
	}
	if err := table(out, "objects by level", r.PerPart); err != nil {
		return err
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(out, "label not held for right: %s (%s): %s\n", d.File, d.Level, d.Doubt)
	}
	for _, s := range r.Pages {
		switch {
		case s.Known() && s.Found != s.Application():
			fmt.Fprintf(out, "application: %s is %s, taken for %s by %s\n", s.File, s.Application(), none(s.Found), none(s.Rule))
		case s.Judged() && !s.Agrees(s.Level):
			fmt.Fprintf(out, "level: %s is %s, taken for %s by %s; %s\n", s.File, s.Labelled.Level, none(s.Level), none(s.By), s.URL)
		case s.Content && s.Bodies == 0:
			fmt.Fprintf(out, "objects: %s (%s) has none with a body\n", s.File, s.Level)
		}
	}
	return nil
}

func (r Result) other(row Row) string {
	if !r.Compared {
		return "-"
	}
	return Share(row.Other, row.Pages)
}

// Share formats n of of in per cent.
func Share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

func types(objects map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, objects[name]))
	}
	return strings.Join(parts, ", ")
}

func table(out io.Writer, title string, t map[string]map[string]int) error {
	fmt.Fprintf(out, "\n%s\n", title)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, row := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(w, "  %s\t%s\n", row, types(t[row]))
	}
	return w.Flush()
}

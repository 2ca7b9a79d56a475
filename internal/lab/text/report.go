package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Values counts the verdicts on one kind of value.
type Values struct {
	Judged int `json:"judged"`
	Given  int `json:"given"` // of those that are judged
	Right  int `json:"right"` // that a page shows none, and none is given, is right
	Hits   int `json:"hits"`  // right values that were given
}

func (v *Values) add(w Verdict) {
	if !w.Judged {
		return
	}
	v.Judged++
	if w.Right {
		v.Right++
	}
	if w.Given {
		v.Given++
		if w.Right {
			v.Hits++
		}
	}
}

// Row sums up the answers of one system for a group of pages.
type Row struct {
	Group  string        `json:"group"`
	System string        `json:"system"`
	Pages  int           `json:"pages"`
	Bodies int           `json:"bodies"` // pages with an answer for the body
	Match  Match         `json:"body"`   // mean over these pages
	Bodied int           `json:"with_body"`
	Missed int           `json:"missed"` // of Bodied: less than a third of the right words are in the answer
	Title  Values        `json:"title"`
	Author Values        `json:"author"`
	Date   Values        `json:"date"`
	Faults int           `json:"faults"`
	CPU    time.Duration `json:"cpu_ns_per_page"`
}

// Missing is the share of the right words below which a body counts as missed.
const Missing = 1. / 3

func (r *Row) add(p *Page, s Scored) {
	r.Pages++
	r.CPU += s.CPU
	if s.Fault != "" {
		r.Faults++
	}
	if s.Match != nil {
		r.Bodies++
		r.Match.Precision += s.Match.Precision
		r.Match.Recall += s.Match.Recall
		r.Match.F1 += s.Match.F1
		if len(p.Right) > 0 {
			r.Bodied++
			if s.Match.Recall < Missing {
				r.Missed++
			}
		}
	}
	r.Title.add(s.Title)
	r.Author.add(s.Author)
	r.Date.add(s.Date)
}

func (r *Row) finish() {
	if n := float64(r.Bodies); n > 0 {
		r.Match.Precision /= n
		r.Match.Recall /= n
		r.Match.F1 /= n
	}
	if r.Pages > 0 {
		r.CPU /= time.Duration(r.Pages)
	}
}

// Result is all that was measured.
type Result struct {
	Base  string `json:"base"`
	Rows  []Row  `json:"rows"`
	Pages []Seen `json:"pages"`
	Worst int    `json:"-"` // how many pages Print lists
}

// Sum makes the rows: all pages, each half if there are both, each kind of page.
func Sum(base string, seen []Seen, worst int) Result {
	r := Result{Base: base, Pages: seen, Worst: worst}
	group := func(name string, in func(Seen) bool) {
		var rows []Row
		for _, page := range seen {
			if !in(page) {
				continue
			}
			for i, s := range page.Scores {
				if i == len(rows) {
					rows = append(rows, Row{Group: name, System: s.System})
				}
				rows[i].add(page.Page, s)
			}
		}
		for i := range rows {
			rows[i].finish()
		}
		r.Rows = append(r.Rows, rows...)
	}
	group("all", func(Seen) bool { return true })
	for _, use := range []string{Choosing, Judging} {
		if slices.ContainsFunc(seen, func(s Seen) bool { return s.Use != use }) {
			group(use, func(s Seen) bool { return s.Use == use })
		}
	}
	for _, kind := range Kinds {
		group(kind, func(s Seen) bool { return s.Kind == kind })
	}
	return r
}

// Print writes the tables for people.
func (r Result) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "pages\tsystem\tn\tbody F1\tprecision\trecall\tmissed\ttitle\tauthor\tprecision\tdate\tprecision\tfaults\tCPU ms")
	last := ""
	for _, row := range r.Rows {
		name := row.Group
		if name == last {
			name = ""
		}
		last = row.Group
		body := []string{"-", "-", "-", "-"}
		if row.Bodies > 0 {
			body = []string{share(row.Match.F1), share(row.Match.Precision), share(row.Match.Recall), part(row.Missed, row.Bodied)}
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.1f\n", name, row.System, row.Pages, strings.Join(body, "\t"),
			part(row.Title.Right, row.Title.Judged), part(row.Author.Right, row.Author.Judged), part(row.Author.Hits, row.Author.Given),
			part(row.Date.Right, row.Date.Judged), part(row.Date.Hits, row.Date.Given), row.Faults, float64(row.CPU)/float64(time.Millisecond))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "knowledge base %s\n", r.Base)
	if r.Worst > 0 {
		return r.printWorst(out)
	}
	return nil
}

// printWorst lists the pages whose body the first system extracts worst, with the values that it has wrong.
func (r Result) printWorst(out io.Writer) error {
	var list []Seen
	for _, s := range r.Pages {
		if len(s.Scores) > 0 && s.Scores[0].Match != nil {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Seen) int { return cmp.Compare(a.Scores[0].Match.F1, b.Scores[0].Match.F1) })
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "body F1\tprecision\trecall\tbest other\tpage")
	for _, s := range list[:min(len(list), r.Worst)] {
		ours, best := s.Scores[0], 0.
		for _, other := range s.Scores[1:] {
			if other.Match != nil {
				best = max(best, other.Match.F1)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s (%s, %s)%s\n", share(ours.Match.F1), share(ours.Match.Precision), share(ours.Match.Recall), share(best), s.File, s.Kind, s.Use, ours.wrong())
	}
	return w.Flush()
}

// wrong says which values are wrong.
func (s Scored) wrong() string {
	var b strings.Builder
	for _, v := range []struct {
		name    string
		verdict Verdict
		answer  string
	}{{"title", s.Title, s.Answer.Title}, {"author", s.Author, s.Answer.Author}, {"date", s.Date, s.Answer.Published.Format(time.DateOnly)}} {
		switch {
		case !v.verdict.Judged || v.verdict.Right:
		case v.verdict.Given:
			fmt.Fprintf(&b, "; %s is not %q", v.name, v.answer)
		default:
			fmt.Fprintf(&b, "; no %s", v.name)
		}
	}
	return b.String()
}

// share formats a number in [0,1].
func share(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

// part formats n of of.
func part(n, of int) string {
	if of == 0 {
		return "-"
	}
	return share(float64(n) / float64(of))
}

package adaptation

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/muninn-archive/muninn/internal/lab/recognition"
)

// Result is all that was measured.
type Result struct {
	Base   string         `json:"base"`
	Seed   uint64         `json:"seed"`
	Rows   []Row          `json:"rows"`
	Totals map[string]Row `json:"totals"` // by strength
}

// Sum adds up the rows of each strength.
func Sum(base string, seed uint64, rows []Row) Result {
	r := Result{Base: base, Seed: seed, Rows: rows, Totals: map[string]Row{}}
	for _, row := range rows {
		t := r.Totals[row.Strength]
		t.Application, t.Strength = "all", row.Strength
		t.Without.add(row.Without)
		t.Recrawl.add(row.Recrawl)
		t.Beside.add(row.Beside)
		t.New.add(row.New)
		r.Totals[row.Strength] = t
	}
	return r
}

// Print writes the table for people. For each way it has the share of the objects that are still extracted, the precision of
// the extraction, and the share of authors, dates and titles.
func (r Result) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "strength\tapplication\tpages\tobjects\twithout\tprec.\tparts\trecrawl\tprec.\tparts\tms/page\tpages\tbeside\tprec.\tparts\tpages\tnew\tprec.\tparts\tms/page\t")
	for _, s := range Strengths {
		rows := append([]Row(nil), r.Totals[s.Name])
		for _, row := range r.Rows {
			if row.Strength == s.Name {
				rows = append(rows, row)
			}
		}
		for _, row := range rows {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s%s%s\t%d\t%s%d\t%s%s\t\n", row.Strength, row.Application, row.Without.Pages, row.Without.Truth,
				row.Without.shares(), row.Recrawl.shares(), perPage(row.Recrawl), row.Beside.Pages, row.Beside.shares(), row.New.Pages, row.New.shares(), perPage(row.New))
		}
	}
	return w.Flush()
}

// shares are the columns of one way.
func (s Score) shares() string {
	return recognition.Share(s.Right, s.Truth) + "\t" + recognition.Share(s.Right, s.Extracted) + "\t" + recognition.Share(s.PartsOK, s.Parts) + "\t"
}

func perPage(s Score) string {
	if s.Pages == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(s.Time)/float64(time.Millisecond)/float64(s.Pages))
}

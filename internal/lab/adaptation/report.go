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
		for host, of := range row.Sites {
			site := t.site(host)
			site.Without.add(of.Without)
			site.Recrawl.add(of.Recrawl)
			site.Beside.add(of.Beside)
			site.New.add(of.New)
		}
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
	if err := w.Flush(); err != nil {
		return err
	}
	return r.printSites(out)
}

// printSites writes the means over sites: in the shares of objects a few large sites count for all. Beside the texts that are the
// same it counts those that are nearly.
func (r Result) printSites(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nmean over sites\tsites\twithout\tprec.\tnearly\tsites\trecrawl\tprec.\tnearly\tsites\tbeside\tprec.\tnearly\tsites\tnew\tprec.\tnearly\t")
	for _, s := range Strengths {
		var ways [4][]Score
		for _, site := range r.Totals[s.Name].Sites {
			for i, score := range []Score{site.Without, site.Recrawl, site.Beside, site.New} {
				if score.Truth > 0 {
					ways[i] = append(ways[i], score)
				}
			}
		}
		fmt.Fprintf(w, "%s\t", s.Name)
		for _, scores := range ways {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t", len(scores), mean(scores, func(s Score) (int, int) { return s.Right, s.Truth }),
				mean(scores, func(s Score) (int, int) { return s.Right, s.Extracted }), mean(scores, func(s Score) (int, int) { return s.Near, s.Truth }))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// mean is the mean of a share over the sites that have it.
func mean(scores []Score, share func(Score) (n, of int)) string {
	sum, sites := 0.0, 0
	for _, s := range scores {
		if n, of := share(s); of > 0 {
			sum += float64(n) / float64(of)
			sites++
		}
	}
	if sites == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*sum/float64(sites))
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

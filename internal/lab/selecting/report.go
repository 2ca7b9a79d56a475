package selecting

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the table for people.
func (r Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s: %d pages of %d hosts; %d archivists of each mind\n\n", r.Options.Collection, r.Pages, r.Hosts, r.Options.Draws)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "F1 of the kept set after\tpages\t")
	for _, n := range r.Options.Points {
		fmt.Fprintf(w, "%d asked\t±\trandom\tundecided\t", n)
	}
	fmt.Fprintln(w, "all labels\t")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%d\t", row.Mind, row.Pages)
		for i := range r.Options.Points {
			fmt.Fprintf(w, "%.3f\t%.3f\t%.3f\t%.3f\t", row.Asked[i], row.Spread[i], row.Random[i], row.Unseen[i])
		}
		fmt.Fprintf(w, "%.3f\t\n", row.Batch)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%.1f s of CPU time\n", r.Seconds)
	return err
}

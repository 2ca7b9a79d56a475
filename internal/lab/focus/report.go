package focus

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

func meanAndSpread(list []float64) (mean, spread float64) {
	n := float64(max(len(list), 1))
	for _, x := range list {
		mean += x / n
	}
	for _, x := range list {
		spread += (x - mean) * (x - mean) / n
	}
	return mean, math.Sqrt(spread)
}

// row finds the row of an order and a topic.
func (r *Result) row(order, topic string) *Row {
	at := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Order == order && row.Topic == topic })
	if at < 0 {
		return &Row{}
	}
	return &r.Rows[at]
}

// Paired compares two orders draw by draw, over all topics: the mean of the differences of their areas, the t value of
// the paired test (differences over their standard error), and in how many of the draws the first is ahead.
func (r *Result) Paired(a, b string) (difference, t float64, ahead, of int) {
	var list []float64
	for _, topic := range r.Topics {
		x, y := r.row(a, topic).Areas, r.row(b, topic).Areas
		for i := range min(len(x), len(y)) {
			d := x[i] - y[i]
			if list = append(list, d); d > 0 {
				ahead++
			}
		}
	}
	mean, spread := meanAndSpread(list)
	if n := float64(len(list)); n > 1 && spread > 0 {
		t = mean / (spread / math.Sqrt(n-1))
	}
	return mean, t, ahead, len(list)
}

// Print writes the tables for people.
func (r Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s: %d pages, %d links between them; %d pages can be reached from its seeds\n", r.Corpus, r.Pages, r.Links, r.Reachable)
	seeds := "its own seeds"
	if r.Options.Seeds > 0 {
		seeds = fmt.Sprintf("%d random pages", r.Options.Seeds)
	}
	fmt.Fprintf(out, "crawls start at %s and end at %.0f %% of what can be reached; %d draws of %d examples\n\n", seeds, 100*r.Options.Share, r.Options.Draws, r.Options.Examples)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "area under the curve of recall\t")
	for _, topic := range r.Topics {
		fmt.Fprintf(w, "%s\t±\t", topic)
	}
	fmt.Fprintln(w, "mean\t")
	for _, order := range r.Orders {
		sum := 0.0
		fmt.Fprintf(w, "%s\t", order)
		for _, topic := range r.Topics {
			row := r.row(order, topic)
			sum += row.Area
			fmt.Fprintf(w, "%.3f\t%.3f\t", row.Area, row.Spread)
		}
		fmt.Fprintf(w, "%.3f\t\n", sum/float64(max(len(r.Topics), 1)))
	}
	fmt.Fprintln(w, "\t")
	fmt.Fprintln(w, "means over the topics\trecall\tharvest\tharvest ≥ .333\tsimilarity\tsubtopics\tto 50 %\tto 80 %\tCPU µs/page\t")
	for _, order := range r.Orders {
		var sums [8]float64
		for _, topic := range r.Topics {
			row := r.row(order, topic)
			for i, x := range []float64{row.Recall, row.Harvest, row.Near, row.Similar, row.Subtopic, row.Half, row.Most, row.Micros} {
				sums[i] += x / float64(len(r.Topics))
			}
		}
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\t%.0f\t\n", order, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	at := slices.IndexFunc(r.Settings, func(s Setting) bool { return s.Strategy == Ours })
	if at < 0 {
		return nil
	}
	ours := r.Orders[at]
	fmt.Fprintln(out)
	for _, other := range r.Orders {
		if other != ours && other != Oracle {
			d, t, ahead, of := r.Paired(ours, other)
			fmt.Fprintf(out, "%s against %s: %+.3f on average (paired t %.1f), ahead in %d of %d crawls\n", ours, other, d, t, ahead, of)
		}
	}
	return nil
}

// CSV writes the curves: a line for each order, topic and place.
func (r Result) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"order", "topic", "share of the crawl", "recall"})
	for _, row := range r.Rows {
		for i, recall := range row.Curve {
			_ = w.Write([]string{row.Order, row.Topic, strconv.FormatFloat(float64(i+1)/Points, 'f', 2, 64), strconv.FormatFloat(recall, 'f', 4, 64)})
		}
	}
	w.Flush()
	return w.Error()
}

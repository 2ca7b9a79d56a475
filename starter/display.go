package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"golang.org/x/term"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/worker"
)

// display shows progress: one line that changes on a terminal, a line now and then elsewhere.
type display struct {
	out     io.Writer
	live    bool
	every   time.Duration
	pages   int64
	at      time.Time
	rate    float64
	shown   int
	begun   time.Time
	printed time.Time // the last line, where lines are not written over
	trouble string    // the last that was told
	holds   bool      // it was told that the crawl holds
}

func newDisplay(out io.Writer) *display {
	d := &display{out: out, every: 2 * time.Second, at: time.Now(), begun: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.live, d.every = true, 500*time.Millisecond
	}
	return d
}

// show prints where the crawl stands, why it holds if it does, and the last trouble of the worker if there is new.
func (d *display) show(s frontier.Status, underWay int64, holds, trouble string) {
	t := s.Totals
	if span := time.Since(d.at).Seconds(); span > 0 {
		now := float64(t.Pages+underWay-d.pages) / span
		d.rate = d.rate*0.6 + now*0.4
	}
	d.pages, d.at = t.Pages+underWay, time.Now()
	if trouble != "" && trouble != d.trouble {
		d.trouble = trouble
		d.note("trouble, tried again: " + trouble)
	}
	if now := holds != ""; now != d.holds {
		d.holds = now
		if now {
			d.note("holds: " + holds)
		} else {
			d.note("goes on")
		}
	}
	phase := "broad"
	if s.Reference {
		phase = "reference"
	}
	text := fmt.Sprintf("%s: %d pages (%d more under way), %.1f/s, harvest %.2f, %d waiting in %d queues, %d lanes, %.1f MB, %d errors, %d refused by robots",
		phase, t.Pages, underWay, d.rate, t.HarvestRatio(), s.Waiting, s.Queues, s.Lanes, float64(t.Bytes)/1e6, t.Errors, t.Robots)
	if len(s.Slow) > 0 && s.Lanes+s.Asking == 0 { // nothing else is going on
		q := s.Slow[len(s.Slow)-1]
		text += fmt.Sprintf("; %s rests %s", q.PLD, max(time.Until(q.Next), 0).Round(time.Second))
		if q.Fails > 0 {
			text += fmt.Sprintf(", it could not be reached %d times", q.Fails)
		}
	}
	if d.live {
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 1 && len(text) >= width {
			text = text[:width-1]
		}
		_, _ = fmt.Fprintf(d.out, "\r%s%s", text, strings.Repeat(" ", max(d.shown-len(text), 0)))
		d.shown = len(text)
		return
	}
	if time.Since(d.begun) > linesSoon && time.Since(d.printed) < linesLate {
		return
	}
	d.printed = time.Now()
	_, _ = fmt.Fprintln(d.out, text)
}

// Without a terminal, a line comes every two seconds at first, later every ten.
const (
	linesSoon = time.Minute
	linesLate = 10 * time.Second
)

// note prints a line of its own.
func (d *display) note(text string) {
	d.end()
	d.shown = 0
	_, _ = fmt.Fprintln(d.out, text)
}

func (d *display) end() {
	if d.live && d.shown > 0 {
		_, _ = fmt.Fprintln(d.out)
	}
}

// explain takes the reason out of a workflow's failure.
func explain(err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return fmt.Errorf("the crawl failed: %s", app.Message())
	}
	return err
}

// count counts what the archive holds of the crawl.
func (o *outcome) count(ctx context.Context, w *worker.Worker, d crawl.Definition) error {
	store, err := w.Activities().Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return err
	}
	o.Manifest = archive.ManifestPrefix(d.Archive.Prefix, d.Name)
	return store.List(ctx, o.Manifest, func(archive.Object) error {
		o.WARCs++
		return nil
	})
}

// write prints the summary for people.
func (o *outcome) write(w io.Writer) {
	t := o.Totals
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	why := map[string]string{"drained": "nothing is left to crawl", "stopped": "it was stopped"}[o.Reason]
	if why == "" {
		why = "the budget of " + o.Reason + " is spent"
	}
	line("")
	line("The crawl has ended: %s.", why)
	line("  archived   %d pages, %d of them revisits, %.1f MB on the wire", t.Pages, t.Revisits, float64(t.Bytes)/1e6)
	line("  WARC files %d, in %s/%s", o.WARCs, o.Archive, strings.TrimSuffix(o.Manifest, "segments/")+"data")
	line("  manifests  %s/%s", o.Archive, o.Manifest)
	line("  harvest    %.2f: %d of %d scored pages are relevant", o.Harvest, t.Relevant, t.Scored)
	if len(o.Harvests) > 0 {
		line("             %s by tenths of the run, %.2f to %.2f", bars(o.Harvests), o.Harvests[0], o.Harvests[len(o.Harvests)-1])
	}
	if o.Report != "" {
		line("  report     %s/%s", o.Archive, o.Report)
	}
	line("  refused    %d URLs by robots.txt, %d by the address guard", t.Robots, t.Refused)
	line("  errors     %d, %d retries, %d failed batches", t.Errors, t.Retries, t.Failed)
	if o.Learned != nil && len(o.Learned.Terms) > 0 {
		words := []string{}
		for _, term := range o.Learned.Terms[:min(12, len(o.Learned.Terms))] {
			words = append(words, term.Text)
		}
		line("  learned    %s", strings.Join(words, " "))
	}
	if len(o.Top) > 0 {
		line("  most relevant")
		for _, p := range o.Top[:min(10, len(o.Top))] {
			line("    %.3f  %s", p.Score, p.URL)
		}
	}
	writeEnds(line, o.Ends)
	for _, note := range o.Notes {
		line("  %s", note)
	}
}

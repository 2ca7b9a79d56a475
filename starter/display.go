package starter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"golang.org/x/term"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// display shows progress: on a terminal as one line that changes, elsewhere as a line from time to time.
type display struct {
	out       io.Writer
	live      bool
	every     time.Duration
	pages     int64
	at        time.Time
	rate      float64
	shown     int
	begun     time.Time
	printed   time.Time // when the last line was printed, if not on a terminal
	budget    int64     // pages; 0: none
	lastError string    // the last error that was printed
	holds     bool      // the last note said that the crawl holds
}

func newDisplay(out io.Writer, budget int64) *display {
	d := &display{out: out, budget: budget, every: 2 * time.Second, at: time.Now(), begun: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.live, d.every = true, 500*time.Millisecond
	}
	return d
}

// show prints the progress of the crawl, why it holds if it does, and the worker's last error if it is new.
func (d *display) show(s frontier.Status, inProgress int64, holds, lastError string) {
	t := s.Totals
	if span := time.Since(d.at).Seconds(); span > 0 {
		now := float64(t.Pages+inProgress-d.pages) / span
		d.rate = d.rate*0.6 + now*0.4
	}
	d.pages, d.at = t.Pages+inProgress, time.Now()
	if lastError != "" && lastError != d.lastError {
		d.lastError = lastError
		d.note("error, tried again: " + lastError)
	}
	if now := holds != ""; now != d.holds {
		d.holds = now
		if now {
			d.note("holds: " + holds)
		} else {
			d.note("continues")
		}
	}
	phase := crawl.PhaseBroad
	if s.Reference {
		phase = crawl.PhaseReference
	}
	parts := []string{
		fmt.Sprintf("%s: %d pages (%d more in progress)", phase, t.Pages, inProgress), d.spent(t.Pages), fmt.Sprintf("%.1f/s", d.rate),
		fmt.Sprintf("harvest %.2f", t.HarvestRatio()), fmt.Sprintf("%d waiting in %d queues", s.Waiting, s.Queues), fmt.Sprintf("%d claimed", s.Claimed),
		fmt.Sprintf("%.1f MB", float64(t.Bytes)/1e6), fmt.Sprintf("%d errors", t.Errors), fmt.Sprintf("%d refused by robots", t.Robots),
	}
	if len(s.Slow) > 0 && s.Lanes+s.Asking == 0 { // the crawl only waits for this queue
		q := s.Slow[len(s.Slow)-1]
		rests := fmt.Sprintf("%s rests %s", q.PLD, max(time.Until(q.Next), 0).Round(time.Second))
		if q.Fails > 0 {
			rests += fmt.Sprintf(" and could not be reached %d times", q.Fails)
		}
		parts = slices.Insert(parts, 3, rests)
	}
	text := fitParts(parts, 0)
	if d.live {
		if f, ok := d.out.(*os.File); ok {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil {
				text = fitParts(parts, width-1)
			}
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

// spent is the share of the budget of pages that is spent, as text.
func (d *display) spent(pages int64) string {
	if d.budget <= 0 {
		return ""
	}
	return fmt.Sprintf("%d %% of the budget", min(100*pages/d.budget, 100))
}

// fitParts joins as many parts as fit into a width; all if it is 0. Only the first part may be cut.
func fitParts(parts []string, width int) string {
	text := ""
	for i, part := range parts {
		if part == "" {
			continue
		}
		longer := part
		if i > 0 {
			longer = text + ", " + part
		}
		if width > 0 && len(longer) > width {
			if i == 0 {
				return longer[:width]
			}
			return text
		}
		text = longer
	}
	return text
}

// Without a terminal, a line is printed every two seconds for linesSoon, and then every linesLate.
const (
	linesSoon = time.Minute
	linesLate = 10 * time.Second
)

// note prints a line that stays.
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

// failureText is the error with the reason of a workflow's failure, without Temporal's wrapping.
func failureText(err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return fmt.Errorf("the crawl failed: %s", app.Message())
	}
	return err
}

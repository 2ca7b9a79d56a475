package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/candidates"
	"github.com/muninn-archive/muninn/internal/selection/kept"
	"github.com/muninn-archive/muninn/workflows"
)

// chooses reports whether a query or a selection says what is exported.
func (e *exporting) chooses() bool { return e.query != "" || e.selection != "" }

// checkChoice checks the flags that say what is kept, before anything is read. An empty one is a fault: without any, everything is exported.
func (e *exporting) checkChoice(cmd *cobra.Command) error {
	var given []string
	for _, name := range []string{"only", "query", "selection"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		if strings.TrimSpace(f.Value.String()) == "" {
			return cli.Usage("--%s is empty: leave it out to export everything", name)
		}
		given = append(given, "--"+name)
	}
	switch {
	case len(given) > 1:
		return cli.Usage("%s: use one of them", strings.Join(given, " and "))
	case e.query != "":
		return queryFault("--query: ", e.query)
	case e.selection != "" && !crawl.ValidName(e.selection):
		return cli.Usage("--selection: %q: %w", e.selection, selection.ErrName)
	}
	return nil
}

// choose works out what the query or the selection keeps, and says so to report.
func (e *exporting) choose(ctx context.Context, from archive.Store, o *export.Order, report io.Writer) error {
	var state *selection.State
	if e.selection != "" {
		l, err := openSelection(ctx, from, e.selection)
		if err != nil {
			return err
		}
		if state, err = l.State(0, selection.ParseQuery); err != nil {
			return err
		}
		if err := e.crawlsOf(ctx, from, state, o); err != nil {
			return err
		}
	}
	unread := 0
	source := candidates.Archive{Store: archive.Faults(from), Crawls: o.Crawls, Complain: func(err error) {
		if unread++; unread <= maxComplaints {
			fmt.Fprintln(report, shownText(err.Error()))
		}
	}}
	var sum kept.Sum
	var err error
	if state != nil {
		o.Chosen, sum, err = kept.BySelection(ctx, source, state)
	} else {
		o.Chosen, sum, err = kept.ByQuery(ctx, source, e.query)
	}
	if archive.Damaged(err) {
		err = fmt.Errorf("%w; `muninn verify` says what is damaged", err)
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s: %d captures of pages kept, %d dropped", shownText(o.Chosen.Name()), sum.Kept, sum.Dropped)
	if sum.Open > 0 {
		said += fmt.Sprintf("; %d are open (ask) and count as dropped: decide them by `muninn select ask`", sum.Open)
	}
	if unread > 0 {
		said += fmt.Sprintf("; %d have a text that cannot be read, and are judged without it", unread)
	}
	fmt.Fprintln(report, said)
	var faults crawl.Faults
	checked := *o
	if checked.Format != export.WACZ {
		checked.Format = export.WARC
	}
	if err := checked.Validate(); errors.As(err, &faults) {
		return cli.Usage("%s", faults[0].Message)
	}
	return err
}

// crawlsOf takes the crawls that a selection speaks of if none is named, and refuses others.
func (e *exporting) crawlsOf(ctx context.Context, from archive.Store, state *selection.State, o *export.Order) (err error) {
	if len(o.Crawls) == 0 {
		if o.Crawls, err = candidates.Of(ctx, from, state.About); err == nil && e.name == "" {
			o.Name = e.selection
		}
		return err
	}
	for _, at := range o.Crawls {
		if !state.Wants(at.Name) {
			return cli.Usage("the selection %s does not speak of the crawl %s: it is of %s", e.selection, at.Name, strings.Join(state.About.Crawls, ", "))
		}
	}
	return nil
}

// planForWorkers plans an export of a query or a selection here, and has the workers write it: the plans have what is to be written, whatever its size.
func (e *exporting) planForWorkers(ctx context.Context, where string, from, to archive.Store, o export.Order) error {
	progress := e.progress()
	planned, err := export.Plan(ctx, from, to, o, func(segment string) {
		if progress != nil {
			progress(0, 0, "reading segment "+segment)
		}
	})
	if err != nil {
		return err
	}
	state := &workflows.ExportState{Planned: planned}
	state.Parts, state.Missing = planned.Parts, planned.Missing
	return e.runOnWorkers(ctx, where, o, state)
}

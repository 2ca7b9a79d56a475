package starter

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// shown is what `show` prints.
type shownSelection struct {
	Selection string                                     `json:"selection"`
	Version   uint64                                     `json:"version"`
	Created   time.Time                                  `json:"created"`
	By        string                                     `json:"by"`
	About     string                                     `json:"about,omitempty"`
	Crawls    []string                                   `json:"crawls,omitempty"`
	Rules     []selection.NumberedRule                   `json:"rules"`
	Decisions int                                        `json:"decisions"`
	Captures  map[selection.Verdict]map[selection.By]int `json:"captures"`
	Unread    int                                        `json:"unread,omitempty"` // captures whose records cannot be read
	Quality   proposal.Quality                           `json:"quality"`
}

// ruled is a capture with what becomes of it.
type ruled struct {
	URL   string    `json:"url"`
	Date  time.Time `json:"date"`
	Crawl string    `json:"crawl"`
	selection.Ruling
}

func selectShow(g *globals) *cobra.Command {
	var s *selector
	var list string
	cmd := &cobra.Command{
		Use: "show ARCHIVE NAME", Short: "Show what a selection keeps, drops and has open, or list it",
		Args: selectArgs(2, 2, "an archive and a selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var only selection.Verdict
			if list != "" {
				var err error
				if only, err = verdictOf(list); err != nil {
					return cli.Usage("--list: %w", err)
				}
			}
			store, err := openArchive(cmd.Context(), args[0], *s.s3)
			if err != nil {
				return err
			}
			out := shownSelection{Captures: map[selection.Verdict]map[selection.By]int{}}
			lines := json.NewEncoder(g.Out)
			lines.SetEscapeHTML(false)
			of := forQuality
			if only != "" {
				of = forNothing
			}
			all, err := s.load(cmd.Context(), store, args[1], cmd.ErrOrStderr(), of, "", func(state *selection.State, f *selection.Facts) error {
				r := state.Of(f)
				if out.Captures[r.Verdict] == nil {
					out.Captures[r.Verdict] = map[selection.By]int{}
				}
				out.Captures[r.Verdict][r.By]++
				switch {
				case only == "" || r.Verdict != only:
					return nil
				case g.JSON:
					return lines.Encode(ruled{f.URL, f.Date, f.Crawl, r})
				}
				_, err := fmt.Fprintln(g.Out, f.URL)
				return err
			})
			if err != nil || only != "" {
				return err
			}
			out.take(all)
			return g.Print(out, func(w io.Writer) { out.write(w) })
		},
	}
	s = selectorOf(g, cmd, false)
	cmd.Flags().StringVar(&list, "list", "", "list the captures with this verdict (keep, drop or ask), one URL a line; with --json an object a line")
	return cmd
}

func (o *shownSelection) take(all *selected) {
	first := all.log.Entry(1)
	d := all.pool.Decided(all.state)
	o.Selection, o.Version, o.Created, o.By = all.state.Name, all.state.Version, first.When, first.Who
	o.About, o.Crawls, o.Decisions, o.Unread = all.state.About.About, all.state.About.Crawls, all.state.Decisions(), all.unread
	o.Rules, o.Quality = all.state.Rules(), all.pool.Measure(d.Labels, d.Single)
	if o.Rules == nil {
		o.Rules = []selection.NumberedRule{}
	}
}

func (o *shownSelection) write(w io.Writer) {
	fmt.Fprintf(w, "selection %s, version %d, made on %s by %s\n", o.Selection, o.Version, o.Created.UTC().Format(time.DateOnly), shownText(o.By))
	if o.About != "" {
		fmt.Fprintln(w, shownText(o.About))
	}
	for _, r := range o.Rules {
		withdrawn := ""
		if r.Withdrawn {
			withdrawn = "  (withdrawn)"
		}
		fmt.Fprintf(w, "rule %d: %s %s%s\n", r.Entry, r.Verdict, shownText(r.Query), withdrawn)
	}
	writeQuality(w, &o.Quality)
	for _, v := range selection.Verdicts {
		by := o.Captures[v]
		sum := 0
		for _, n := range by {
			sum += n
		}
		fmt.Fprintf(w, "%-5s %8d captures", v, sum)
		for _, what := range []selection.By{selection.ByPerson, selection.ByRule, selection.ByProposal} {
			if by[what] > 0 {
				fmt.Fprintf(w, "; %d by %s", by[what], what)
			}
		}
		fmt.Fprintln(w)
	}
}

func selectExplain(g *globals) *cobra.Command {
	var s *selector
	cmd := &cobra.Command{
		Use: "explain ARCHIVE NAME URL", Short: "Show why the captures of a URL are kept, dropped or open",
		Args: selectArgs(3, 3, "an archive, a selection and a URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := selection.CanonicalURL(args[2])
			if err != nil {
				return cli.Usage("%w", err)
			}
			store, err := openArchive(cmd.Context(), args[0], *s.s3)
			if err != nil {
				return err
			}
			out := explained{URL: url}
			all, err := s.load(cmd.Context(), store, args[1], cmd.ErrOrStderr(), forQuality, url, func(state *selection.State, f *selection.Facts) error {
				if f.URL == url {
					out.Captures = append(out.Captures, explainedCapture{f.Date, f.Crawl, state.Explain(f)})
				}
				return nil
			})
			if err != nil {
				return err
			}
			if len(out.Captures) == 0 {
				return fmt.Errorf("%s has no capture of a page at %s; give the URL as `muninn select show --list` prints it", store, url)
			}
			out.propose(all)
			return g.Print(out, func(w io.Writer) { out.write(w) })
		},
	}
	s = selectorOf(g, cmd, false)
	return cmd
}

// explained is what `explain` prints.
type explained struct {
	URL      string             `json:"url"`
	Keep     *float64           `json:"keep,omitempty"` // probability that it is to be kept, by what was decided of other pages and of it
	Captures []explainedCapture `json:"captures"`
}

type explainedCapture struct {
	Date  time.Time `json:"date"`
	Crawl string    `json:"crawl"`
	selection.Explained
}

func (e *explained) propose(all *selected) {
	d := all.pool.Decided(all.state)
	if m := all.pool.Learn(d.Labels); m != nil {
		if i, known := all.pool.Index(e.URL); known {
			e.Keep = &m.Keep[i]
		}
	}
}

func (e *explained) write(w io.Writer) {
	fmt.Fprintln(w, shownText(e.URL))
	if e.Keep != nil {
		fmt.Fprintf(w, "proposal: %.2f to keep\n", *e.Keep)
	}
	for i := range e.Captures {
		c := &e.Captures[i]
		fmt.Fprintf(w, "capture of %s in %s: %s by %s\n", c.Date.UTC().Format(time.RFC3339), c.Crawl, c.Verdict, c.By)
		for k := range c.Steps {
			writeStep(w, &c.Steps[k])
		}
	}
}

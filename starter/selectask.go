package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/candidates"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// selected is a selection with the candidates of its archive.
type selected struct {
	log   *selection.Log
	state *selection.State
	pool  *proposal.Pool
	// unread is how many captures have a record that cannot be read.
	unread int
	// full says that more pages are open than a pool holds: it has those alone that a model learns from, and what was asked for by its URL.
	full bool
}

// What the pool of a selection is loaded for.
type purpose int

const (
	forProposals purpose = iota // all that is open, and what is learned from
	forQuality                  // the same; without what is open if that is too much
	forNothing                  // no pool
)

// load reads a selection and its candidates. What is decided and teaches nothing takes no room. own is a URL that is taken in whatever becomes of it. each is called with each
// capture; nil: nobody is.
func (s *selector) load(ctx context.Context, store archive.Store, name string, complaints io.Writer, of purpose, own string, each func(*selection.State, *selection.Facts) error) (*selected, error) {
	l, err := openSelection(ctx, store, name)
	if err != nil {
		return nil, err
	}
	out := &selected{log: l}
	if out.state, err = l.State(0, selection.ParseQuery); err != nil {
		return nil, err
	}
	crawls, err := candidates.Of(ctx, store, out.state.About)
	if err != nil {
		return nil, err
	}
	source := candidates.Archive{Store: store, Crawls: crawls, Complain: func(err error) {
		if out.unread++; out.unread <= maxComplaints {
			fmt.Fprintln(complaints, shownText(err.Error()))
		}
	}}
	b, seen := proposal.NewBuilder(proposal.DefaultSettings()), 0
	b.Most = cmp.Or(s.most, b.Most)
	teaches := proposal.Learnable(out.state)
	wanted := func(f *selection.Facts) bool { return f.URL == own || teaches(f) }
	err = source.Each(ctx, func(f selection.Facts) error {
		if each != nil {
			if err := each(out.state, &f); err != nil {
				return err
			}
		}
		seen++
		out.state.Judge(&f) // a pool has no texts
		if of == forNothing || !wanted(&f) && (out.full || out.state.Of(&f).Verdict != selection.Ask) {
			return nil
		}
		err := b.Add(f)
		if errors.Is(err, proposal.ErrFull) && of == forQuality && !out.full {
			out.full = true
			b.Retain(wanted)
			if wanted(&f) {
				err = b.Add(f)
			} else {
				err = nil
			}
		}
		return err
	})
	if errors.Is(err, proposal.ErrFull) {
		err = fmt.Errorf("%w pages are open: decide on hosts, sites or other groups of them, or add rules, until fewer are", err)
	}
	if err != nil {
		return nil, err
	}
	out.pool = b.Pool()
	if seen == 0 {
		return nil, fmt.Errorf("%s holds no page to select", store)
	}
	return out, nil
}

// maxComplaints bounds the captures that cannot be read and are named.
const maxComplaints = 20

// question is a page to decide on.
type question struct {
	URL    string            `json:"url"`
	Title  string            `json:"title,omitempty"`
	Crawl  string            `json:"crawl"`
	Score  *float64          `json:"score,omitempty"`
	Keep   *float64          `json:"keep,omitempty"` // probability that it is to be kept, by what was decided so far
	Groups []groupOfQuestion `json:"groups,omitempty"`
}

// groupOfQuestion is a group that could be decided in place of the page.
type groupOfQuestion struct {
	Group selection.Group `json:"group"`
	Open  int             `json:"open"` // its pages that nobody has decided
}

// asked is what `ask` prints.
type asked struct {
	Selection string           `json:"selection"`
	Version   uint64           `json:"version"`
	Open      int              `json:"open"`    // pages that nothing has decided
	Learned   bool             `json:"learned"` // decisions are enough for proposals
	Quality   proposal.Quality `json:"quality"`
	Questions []question       `json:"questions"`
}

func selectAsk(g *globals) *cobra.Command {
	var s *selector
	n := proposal.DefaultSettings().Batch
	cmd := &cobra.Command{
		Use: "ask ARCHIVE NAME", Short: "Show the pages whose decision teaches most, with proposals",
		Long: `Show the pages whose decision teaches most: those that are least certain by what was decided so far, of various hosts and groups. At
first, when little was decided, they are any pages that differ.`,
		Args: selectArgs(2, 2, "an archive and a selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 1 || n > maxQuestions {
				return cli.Usage("--number must be from 1 to %d", maxQuestions)
			}
			store, err := openArchive(cmd.Context(), args[0], *s.s3)
			if err != nil {
				return err
			}
			all, err := s.load(cmd.Context(), store, args[1], cmd.ErrOrStderr(), forProposals, "", nil)
			if err != nil {
				return err
			}
			out := all.ask(n)
			return g.Print(out, func(w io.Writer) { out.write(w) })
		},
	}
	s = selectorOf(g, cmd, false)
	cmd.Flags().IntVarP(&n, "number", "n", n, "how many pages are shown")
	return cmd
}

// maxQuestions bounds the pages that are asked about at a time.
const maxQuestions = 1000

// ask chooses questions.
func (a *selected) ask(n int) asked {
	d := a.pool.Decided(a.state)
	m := a.pool.Learn(d.Labels)
	out := asked{Selection: a.state.Name, Version: a.state.Version, Learned: m != nil, Quality: a.pool.Measure(d.Labels, d.Single), Questions: []question{}}
	open := map[selection.Group]int{}
	for i := range a.pool.Facts {
		if d.Closed[i] {
			continue
		}
		out.Open++
		for _, group := range a.pool.Facts[i].Groups() {
			open[group]++
		}
	}
	for _, i := range a.pool.Next(d, m, n) {
		f := &a.pool.Facts[i]
		q := question{URL: f.URL, Title: f.Title, Crawl: f.Crawl}
		if f.Score >= 0 {
			q.Score = &f.Score
		}
		if m != nil {
			keep := math.Round(m.Keep[i]*1000) / 1000
			q.Keep = &keep
		}
		for _, group := range f.Groups() {
			count := open[group]
			if f.Print != 0 && group == selection.NearGroup(f.Print) {
				count = a.pool.CountAlike(f.Print, d.Closed)
			}
			if count > 1 {
				q.Groups = append(q.Groups, groupOfQuestion{group, count})
			}
		}
		out.Questions = append(out.Questions, q)
	}
	return out
}

func (a *asked) write(w io.Writer) {
	fmt.Fprintf(w, "selection %s, version %d: %s open\n", a.Selection, a.Version, cli.Count(a.Open, "page"))
	writeQuality(w, &a.Quality)
	for i := range a.Questions {
		q := &a.Questions[i]
		proposal := "  –  "
		if q.Keep != nil {
			proposal = fmt.Sprintf("%5.2f", *q.Keep)
		}
		fmt.Fprintf(w, "\n%s  %s\n       %s\n", proposal, shownText(q.URL), shownText(q.Title))
		for _, group := range q.Groups {
			fmt.Fprintf(w, "       %s  (%d open)\n", shownText(string(group.Group)), group.Open)
		}
	}
}

// writeQuality prints how good proposals are, with what is not known.
func writeQuality(w io.Writer, q *proposal.Quality) {
	fmt.Fprintf(w, "decided: %d to keep, %d to drop", q.Kept, q.Dropped)
	switch {
	case q.Recall == nil:
		fmt.Fprintf(w, "; how good proposals are is known from %d of each on\n", proposal.LeastHeld)
	case q.Precision == nil:
		fmt.Fprint(w, "; of decisions that were held back, none was proposed to be kept\n")
	default:
		fmt.Fprintf(w, "; of decisions that were held back: precision %.2f (%.2f–%.2f), recall %.2f (%.2f–%.2f)\n",
			q.Precision.Value, q.Precision.Low, q.Precision.High, q.Recall.Value, q.Recall.Low, q.Recall.High)
	}
}

func selectAccept(g *globals) *cobra.Command {
	var s *selector
	least := 0.95
	cmd := &cobra.Command{
		Use: "accept ARCHIVE NAME", Short: "Take over the proposals that are certain enough",
		Long: `Take over the proposals that are certain enough: they become a part of the selection, so that its state does not depend on the model any more.
Later decisions and rules win over them. A page that is not proposed with that certainty stays open.`,
		Args: selectArgs(2, 2, "an archive and a selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(least >= 0.5 && least <= 1) {
				return cli.Usage("--least must be from 0.5 to 1")
			}
			store, err := s.writable(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			all, err := s.load(cmd.Context(), store, args[1], cmd.ErrOrStderr(), forProposals, "", nil)
			if err != nil {
				return err
			}
			out, err := all.accept(cmd.Context(), s, least)
			if err != nil {
				return err
			}
			return g.Print(out, func(w io.Writer) {
				fmt.Fprintf(w, "version %d: %s to keep and %d to drop were accepted; %d pages stay open\n", out.Version, cli.Count(out.Kept, "proposal"), out.Dropped, out.Open)
			})
		},
	}
	s = selectorOf(g, cmd, true)
	cmd.Flags().Float64Var(&least, "least", least, "least certainty of a proposal, from 0.5 to 1")
	return cmd
}

// accepted is what `accept` prints.
type accepted struct {
	Selection string `json:"selection"`
	Version   uint64 `json:"version"`
	Kept      int    `json:"kept"`
	Dropped   int    `json:"dropped"`
	Open      int    `json:"open"` // pages that are still so
}

// acceptedAtOnce is how many proposals an entry has.
const acceptedAtOnce = 5000

func (a *selected) accept(ctx context.Context, s *selector, least float64) (accepted, error) {
	out := accepted{Selection: a.state.Name, Version: a.state.Version}
	d := a.pool.Decided(a.state)
	m := a.pool.Learn(d.Labels)
	if m == nil {
		return out, cli.Usage("there is nothing to accept yet: decide on some pages to keep and on some to drop first")
	}
	var list []selection.Proposal
	for i := range a.pool.Facts {
		if d.Closed[i] {
			continue
		}
		p := selection.Proposal{URL: a.pool.Facts[i].URL, Verdict: selection.Drop, Certainty: 1 - m.Keep[i]}
		if m.Keep[i] >= 0.5 {
			p.Verdict, p.Certainty = selection.Keep, m.Keep[i]
		}
		switch {
		case p.Certainty < least || d.Marked[i]: // a rule says that a person must look at it
			out.Open++
			continue
		case p.Verdict == selection.Keep:
			out.Kept++
		default:
			out.Dropped++
		}
		p.Certainty = math.Round(p.Certainty*1e4) / 1e4
		list = append(list, p)
	}
	for from := 0; from < len(list); from += acceptedAtOnce {
		e := selection.Entry{Who: s.who, Why: s.why, Accepted: list[from:min(from+acceptedAtOnce, len(list))]}
		number, err := a.log.Append(ctx, e)
		if err != nil {
			return out, err
		}
		out.Version = number
	}
	return out, nil
}

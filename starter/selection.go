package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/selection"
)

// selectCommand has the commands for selections.
func selectCommand(g *globals) *cobra.Command {
	cmd := cli.Group(&cobra.Command{
		Use: "select", Short: "Select what is kept of an archive: rules, decisions, proposals",
		Long: `Select what is kept of an archive, by rules, by decisions of people, and with proposals that are learned from them. A selection has a
name and lies in the archive. Nothing in it is ever changed or deleted: entries are added, and the last decision wins.
ARCHIVE is a folder or s3://bucket/prefix.

  muninn select create ./archive ravens
  muninn select rule ./archive ravens keep 'site:example.org score:>0.5'
  muninn select ask ./archive ravens
  muninn select decide ./archive ravens drop https://example.org/login host:ads.example.org
  muninn select show ./archive ravens`,
	})
	cmd.AddCommand(selectCreate(g), selectList(g), selectRule(g), selectWithdraw(g), selectDecide(g), selectAsk(g), selectAccept(g), selectShow(g), selectExplain(g))
	return cmd
}

// selector is what the commands for one selection share.
type selector struct {
	*globals
	s3       *archive.S3
	who, why string
	most     int // candidates of a pool; 0: proposal.MaxPool
}

// selectorOf binds the flags of a command; those that write need a name and take a reason.
func selectorOf(g *globals, cmd *cobra.Command, writes bool) *selector {
	s := &selector{globals: g, s3: s3Flags(cmd)}
	if writes {
		cmd.Flags().StringVar(&s.who, "who", fromEnv("MUNINN_WHO", os.Getenv("USER")), "name of the person who decides; also MUNINN_WHO (default: $USER)")
		cmd.Flags().StringVar(&s.why, "why", "", "the reason, for those who ask later")
	}
	return s
}

// selectArgs checks that there are so many arguments or more, that the second is a name, and says what to give otherwise.
func selectArgs(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return cli.Usage("give %s", what)
		}
		if !crawl.ValidName(args[1]) {
			return cli.Usage("%q: %w", args[1], selection.ErrName)
		}
		return nil
	}
}

// writable opens an archive to append to it. That it is there is checked first: a folder that is misspelt must not be made.
func (s *selector) writable(ctx context.Context, where string) (archive.Store, error) {
	if s.who == "" {
		return nil, cli.Usage("--who: say who decides, or set MUNINN_WHO")
	}
	if _, err := openArchive(ctx, where, *s.s3); err != nil {
		return nil, err
	}
	return archive.Open(ctx, where, *s.s3)
}

// appendTo appends an entry to a selection that is there.
func (s *selector) appendTo(ctx context.Context, where, name string, e selection.Entry) (*selection.Log, uint64, error) {
	store, err := s.writable(ctx, where)
	if err != nil {
		return nil, 0, err
	}
	l, err := openSelection(ctx, store, name)
	if err != nil {
		return nil, 0, err
	}
	e.Who, e.Why = s.who, s.why
	number, err := l.Append(ctx, e)
	if errors.Is(err, selection.ErrEntry) {
		err = cli.Usage("%w", err)
	}
	return l, number, err
}

func openSelection(ctx context.Context, store archive.Store, name string) (*selection.Log, error) {
	l, err := selection.Open(ctx, store, name)
	if errors.Is(err, selection.ErrNone) {
		err = fmt.Errorf("%s: %w; make it by `muninn select create`, or see `muninn select list`", store, err)
	}
	return l, err
}

// appended is what the commands that write print.
type appended struct {
	Selection string `json:"selection"`
	Entry     uint64 `json:"entry"`              // its number: the version of the selection with it
	Replaced  int    `json:"replaced,omitempty"` // decisions of the same URLs and groups that no longer count
}

func selectCreate(g *globals) *cobra.Command {
	var s *selector
	var what selection.Creation
	cmd := &cobra.Command{
		Use: "create ARCHIVE NAME", Short: "Make a selection", Args: selectArgs(2, 2, "an archive and a name for the selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := s.writable(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if _, err := selection.Create(cmd.Context(), store, args[1], s.who, s.why, what); errors.Is(err, selection.ErrEntry) {
				return cli.Usage("%w", err)
			} else if err != nil {
				return err
			}
			return g.Print(appended{Selection: args[1], Entry: 1}, func(w io.Writer) { fmt.Fprintf(w, "selection %s: made\n", args[1]) })
		},
	}
	s = selectorOf(g, cmd, true)
	cmd.Flags().StringVar(&what.About, "about", "", "what the selection is about")
	cmd.Flags().StringSliceVar(&what.Crawls, "crawl", nil, "names of the crawls that it selects from (default: all of the archive)")
	return cmd
}

func selectList(g *globals) *cobra.Command {
	var s *selector
	cmd := &cobra.Command{
		Use: "list ARCHIVE", Short: "List the selections of an archive", Args: cli.ExactArgs(1, "an archive"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openArchive(cmd.Context(), args[0], *s.s3)
			if err != nil {
				return err
			}
			names, err := selection.Names(cmd.Context(), store)
			if err != nil {
				return err
			}
			if names == nil {
				names = []string{}
			}
			return g.Print(names, func(w io.Writer) {
				for _, name := range names {
					fmt.Fprintln(w, name)
				}
			})
		},
	}
	s = selectorOf(g, cmd, false)
	return cmd
}

// verdictOf reads a verdict of the command line.
func verdictOf(text string) (selection.Verdict, error) {
	if v := selection.Verdict(text); slices.Contains(selection.Verdicts, v) {
		return v, nil
	}
	return "", cli.Usage("%q must be keep, drop or ask", text)
}

func selectRule(g *globals) *cobra.Command {
	var s *selector
	cmd := &cobra.Command{
		Use: "rule ARCHIVE NAME keep|drop|ask QUERY", Short: "Add a rule: what matches the query gets the verdict",
		Long: `Add a rule: what matches the query is kept, is dropped, or has to be looked at by a person. Of several rules that match a capture the
last one counts; decisions of people win over all rules.`,
		Args: selectArgs(4, 4, "an archive, a selection, keep, drop or ask, and a query in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			verdict, err := verdictOf(args[2])
			if err != nil {
				return err
			}
			if _, err := selection.ParseQuery(args[3]); err != nil {
				return cli.Usage("the query %q: %w", args[3], err)
			}
			_, number, err := s.appendTo(cmd.Context(), args[0], args[1], selection.Entry{Rules: []selection.Rule{{Query: args[3], Verdict: verdict}}})
			if err != nil {
				return err
			}
			return g.Print(appended{Selection: args[1], Entry: number}, func(w io.Writer) { fmt.Fprintf(w, "rule %d: %s %s\n", number, verdict, args[3]) })
		},
	}
	s = selectorOf(g, cmd, true)
	return cmd
}

func selectWithdraw(g *globals) *cobra.Command {
	var s *selector
	cmd := &cobra.Command{
		Use: "withdraw ARCHIVE NAME RULE…", Short: "Take rules back, by their numbers", Args: selectArgs(3, 0, "an archive, a selection and numbers of rules, as `muninn select show` prints them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var numbers []uint64
			for _, text := range args[2:] {
				n, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					return cli.Usage("%q is no number of a rule", text)
				}
				if !slices.Contains(numbers, n) {
					numbers = append(numbers, n)
				}
			}
			store, err := openArchive(cmd.Context(), args[0], *s.s3)
			if err != nil {
				return err
			}
			l, err := openSelection(cmd.Context(), store, args[1])
			if err != nil {
				return err
			}
			for _, n := range numbers {
				if n < 1 || n > l.Version() || len(l.Entry(n).Rules) == 0 {
					return cli.Usage("%d is no number of a rule of %s", n, args[1])
				}
			}
			state, err := l.State(0, func(string) (selection.Matcher, error) { return nil, nil })
			if err != nil {
				return err
			}
			rules := 0 // that count until now; an entry may have several
			for _, r := range state.Rules() {
				if !r.Withdrawn && slices.Contains(numbers, r.Entry) {
					rules++
				}
			}
			_, number, err := s.appendTo(cmd.Context(), args[0], args[1], selection.Entry{Withdrawn: numbers})
			if err != nil {
				return err
			}
			return g.Print(appended{Selection: args[1], Entry: number}, func(w io.Writer) { fmt.Fprintf(w, "entry %d: %s withdrawn\n", number, cli.Count(rules, "rule")) })
		},
	}
	s = selectorOf(g, cmd, true)
	return cmd
}

func selectDecide(g *globals) *cobra.Command {
	var s *selector
	cmd := &cobra.Command{
		Use: "decide ARCHIVE NAME keep|drop|ask URL|GROUP…", Short: "Decide what becomes of URLs or groups",
		Long: `Decide what becomes of URLs or groups. The last decision that speaks of a capture wins, whether it names its URL or a group; ask takes
earlier ones back. A decision is of all captures of a URL. Groups:

  host:HOST                    a host
  site:DOMAIN                  a pay-level domain
  app:APPLICATION/LEVEL        pages of a level of an application, as the crawl recognised them
  app:APPLICATION/LEVEL@HOST   … at one host
  near:PRINT                   pages that read alike, as "muninn select ask" prints them`,
		Args: selectArgs(4, 0, "an archive, a selection, keep, drop or ask, and URLs or groups"),
		RunE: func(cmd *cobra.Command, args []string) error {
			verdict, err := verdictOf(args[2])
			if err != nil {
				return err
			}
			decisions, err := decisionsOf(verdict, args[3:])
			if err != nil {
				return err
			}
			l, number, err := s.appendTo(cmd.Context(), args[0], args[1], selection.Entry{Decisions: decisions})
			if err != nil {
				return err
			}
			out := appended{Selection: args[1], Entry: number, Replaced: replaced(l, number, decisions)}
			return g.Print(out, func(w io.Writer) {
				fmt.Fprintf(w, "entry %d: %s for %s", number, verdict, namedOf(decisions))
				if out.Replaced > 0 {
					fmt.Fprintf(w, "; %s no longer count", cli.Count(out.Replaced, "earlier decision"))
				}
				fmt.Fprintln(w)
			})
		},
	}
	s = selectorOf(g, cmd, true)
	return cmd
}

// decisionsOf reads URLs and groups.
func decisionsOf(verdict selection.Verdict, names []string) (list []selection.Decision, err error) {
	for _, name := range names {
		d := selection.Decision{Verdict: verdict}
		if scheme, _, _ := strings.Cut(strings.ToLower(name), ":"); scheme == "http" || scheme == "https" {
			d.URL, err = selection.CanonicalURL(name)
		} else {
			d.Group, err = selection.ParseGroup(name)
		}
		if err != nil {
			return nil, cli.Usage("neither a URL (https://…) nor a group: %w", err)
		}
		list = append(list, d)
	}
	return list, nil
}

// namedOf says how many URLs and groups decisions are of.
func namedOf(decisions []selection.Decision) string {
	groups := 0
	for _, d := range decisions {
		if d.Group != "" {
			groups++
		}
	}
	switch urls := len(decisions) - groups; {
	case groups == 0:
		return cli.Count(urls, "URL")
	case urls == 0:
		return cli.Count(groups, "group")
	default:
		return cli.Count(urls, "URL") + " and " + cli.Count(groups, "group")
	}
}

// replaced is how many of the URLs and groups of an entry had a decision before it.
func replaced(l *selection.Log, number uint64, decisions []selection.Decision) (n int) {
	type what struct {
		url   string
		group selection.Group
	}
	before := map[what]bool{}
	for k := uint64(1); k < number; k++ {
		for _, d := range l.Entry(k).Decisions {
			before[what{d.URL, d.Group}] = d.Verdict != selection.Ask
		}
	}
	for _, d := range decisions {
		if before[what{d.URL, d.Group}] {
			n++
		}
	}
	return n
}

// writeStep prints a step of an explanation.
func writeStep(w io.Writer, s *selection.Step) {
	mark := " "
	if s.Counts {
		mark = "*"
	}
	what := cmp.Or(s.Query, string(s.Group), s.URL)
	if s.By == selection.ByProposal {
		what = fmt.Sprintf("a proposal with certainty %.2f", s.Certainty)
	}
	why := ""
	if s.Why != "" {
		why = ": " + s.Why
	}
	fmt.Fprintf(w, "%s %6d  %s  %-4s  %-8s  %s  (%s%s)\n", mark, s.Entry, s.When.UTC().Format(time.RFC3339), s.Verdict, s.By, shownText(what), shownText(s.Who), shownText(why))
}

// shownText is a text of an archive as a terminal may show it: without control characters.
func shownText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

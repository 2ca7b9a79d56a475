package starter

import (
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// scopeAnswer is what `scope` prints.
type scopeAnswer struct {
	URL     string `json:"url"`
	Scope   string `json:"scope"` // in words
	InScope bool   `json:"in_scope"`
	Rule    *int   `json:"rule,omitempty"` // number of the rule of the scope that decided, from 0
	Why     string `json:"why"`
	// Doubt says that the rule may not hold once the page is fetched.
	Doubt bool `json:"doubt,omitempty"`
}

// hopPath are the letters of a hop path, without those of robots.txt and DNS, which no scope judges.
var hopPath = regexp.MustCompile(`^S?[LERMXN]*$`)

func scopeCommand(g *globals) *cobra.Command {
	link := scope.Link{}
	via, path := "", ""
	cmd := &cobra.Command{
		Use: "scope DEFINITION.yaml URL", Short: "Show whether a URL is in the scope of a definition, and what decides that",
		Long: `Show whether a URL is in the scope of a definition, and which rule, list or bound decides that.

The URL is judged as a link on a page of a seed, unless --via and --path say otherwise. What the flags do not
say is not known: rules that depend on it leave the URL in doubt. --mime and --language judge a page that is fetched.`,
		Args: cli.ExactArgs(2, "a definition file and a URL"),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := cli.ReadDefinition(args[0])
			if err != nil {
				return err
			}
			if link.URL, err = urls.Parse(args[1]); err != nil {
				return cli.Usage("%q is not a URL: %w", crawl.HideUser(args[1]), err)
			}
			if !hopPath.MatchString(path) {
				return cli.Usage("--path is %q, must be letters of the hop path: S seed, L link, E embedded, R redirect, M sitemap, X probably embedded, N next part", path)
			}
			answer, err := judge(d, link, via, path)
			if err != nil {
				return err
			}
			return g.Print(answer, func(w io.Writer) { writeScope(w, answer) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&via, "via", "", "URL of the page that links to it")
	f.StringVar(&path, "path", "L", "hop path: letters of the hops from the seed to the URL, such as LLE")
	f.Float64Var(&link.Score, "score", -1, "score of the link, in [0,1]")
	f.StringVar(&link.ViaLanguage, "via-language", "", "language of the page that links")
	f.StringVar(&link.MIME, "mime", "", "MIME type of the page, as it was fetched")
	f.StringVar(&link.Language, "language", "", "language of the page, as it was fetched")
	return cmd
}

// judge asks the scope of a definition for a link on a page; via is that page, "" if it is not known.
func judge(d crawl.Definition, link scope.Link, via, path string) (scopeAnswer, error) {
	bounds, err := boundsOf(d)
	if err != nil {
		return scopeAnswer{}, err
	}
	s, err := scope.New(d, bounds)
	if err != nil {
		return scopeAnswer{}, err
	}
	link.Path = path
	if via != "" {
		page, err := urls.Parse(via)
		if err != nil {
			return scopeAnswer{}, cli.Usage("--via: %q is not a URL: %w", crawl.HideUser(via), err)
		}
		before := path[:max(len(path)-1, 0)]
		link.Path = s.MarkPath(page, before) + path[len(before):]
	}
	decision := s.Check(link)
	out := scopeAnswer{URL: link.URL.String(), Scope: scope.Words(d, bounds), InScope: decision.InScope, Why: decision.Words(d.Scope), Doubt: decision.Doubt}
	switch {
	case path == crawl.HopSeed.String() && !s.Blacklisted(link.URL):
		out.InScope, out.Doubt, out.Why = true, false, "it is a seed: only the black list refuses those"
	case decision.By == scope.ByRule:
		out.Rule = &decision.Rule
	}
	return out, nil
}

// boundsOf is what the scope of a definition must know of its seeds.
func boundsOf(d crawl.Definition) ([]string, error) {
	_, seeds, err := pipeline.Seeds(d)
	return scope.Bounds(d, seeds), err
}

func writeScope(w io.Writer, a scopeAnswer) {
	said := "out of scope"
	switch {
	case a.InScope && a.Doubt:
		said = "in scope for now"
	case a.InScope:
		said = "in scope"
	}
	_, _ = fmt.Fprintf(w, "%s\n  %s: %s\n  the scope is %s\n", a.URL, said, a.Why, a.Scope)
}

package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// searching are the flags of `search`.
type searching struct {
	g                 *globals
	room              roomOptions
	limit, offset     int
	facets, histogram bool
	server            string
}

func searchCommand(g *globals) *cobra.Command {
	s := &searching{g: g, room: roomOptions{derive: true}, limit: 10}
	cmd := &cobra.Command{
		Use: "search ARCHIVE... QUERY", Short: "Search the pages, posts and articles that were archived",
		Long: `Search what was archived: pages, and the posts, comments and articles in them. ARCHIVE is a folder or s3://bucket/prefix; QUERY is the last
argument, in quotes. docs/SEARCHING.md has its language:

  words "a phrase" -not OR (groups) site: host: crawl: lang: type: app: level: author: date: score: status:

The views are those of ` + "`muninn serve`" + `: a catalogue and a search index in --data. They are brought up to date first, which takes a while for the first time.
Texts that are missing are derived in the archive, unless --derive=false says that only what ` + "`muninn derive`" + ` has made is searched. While a server has the views
open, ask the server: --server, without an archive. If it needs a token, MUNINN_ROOM_TOKEN has it.

--facets counts what was found by site, application, level, type, language and relevance, where there is more than one value. --histogram counts it by month, or
by year if it is of many months. Put -- before a query that begins with a minus.

  muninn search muninn-data/archive '"flood protection" river -traffic date:2025..'
  muninn search s3://archive/crawls 'type:post author:doe score:>0.5' --facets --limit 20
  muninn search 'raven OR crow' --server http://127.0.0.1:8480 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case s.server == "" && len(args) < 2:
				return cli.Usage("give an archive (a folder, or s3://bucket/prefix) and a query in quotes; or a query and --server")
			case s.server != "" && len(args) != 1:
				return cli.Usage("--server: give the query alone, in quotes: the server knows its archives")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			s.room.archives = args[:last]
			return s.run(cmd.Context(), args[last], cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&s.limit, "limit", s.limit, "hits that are shown")
	f.IntVar(&s.offset, "offset", 0, "hits that are left out before")
	f.BoolVar(&s.facets, "facets", false, "count what was found by its facts")
	f.BoolVar(&s.histogram, "histogram", false, "count what was found by its time")
	viewsFlags(f, &s.room)
	f.StringVar(&s.server, "server", "", "reading room that is asked, such as http://127.0.0.1:8480")
	s.room.s3 = s3Flags(cmd)
	return cmd
}

// queryFault says what is wrong with a query, and shows the place; nil: nothing is. where stands before.
func queryFault(where, text string) error {
	_, err := query.Parse(text)
	var fault *query.Error
	if !errors.As(err, &fault) {
		return nil
	}
	return cli.Usage("%s%w\n%s", where, fault, pointed(text, fault.At))
}

// shownBeside is the number of characters of a query that are shown on each side of a fault.
const shownBeside = 50

// pointed shows a place of a text, in two lines.
func pointed(text string, at int) string {
	runes := []rune(text)
	at = min(max(at, 0), len(runes))
	from, to := max(0, at-shownBeside), min(len(runes), at+shownBeside)
	return "  " + shownText(string(runes[from:to])) + "\n  " + strings.Repeat(" ", at-from) + "^"
}

func (s *searching) run(ctx context.Context, text string, report io.Writer) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	if err := queryFault("", text); err != nil {
		return err
	}
	if _, err := (search.Options{Limit: s.limit, Offset: s.offset}).Check(); err != nil || s.limit < 1 {
		return cli.Usage("--limit, --offset: %w", errors.Join(err, orNil(s.limit < 1 && err == nil, "the limit must be 1 at least")))
	}
	ask, incomplete, free, err := s.open(ctx, report)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer func() { err = errors.Join(err, free()) }()
	found, err := s.found(ctx, ask, text)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return errors.Join(s.g.Print(found, found.write), incomplete)
}

func orNil(is bool, text string) error {
	if is {
		return errors.New(text)
	}
	return nil
}

// open opens the server, or the views, which it brings up to date. incomplete says what the views lack.
func (s *searching) open(ctx context.Context, report io.Writer) (ask asker, incomplete error, free func() error, err error) {
	if s.server != "" {
		ask, err = newServerAsker(s.server, os.Getenv("MUNINN_ROOM_TOKEN"))
		return ask, nil, func() error { return nil }, err
	}
	stores, err := s.room.stores(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	v, stale, free, err := s.room.open(ctx, stores, s.g.logger(report))
	if err != nil {
		return nil, nil, nil, err
	}
	if stale != "" {
		fmt.Fprintf(report, "the views in %s were of another archive, and are built again\n", stale)
	}
	incomplete, err = upToDate(ctx, v, report)
	if err == nil {
		err = crawlsIn(v, s.room.archives)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, free())
	}
	return newLocalAsker(v), incomplete, free, nil
}

// crawlsIn reports archives without a crawl, as when a folder too deep was given.
func crawlsIn(v *views.Views, archives []string) error {
	if len(v.Crawls()) > 0 {
		return nil
	}
	return noCrawls(archives)
}

func noCrawls(archives []string) error {
	return fmt.Errorf("there is no crawl in %s: name the folder or prefix that the folders of crawls lie in", strings.Join(archives, ", "))
}

// found is what `search` prints.
type found struct {
	Query     string       `json:"query"`
	Total     int          `json:"total"`
	Offset    int          `json:"offset"`
	Hits      []room.Hit   `json:"hits"`
	Facets    []foundFacet `json:"facets,omitempty"`
	Histogram []foundCount `json:"histogram,omitempty"`
	By        string       `json:"histogram_by,omitempty"` // month or year
}

type foundFacet struct {
	Name   string       `json:"name"`
	Values []foundCount `json:"values"`
	Others int          `json:"others,omitempty"`
}

type foundCount struct {
	Value string `json:"value"`
	N     int    `json:"n"`
}

func (f *found) write(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	switch {
	case f.Total == 0:
		line("nothing is found")
	case len(f.Hits) == 0:
		line("%d found; none is left behind the first %d", f.Total, f.Offset)
	default:
		line("%d found; %d to %d:", f.Total, f.Offset+1, f.Offset+len(f.Hits))
	}
	for i := range f.Hits {
		writeHit(&f.Hits[i], line, f.Offset+i+1)
	}
	for _, facet := range f.Facets {
		line("\n%s", shownText(facet.Name))
		for _, c := range facet.Values {
			line("%8d  %s", c.N, shownText(c.Value))
		}
		if facet.Others > 0 {
			line("%8d  others", facet.Others)
		}
	}
	if len(f.Histogram) > 0 {
		line("\n%s", shownText(f.By))
		for _, c := range f.Histogram {
			line("%8d  %s", c.N, shownText(c.Value))
		}
	}
}

func writeHit(h *room.Hit, line func(string, ...any), n int) {
	line("\n%d. %s", n, shownText(h.Title))
	line("   %s", shownText(h.URL))
	facts := []string{h.Date.UTC().Format(time.RFC3339), "crawl " + h.Crawl}
	if h.Type != query.Page {
		facts = append(facts, strings.TrimSuffix(h.Type+" by "+h.Author, " by "))
	}
	if h.Score >= 0 {
		facts = append(facts, fmt.Sprintf("score %.2f", h.Score))
	}
	facts = append(facts, fmt.Sprintf("rank %.2f", h.Rank))
	if h.Duplicates > 0 {
		facts = append(facts, cli.Count(h.Duplicates, "duplicate"))
	}
	line("   %s", shownText(strings.Join(facts, ", ")))
	var text strings.Builder
	for _, piece := range h.Snippet {
		text.WriteString(piece.Text)
	}
	if text.Len() > 0 {
		line("   %s", shownText(strings.TrimSpace(text.String())))
	}
}

// roomAnswered is what the room's JSON says of a search, or of a failure.
type roomAnswered struct {
	found
	Status int             `json:"status"`
	Error  json.RawMessage `json:"error"` // of a query {at, message}, else a text
}

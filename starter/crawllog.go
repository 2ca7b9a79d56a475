package starter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
)

func logCommand(g *globals) *cobra.Command {
	failed := false
	var s3 *archive.S3
	cmd := &cobra.Command{
		Use: "log CRAWL|ARCHIVE", Short: "Print the crawl log: each attempt at a URL, and its outcome",
		Long: `Print the crawl log: each attempt at a URL, and its outcome, segment by segment. The archive has it. Give the
name of a crawl that Temporal knows, a folder (with a / in its name, as in ./NAME) or s3://bucket/prefix, for all crawls in it.
URLs whose host has no address are added when the run has ended.

  muninn log ravens --failed
  muninn log s3://archive/crawls --json`,
		Args: cli.ExactArgs(1, "the name of one crawl, or an archive"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, crawls, err := g.logged(cmd.Context(), args[0], *s3)
			if err != nil {
				return err
			}
			lines := json.NewEncoder(g.Out)
			lines.SetEscapeHTML(false)
			for _, c := range crawls {
				err := archive.EachLogged(cmd.Context(), store, c, func(l archive.Logged) error {
					switch {
					case failed && !l.WithoutPage():
						return nil
					case g.JSON:
						return lines.Encode(l)
					}
					return writeLogged(g.Out, l)
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	s3 = s3Flags(cmd)
	cmd.Flags().BoolVar(&failed, "failed", false, "only URLs that ended without a page: failed, refused, disallowed by robots.txt, 4xx and 5xx")
	g.remote(cmd)
	return cmd
}

// logged opens the archive of a crawl, or the archive with a name, and lists the crawls to print.
func (g *globals) logged(ctx context.Context, name string, s3 archive.S3) (archive.Store, []archive.CrawlAt, error) {
	if strings.ContainsAny(name, `/\`) {
		store, err := openArchive(ctx, name, s3)
		if err != nil {
			return nil, nil, err
		}
		crawls, err := archive.Crawls(ctx, store)
		if err == nil && len(crawls) == 0 {
			err = fmt.Errorf("%s holds no crawl: give the folder or prefix that the folders of crawls lie in", store)
		}
		return store, crawls, err
	}
	if err := cli.CheckCrawl(name); err != nil {
		return nil, nil, err
	}
	c, err := g.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	s, err := status(ctx, c, name, queryTimeout)
	if err != nil {
		return nil, nil, orFolder(name, err)
	}
	d, err := definitionOf(ctx, c, s.Workflow)
	if err != nil {
		return nil, nil, err
	}
	if s.Crawl.Begun.Archive == "" {
		return nil, nil, fmt.Errorf("crawl %s has not started yet", name)
	}
	store, err := archive.OpenReader(ctx, s.Crawl.Begun.Archive, s3)
	if err != nil {
		return nil, nil, fmt.Errorf("this command reads the archive of %s on this machine: %w", name, err)
	}
	return store, []archive.CrawlAt{{Prefix: d.Archive.Prefix, Name: d.Name}}, nil
}

// orFolder says of a name that no crawl has how the folder of that name is written, if there is one.
func orFolder(name string, err error) error {
	if info, errDir := os.Stat(name); errDir == nil && info.IsDir() {
		return fmt.Errorf("%w; the folder of that name is read as ./%s", err, name)
	}
	return err
}

func writeLogged(w io.Writer, l archive.Logged) error {
	status := "-"
	if l.Status > 0 {
		status = fmt.Sprint(l.Status)
	}
	var more []string
	for _, m := range []string{l.Reason, l.Undecoded, times(l.Attempt), from(l.Via)} {
		if m != "" {
			more = append(more, m)
		}
	}
	_, err := fmt.Fprintf(w, "%s %-10s %3s %s %s  %s\n", l.Time.UTC().Format(time.RFC3339), l.Kind, status, cmp.Or(l.Path, "-"), l.URL, strings.Join(more, "; "))
	return err
}

func times(attempt int) string {
	if attempt < 2 {
		return ""
	}
	return fmt.Sprintf("attempt %d", attempt)
}

func from(via string) string {
	if via == "" {
		return ""
	}
	return "found on " + via
}

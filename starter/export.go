package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/pdf"
	"github.com/muninn-archive/muninn/internal/version"
)

// The formats of --format that hold tables, not records.
const (
	formatCSV     = "csv"
	formatParquet = "parquet"
)

// exporting are the flags of `export` and `merge`.
type exporting struct {
	g         *globals
	s3        *archive.S3
	to        string
	format    string
	size      string
	only      string
	query     string
	selection string
	name      string
	check     bool
	onWorkers bool
	changed   func(flag string) bool // it stands in the command line
}

func exportCommand(g *globals) *cobra.Command {
	e := &exporting{g: g}
	cmd := &cobra.Command{
		Use: "export ARCHIVE [CRAWL...]", Short: "Export captures of crawls, and what they need, as WARC, WACZ, CSV or Parquet",
		Long: `Export captures of crawls. ARCHIVE is a folder or s3://bucket/prefix; a crawl below a prefix is named PREFIX/CRAWL.

  warc     WARC files of --size, each with its index (CDXJ). Records are copied byte for byte
  wacz     the same records in WACZ files with an index and a list of pages with their texts, for ReplayWeb.page
  csv      what is kept and dropped, by which rule, and why
  parquet  tables of captures and of web objects with their texts, for Spark, DuckDB and Trino

Without --only, --query and --selection everything is exported. --query keeps the pages that match a query in the language of searches (SEARCHING.md).
--selection keeps what a selection of ` + "`muninn select`" + ` keeps; what is open in it (ask) counts as dropped. Both read the texts of the pages, which is
quicker after ` + "`muninn derive`" + `; without the names of crawls, those of the selection are exported. --only FILE keeps the captures of the URLs in a file, one a line; http://example.org/* stands for all
that begin so, and a line that begins with - drops its URLs; the first line that matches counts. A kept capture brings what it needs: requisites, redirects, robots.txt,
the DNS answer, and what a revisit refers to. What cannot be exported is listed with the reason in NAME-….missing.jsonl.

The same archive and flags give the same files. An export that was cut off is continued by the same command. A file NAME-….manifest.json ends it.

  muninn export s3://archive/crawls ravens --to ravens-export --format wacz
  muninn export archive ravens --only kept.txt --to s3://exports/ravens --size 5GiB --check
  muninn export archive ravens --query 'raven score:>0.5 date:2025..' --to ravens-query
  muninn export archive --selection ravens --to ravens-kept --format csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 && (e.selection == "" || len(args) == 0) {
				return cli.Usage("give an archive (a folder, or s3://bucket/prefix) and the names of one or more crawls")
			}
			return checkCrawls(args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1:]) },
	}
	e.flags(cmd)
	cmd.Flags().StringVar(&e.format, "format", string(export.WARC), "warc, wacz, csv or parquet")
	cmd.Flags().StringVar(&e.only, "only", "", "file of the URLs and prefixes (…*) that are kept, one a line; - is standard input")
	cmd.Flags().StringVar(&e.query, "query", "", "query whose pages are kept")
	cmd.Flags().StringVar(&e.selection, "selection", "", "name of a selection of the archive: what it keeps is kept")
	return cmd
}

func mergeCommand(g *globals) *cobra.Command {
	e := &exporting{g: g, format: string(export.WARC)}
	cmd := &cobra.Command{
		Use: "merge ARCHIVE [CRAWL...]", Short: "Merge the WARC files of an archive into files of one size",
		Long: `Merge the WARC files of the segments of an archive into files of --size, in the order of URLs: an export of everything. All crawls of the archive are merged
if none is named. The archive stays as it is. A part of it, by a query, a selection or a list of URLs, is what ` + "`muninn export`" + ` writes: with the same
flags, and in the same files, it brings what kept pages need, and names what is missing.

  muninn merge archive --to merged --size 1GiB --check`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 {
				return cli.Usage("give an archive: a folder, or s3://bucket/prefix")
			}
			return checkCrawls(args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1:]) },
	}
	e.flags(cmd)
	return cmd
}

func (e *exporting) flags(cmd *cobra.Command) {
	e.s3 = s3Flags(cmd)
	f := cmd.Flags()
	e.changed = f.Changed
	f.StringVar(&e.to, "to", "", "folder or s3://bucket/prefix that is written to")
	f.StringVar(&e.size, "size", "1GiB", "size of a file: the next one begins when the records of a capture would pass it")
	f.StringVar(&e.name, "name", "", "what the names of the files begin with (default: the crawl's name, or \"merged\" of several)")
	f.BoolVar(&e.check, "check", false, "compare each record that was written with its source, which reads both whole")
	f.BoolVar(&e.onWorkers, "on-workers", false, "let the workers of a Temporal service do it, part by part; they must be allowed to use both places")
	e.g.remote(cmd)
}

func checkCrawls(names []string) error {
	for _, name := range names {
		if !fs.ValidPath(name) {
			return cli.Usage("no crawl can be named %q: give CRAWL, or PREFIX/CRAWL", name)
		}
		if err := cli.CheckCrawl(path.Base(name)); err != nil {
			return err
		}
	}
	return nil
}

// run exports, and prints what was written.
func (e *exporting) run(cmd *cobra.Command, where string, crawls []string) error {
	ctx := cmd.Context()
	if err := e.checkChoice(cmd); err != nil {
		return err
	}
	o, err := e.order(crawls)
	if err != nil {
		return err
	}
	if e.onWorkers {
		if err := e.checkOnWorkers(); err != nil {
			return err
		}
		if !e.chooses() {
			return e.runOnWorkers(ctx, where, o, nil)
		}
	}
	from, to, err := e.open(ctx, where)
	if err != nil {
		return err
	}
	if e.chooses() {
		if err := e.choose(ctx, from, &o, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	if e.onWorkers {
		return e.planForWorkers(ctx, where, from, to, o)
	}
	if len(o.Crawls) == 0 {
		if o.Crawls, err = archive.Crawls(ctx, from); err != nil {
			return err
		}
		if len(o.Crawls) == 0 {
			return fmt.Errorf("%s holds no crawl: give the folder or prefix that the folders of crawls lie in", from)
		}
		if e.name == "" {
			o.Name = exportName(o.Crawls)
		}
	}
	switch e.format {
	case formatCSV, formatParquet:
		return e.tables(ctx, from, to, o)
	}
	return e.records(ctx, from, to, o)
}

// order makes the order that the flags give.
func (e *exporting) order(crawls []string) (export.Order, error) {
	o := export.Order{Format: export.Format(e.format), Software: version.Software()}
	switch e.format {
	case string(export.WARC), string(export.WACZ), formatCSV, formatParquet:
	default:
		return o, cli.Usage("--format: %q must be warc, wacz, csv or parquet", e.format)
	}
	if e.to == "" {
		return o, cli.Usage("--to: name the folder or s3://bucket/prefix that is written to")
	}
	if err := export.CheckPlace(e.to); err != nil {
		return o, cli.Usage("--to: %w", err)
	}
	if table := e.format == formatCSV || e.format == formatParquet; table && e.changed("size") {
		return o, cli.Usage("--size is of files of records: a table is one file")
	}
	size, err := crawl.ParseBytes(e.size)
	if err != nil {
		return o, cli.Usage("--size: %w", err)
	}
	o.Size = int64(size)
	for _, name := range crawls {
		prefix, _ := path.Split(name)
		o.Crawls = append(o.Crawls, archive.CrawlAt{Prefix: strings.TrimSuffix(prefix, "/"), Name: path.Base(name)})
	}
	o.Name = cmp.Or(e.name, exportName(o.Crawls))
	if e.only != "" {
		if o.Keep, err = readRules(e.only); err != nil {
			return o, cli.Usage("--only: %w", err)
		}
	}
	checked := o
	if len(checked.Crawls) == 0 { // all of the archive
		checked.Crawls = []archive.CrawlAt{{Name: "all"}}
	}
	if checked.Format != export.WACZ {
		checked.Format = export.WARC
	}
	var faults crawl.Faults
	if err := checked.Validate(); errors.As(err, &faults) {
		var flags []string
		for _, f := range faults {
			flags = append(flags, "--"+strings.Replace(f.Path, "keep.list", "only", 1)+": "+f.Message)
		}
		return o, cli.Usage("%s", strings.Join(flags, "\n"))
	}
	return o, nil
}

func exportName(crawls []archive.CrawlAt) string {
	if len(crawls) == 1 {
		return crawls[0].Name
	}
	return "merged"
}

func readRules(name string) (*export.Rules, error) {
	if name == "-" {
		return export.ReadRules("standard input", os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return export.ReadRules(name, f)
}

// open opens the archive and the place that is written to, which must be another one.
func (e *exporting) open(ctx context.Context, where string) (from, to archive.Store, err error) {
	if from, err = openArchive(ctx, where, *e.s3); err != nil {
		return nil, nil, err
	}
	if err := export.CheckApart(from.String(), e.to); err != nil { // before a folder is made
		return nil, nil, cli.Usage("--to: %w", err)
	}
	to, err = archive.Open(ctx, e.to, *e.s3)
	switch {
	case errors.Is(err, archive.ErrPlace):
		return nil, nil, cli.Usage("--to: %w", err)
	case err != nil:
		return nil, nil, fmt.Errorf("--to: %w", err)
	}
	return from, to, nil
}

// exported is what `export` and `merge` print of records.
type exported struct {
	To string `json:"to"`
	export.Result
	Checked *export.Checked `json:"checked,omitempty"`
}

func (e *exporting) records(ctx context.Context, from, to archive.Store, o export.Order) error {
	result, err := export.Run(ctx, from, to, o, e.progress())
	if err != nil {
		return err
	}
	out := exported{To: to.String(), Result: result}
	if e.check {
		checked, err := export.Check(ctx, from, to, result.Manifest)
		if err != nil {
			return err
		}
		out.Checked = &checked
	}
	return e.report(out, o)
}

// report prints what was exported; damage, faults and an export of nothing are errors.
func (e *exporting) report(out exported, o export.Order) error {
	err := e.g.Print(out, out.write)
	if out.Damaged > 0 {
		err = errors.Join(err, fmt.Errorf("%s cannot be read: see %s, and `muninn verify`", cli.Count(out.Damaged, "segment"), out.List))
	}
	if out.Captures == 0 && out.Damaged == 0 {
		switch {
		case o.Chosen != nil:
			err = errors.Join(err, fmt.Errorf("%s keeps no capture of the crawls", shownText(o.Chosen.Name())))
		case o.Keep != nil:
			err = errors.Join(err, fmt.Errorf("--only %s: no capture of the crawls has such a URL", e.only))
		}
	}
	if out.Checked != nil && len(out.Checked.Faults) > 0 {
		err = errors.Join(err, fmt.Errorf("--check: %s", cli.Count(len(out.Checked.Faults), "fault")))
	}
	return err
}

// progress writes what an export does to standard error, if --verbose asks for it.
func (e *exporting) progress() export.Progress {
	if !e.g.verbose {
		return nil
	}
	return func(done, parts int, what string) { fmt.Fprintf(os.Stderr, "%d of %d parts: %s\n", done, parts, what) }
}

func (x exported) write(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s: %d captures, %d records in %s, %s", x.To, x.Captures, x.Records, cli.Count(x.Parts, "part"), size(x.Bytes))
	if x.Passed > 0 {
		line("  %s there already", cli.Count(x.Passed, "part"))
	}
	for _, why := range slices.Sorted(maps.Keys(x.Groups)) {
		line("  %-10s %d", why, x.Groups[why])
	}
	if x.Missing > 0 {
		line("  missing    %d: %s", x.Missing, x.List)
	}
	line("  manifest   %s", x.Manifest)
	if x.Checked == nil {
		return
	}
	line("  checked    %d records, %s", x.Checked.Records, cli.Count(len(x.Checked.Faults), "fault"))
	for _, f := range x.Checked.Faults {
		line("    %s", f)
	}
}

// tabled is what `export` prints of tables.
type tabled struct {
	To     string          `json:"to"`
	Tables []export.Tabled `json:"tables"`
}

func (e *exporting) tables(ctx context.Context, from, to archive.Store, o export.Order) error {
	if e.check {
		return cli.Usage("--check compares records: it needs --format warc or wacz")
	}
	out := tabled{To: to.String()}
	writers := []func(context.Context, archive.Store, archive.Store, export.Order) (export.Tabled, error){export.WriteDecisions}
	if e.format == formatParquet {
		reader := pdf.New(pdf.DefaultLimits())
		writers = []func(context.Context, archive.Store, archive.Store, export.Order) (export.Tabled, error){
			export.WriteCaptures,
			func(ctx context.Context, from, to archive.Store, o export.Order) (export.Tabled, error) {
				return export.WriteObjects(ctx, from, to, o, reader.Read)
			},
		}
	}
	for _, write := range writers {
		t, err := write(ctx, from, to, o)
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, t)
	}
	damaged := []string{}
	for _, t := range out.Tables {
		damaged = append(damaged, t.Damaged...)
	}
	slices.Sort(damaged)
	damaged = slices.Compact(damaged)
	err := e.g.Print(out, func(w io.Writer) {
		for _, t := range out.Tables {
			if t.Passed {
				_, _ = fmt.Fprintf(w, "%s/%s: there already\n", out.To, t.File.Key)
			} else {
				_, _ = fmt.Fprintf(w, "%s/%s: %d rows, %s\n", out.To, t.File.Key, t.Rows, size(t.File.Bytes))
			}
		}
		for _, reason := range damaged {
			_, _ = fmt.Fprintf(w, "  damaged: %s\n", shownText(reason))
		}
	})
	if n := len(damaged); n > 0 {
		err = errors.Join(err, fmt.Errorf("the tables lack what cannot be read, %s: see `muninn verify`", cli.Count(n, "place")))
	}
	return err
}

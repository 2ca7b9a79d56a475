package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/cli"
)

// s3Flags binds the flags of commands that open an archive themselves. Keys are read from the environment.
func s3Flags(cmd *cobra.Command) *archive.S3 {
	conf := &archive.S3{AccessKey: os.Getenv("MUNINN_S3_ACCESS_KEY"), SecretKey: os.Getenv("MUNINN_S3_SECRET_KEY")}
	cmd.Flags().StringVar(&conf.Endpoint, "s3-endpoint", fromEnv("MUNINN_S3_ENDPOINT", ""), "S3 service, URL or HOST:PORT; also MUNINN_S3_ENDPOINT")
	cmd.Flags().StringVar(&conf.Region, "s3-region", fromEnv("MUNINN_S3_REGION", "us-east-1"), "S3 region; also MUNINN_S3_REGION")
	return conf
}

// openArchive opens an archive that the command line names.
func openArchive(ctx context.Context, where string, s3 archive.S3) (archive.Store, error) {
	store, err := archive.OpenReader(ctx, where, s3)
	if errors.Is(err, archive.ErrPlace) {
		return nil, cli.Usage("%w", err)
	}
	return store, err
}

// checked adapts a store to archivecheck.
type checked struct{ store archive.Store }

func (c checked) Keys(ctx context.Context) (keys []string, err error) {
	err = c.store.List(ctx, "", func(o archive.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	return keys, err
}

func (c checked) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := c.store.Get(ctx, key)
	switch {
	case errors.Is(err, archive.ErrNotFound):
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case errors.Is(err, archive.ErrNotRegular):
		err = fmt.Errorf("%w: %w", archivecheck.ErrUnreadable, err)
	}
	return r, err
}

// verified is what `verify` prints.
type verified struct {
	Archive   string   `json:"archive"`
	Segments  int      `json:"segments"`
	GivenBack int      `json:"given_back"` // batches without a segment: their URLs were given back
	Records   int      `json:"records"`
	Responses int      `json:"responses"`
	Revisits  int      `json:"revisits"`
	URLs      int      `json:"urls"` // with a capture; robots.txt does not count
	Logged    int      `json:"log_lines"`
	Derived   int      `json:"derivations"` // of segments
	Bytes     int64    `json:"bytes"`
	Faults    []string `json:"faults"`
	// Unnamed are objects that no manifest names, Unfinished are uploads that were cut off.
	Unnamed    []string `json:"unnamed"`
	Unfinished []string `json:"unfinished"`
	Swept      bool     `json:"swept"` // those of both that are older than --older were deleted
	Deleted    int      `json:"deleted"`
	Freed      int64    `json:"freed_bytes"`
}

// sweepAge is the default of --older: the age from which unnamed objects are deleted.
const sweepAge = 24 * time.Hour

func verifyCommand(g *globals) *cobra.Command {
	sweep, older := false, sweepAge
	var s3 *archive.S3
	cmd := &cobra.Command{
		Use: "verify ARCHIVE", Short: "Check an archive, and delete files that no manifest names",
		Long: `Check everything that an archive claims: manifests, sizes and SHA-256 of what they name, WARC records and their digests, CDXJ,
sidecars, crawl logs, what was derived, and that each revisit refers to a capture that is there. ARCHIVE is a folder or s3://bucket/prefix.
In a folder, it reads files and links to files; a pipe or a device in place of a file is a fault.
The exit code is 1 if anything is wrong. It reads the whole archive, and takes a kilobyte of memory for each record.

With --sweep, objects of crawls that no manifest names and unfinished uploads are deleted if they are older than --older.
Attempts that were killed leave such objects; no reader needs them.

  muninn verify s3://archive/crawls --sweep`,
		Args: cli.ExactArgs(1, "an archive: a folder, or s3://bucket/prefix"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("older") && !sweep {
				return cli.Usage("--older says what is swept: it needs --sweep")
			}
			if older < archive.MinSweepAge {
				return cli.Usage("--older: must be %v at least: younger objects may belong to a batch that is being archived", archive.MinSweepAge)
			}
			store, err := openArchive(cmd.Context(), args[0], *s3)
			if err != nil {
				return err
			}
			v, err := verify(cmd.Context(), store, sweep, time.Now().Add(-older))
			if v.Archive != "" { // print the findings even if sweeping failed
				err = errors.Join(g.Print(v, v.write), err)
			}
			if n := len(v.Faults); n > 0 {
				err = errors.Join(fmt.Errorf("%s: %s", store, cli.Count(n, "fault")), err)
			}
			return err
		},
	}
	s3 = s3Flags(cmd)
	cmd.Flags().BoolVar(&sweep, "sweep", false, "delete objects that no manifest names, and unfinished uploads")
	cmd.Flags().DurationVar(&older, "older", older, "least age of what is deleted, at least 1h")
	return cmd
}

func verify(ctx context.Context, store archive.Store, sweep bool, before time.Time) (verified, error) {
	report, err := archivecheck.Check(ctx, checked{store})
	if errors.Is(err, archivecheck.ErrNoCrawl) {
		return verified{}, fmt.Errorf("%s holds no crawl: give the folder or prefix that the folders of crawls lie in", store)
	}
	if err == nil && len(report.Faults) > 0 {
		err = beginsBelow(ctx, store)
	}
	if err != nil {
		return verified{}, err
	}
	v := verified{
		Archive: store.String(), Segments: report.Segments, GivenBack: report.GivenBack, Records: report.Records, Responses: report.Responses,
		Revisits: report.Revisits, URLs: len(report.Pages), Logged: report.Logged, Derived: report.Derivations, Bytes: report.Bytes, Faults: report.Faults,
		Unnamed: report.Orphans,
	}
	found, err := archive.Sweep(ctx, store, before, sweep)
	v.Unfinished = found.Unfinished
	if sweep && err == nil {
		v.Swept, v.Deleted, v.Freed = true, len(found.Objects)+len(found.Unfinished), found.Bytes
	}
	return v, err
}

// beginsBelow reports, as archive.ErrAbove, that a store is a folder or prefix above one archive or several: none of the objects that its manifests name is there, and each would be a fault.
func beginsBelow(ctx context.Context, store archive.Store) error {
	crawls, err := archive.Crawls(ctx, store)
	if err != nil {
		return err
	}
	errRead := errors.New("a manifest was read")
	var above error
	for _, at := range crawls {
		err := archive.Manifests(ctx, store, at.Prefix, at.Name, func(archive.Manifest) error { return errRead })
		if !errors.Is(err, archive.ErrAbove) {
			return nil // this one is here, and what is wrong with it counts
		}
		above = err
	}
	return above
}

func (v verified) write(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s: %d segments, %s", v.Archive, v.Segments, size(v.Bytes))
	line("  %d records: %d responses and %d revisits of %d URLs; %d lines of the crawl log; %d batches given back", v.Records, v.Responses, v.Revisits, v.URLs, v.Logged, v.GivenBack)
	if v.Derived > 0 {
		line("  %d derivations of segments", v.Derived)
	}
	list := func(what string, names []string) {
		if len(names) > 0 {
			line("  %d %s", len(names), what)
		}
		for _, name := range names {
			line("    %s", name)
		}
	}
	list("objects that no manifest names:", v.Unnamed)
	list("unfinished uploads:", v.Unfinished)
	if v.Swept {
		line("  swept: %d objects, %s", v.Deleted, size(v.Freed))
	}
	list("faults:", v.Faults)
	if len(v.Faults) == 0 {
		line("  no faults")
	}
}

func size(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/room/views"
)

func viewsCommand(g *globals) *cobra.Command {
	o := roomOptions{derive: true}
	rebuild := false
	cmd := &cobra.Command{
		Use: "views ARCHIVE...", Short: "Bring the views of archives up to date: what serve and search find captures by",
		Long: `Bring the views of archives up to date: the catalogue of captures and the search index, which ` + "`muninn serve`" + ` and ` + "`muninn search`" + ` find things by.
ARCHIVE is a folder or s3://bucket/prefix. Both commands do this by themselves; this one ends when it is done, and says what cannot be read.

--rebuild deletes the views first, and builds all of them again from the segments and from what was derived of these. Nothing is lost by that: the archive
stays as it is. A server that has the views open must have ended; of a database, all servers and workers that use it.

  muninn views muninn-data/archive
  muninn views s3://archive/crawls --views postgres://muninn@db.example.org/views --rebuild`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage("give an archive: a folder, or s3://bucket/prefix")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.archives = args
			return g.buildViews(cmd.Context(), o, rebuild, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&rebuild, "rebuild", false, "delete the views first")
	viewsFlags(f, &o)
	o.s3 = s3Flags(cmd)
	return cmd
}

// builtViews is what `views` prints.
type builtViews struct {
	Views    string  `json:"views"` // the folder, or "the database"
	Rebuilt  bool    `json:"rebuilt,omitempty"`
	Segments int     `json:"segments"` // of the archives
	Viewed   int     `json:"viewed"`   // of them, those that are in the views
	Seconds  float64 `json:"seconds"`
}

func (b builtViews) write(w io.Writer) {
	did := "the views in %s are up to date"
	if b.Rebuilt {
		did = "the views in %s are built again"
	}
	_, _ = fmt.Fprintf(w, did+": %d of %d segments, %.1f s\n", b.Views, b.Viewed, b.Segments, b.Seconds)
	if b.Viewed < b.Segments {
		_, _ = fmt.Fprintln(w, "  segments without texts are found by their URLs alone")
	}
}

func (g *globals) buildViews(ctx context.Context, o roomOptions, rebuild bool, report io.Writer) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	begun := time.Now()
	stores, err := o.stores(ctx)
	if err != nil {
		return err
	}
	if rebuild {
		if err := o.delete(ctx, stores); err != nil {
			return interruptedOr(ctx, err)
		}
	}
	v, stale, free, err := o.open(ctx, stores, g.logger(report))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	if err := crawlsIn(v, o.archives); err != nil {
		return err
	}
	lacks, err := upToDate(ctx, v, report)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	where, err := o.where(stores)
	if err != nil {
		return err
	}
	s := v.State()
	built := builtViews{Views: where, Rebuilt: rebuild || stale != "", Segments: s.Segments, Viewed: s.Viewed, Seconds: time.Since(begun).Seconds()}
	return errors.Join(g.Print(built, built.write), lacks)
}

// where names the views without a password.
func (o *roomOptions) where(stores []archive.Store) (string, error) {
	if database, err := o.database(); database != "" || err != nil {
		return "the database", err
	}
	return o.folder(stores)
}

// delete deletes the views of archives that have crawls. A database is deleted only if the command line names it.
func (o *roomOptions) delete(ctx context.Context, stores []archive.Store) error {
	database, err := o.database()
	if err != nil {
		return err
	}
	if database != "" && o.views == "" {
		return cli.Usage("--rebuild: MUNINN_VIEWS has a database: name it by --views, or the folder of the views by --data")
	}
	crawls := 0
	for _, store := range stores {
		list, err := archive.Crawls(ctx, store)
		if err != nil {
			return fmt.Errorf("list the crawls of %s: %w", store, err)
		}
		crawls += len(list)
	}
	if crawls == 0 {
		return noCrawls(o.archives)
	}
	if database != "" {
		return views.DropDatabase(ctx, database)
	}
	dir, release, err := o.lock(stores)
	if err != nil {
		return err
	}
	defer release()
	if err := views.DeleteFolder(filepath.Join(dir, builtFolder)); err != nil {
		return fmt.Errorf("delete views: %w", err)
	}
	return nil
}

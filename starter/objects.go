package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/derive"
)

func objectsCommand() *cobra.Command {
	var s3 *archive.S3
	cmd := &cobra.Command{
		Use: "objects ARCHIVE CRAWL", Short: "Write the web objects of a crawl, with their texts",
		Long: `Write the web objects of a crawl as JSON lines, with the text and the HTML of their bodies, which are read from the
WARC records. ARCHIVE is a folder or s3://bucket/prefix. An object whose text cannot be read is written with its position;
a line on standard error has the reason, and the exit code is 1.

  muninn objects s3://archive/crawls ravens | jq -r 'select(.type == "post") | .properties.body'`,
		Args: cli.CrawlArgs(2, 1, "an archive (a folder, or s3://bucket/prefix) and the name of a crawl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openArchive(cmd.Context(), args[0], *s3)
			if err != nil {
				return err
			}
			w := &objectsWriter{store: store, crawl: args[1], out: json.NewEncoder(cmd.OutOrStdout()), complaints: cmd.ErrOrStderr()}
			w.out.SetEscapeHTML(false)
			if err := w.write(cmd.Context()); err != nil {
				return err
			}
			if w.incomplete > 0 {
				return fmt.Errorf("%s: the texts of %d objects could not be read", store, w.incomplete)
			}
			return nil
		},
	}
	s3 = s3Flags(cmd)
	return cmd
}

// located is where the record of a capture lies.
type located struct {
	warc           string // key
	offset, length int64
}

// objectsWriter writes the objects of a crawl. It holds the positions of the captures that revisits refer to.
type objectsWriter struct {
	store      archive.Store
	crawl      string
	out        *json.Encoder
	complaints io.Writer
	incomplete int

	originals map[string]located // by payload digest: what revisits refer to
}

func (w *objectsWriter) write(ctx context.Context) error {
	if err := w.locate(ctx); err != nil {
		return err
	}
	reader := &derive.Reader{Store: w.store, Stray: w.stray, Originals: func(digest string) (string, int64, int64) {
		at := w.originals[digest]
		return at.warc, at.offset, at.length
	}}
	defer reader.Close()
	segments := 0
	err := archive.Manifests(ctx, w.store, "", w.crawl, func(m archive.Manifest) error {
		if segments++; m.Objects == nil {
			return nil
		}
		begun := false
		err := reader.Each(ctx, m, func(c *derive.Capture) error {
			begun = true
			objects, err := c.Objects(ctx, w.complain)
			for i := 0; i < len(objects) && err == nil; i++ {
				err = w.out.Encode(objects[i])
			}
			return err
		})
		if err != nil && !begun && ctx.Err() == nil { // its pages cannot be read
			return archive.ReadObjects(ctx, w.store, m.Objects.Key, func(o archive.WebObject) error { return w.unread(o, err) })
		}
		return err
	})
	if err == nil && segments == 0 {
		return fmt.Errorf("%s: there is no crawl %q with segments; give the folder or prefix that contains the crawl's folder", w.store, w.crawl)
	}
	return err
}

// complain reports an object whose text cannot be read.
func (w *objectsWriter) complain(o archive.WebObject, err error) {
	w.incomplete++
	_, _ = fmt.Fprintf(w.complaints, "%s of %s: %v\n", o.URL, o.Date.Format("2006-01-02T15:04:05Z"), err)
}

// stray writes an object whose capture the index does not list.
func (w *objectsWriter) stray(o archive.WebObject) error {
	return w.unread(o, errors.New("the index lists no capture with its body"))
}

// unread writes an object whose page cannot be read.
func (w *objectsWriter) unread(o archive.WebObject, err error) error {
	if o.Placed() {
		w.complain(o, err)
	}
	return w.out.Encode(o)
}

// locate finds the captures that revisits of the crawl refer to.
func (w *objectsWriter) locate(ctx context.Context) error {
	w.originals = map[string]located{}
	for _, revisits := range []bool{true, false} {
		err := archive.Manifests(ctx, w.store, "", w.crawl, func(m archive.Manifest) error {
			return archive.ReadIndex(ctx, w.store, m.CDXJ.Key, func(i archive.Indexed) error {
				if _, wanted := w.originals[i.Digest]; i.Revisit == revisits && (revisits || wanted) {
					at := located{m.WARC.Key, i.Offset, i.Length}
					if revisits { // not found yet
						at = located{}
					}
					w.originals[i.Digest] = at
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
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
			defer w.close()
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

// located is the position of a capture.
type located struct {
	warc   string // key
	offset int64
}

// objectsWriter writes the objects of a crawl. It holds one WARC object at a time, and the positions of the captures that revisits
// refer to.
type objectsWriter struct {
	store      archive.Store
	crawl      string
	out        *json.Encoder
	complaints io.Writer
	incomplete int

	originals map[string]located // by payload digest: what revisits refer to
	key       string             // of the WARC object that lies in file
	file      *os.File
}

func (w *objectsWriter) close() {
	if w.file != nil {
		_ = errors.Join(w.file.Close(), os.Remove(w.file.Name()))
	}
}

func (w *objectsWriter) write(ctx context.Context) error {
	if err := w.locate(ctx); err != nil {
		return err
	}
	segments := 0
	err := archive.Manifests(ctx, w.store, "", w.crawl, func(m archive.Manifest) error {
		segments++
		return w.segment(ctx, m)
	})
	if err == nil && segments == 0 {
		return fmt.Errorf("%s: there is no crawl %q with segments; give the folder or prefix that contains the crawl's folder", w.store, w.crawl)
	}
	return err
}

// locate finds the captures that revisits of the crawl refer to.
func (w *objectsWriter) locate(ctx context.Context) error {
	w.originals = map[string]located{}
	for _, revisits := range []bool{true, false} {
		err := archive.Manifests(ctx, w.store, "", w.crawl, func(m archive.Manifest) error {
			return archive.ReadIndex(ctx, w.store, m.CDXJ.Key, func(i archive.Indexed) error {
				if _, wanted := w.originals[i.Digest]; i.Revisit == revisits && (revisits || wanted) {
					w.originals[i.Digest] = located{m.WARC.Key, i.Offset}
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

// segment writes the objects of a segment.
func (w *objectsWriter) segment(ctx context.Context, m archive.Manifest) error {
	if m.Objects == nil {
		return nil
	}
	type capture struct {
		url  string
		date int64 // Unix seconds: the index has no fractions
	}
	at := map[capture]located{}
	err := archive.ReadIndex(ctx, w.store, m.CDXJ.Key, func(i archive.Indexed) error {
		place := located{m.WARC.Key, i.Offset}
		if i.Revisit {
			place = w.originals[i.Digest]
		}
		at[capture{i.URL, i.Date.Unix()}] = place
		return nil
	})
	if err != nil {
		return err
	}
	var last capture
	var doc *page.Document
	return archive.ReadObjects(ctx, w.store, m.Objects.Key, func(o archive.WebObject) error {
		if o.Placed() {
			this := capture{o.URL, o.Date.Unix()}
			var err error
			if doc == nil || this != last {
				if doc, err = w.page(ctx, at[this], o.URL); err != nil && ctx.Err() != nil {
					return ctx.Err()
				}
				last = this
			}
			if err == nil {
				err = extract.Fill(doc, &o.Object)
			}
			if err != nil {
				w.incomplete++
				fmt.Fprintf(w.complaints, "%s of %s: %v\n", o.URL, o.Date.Format("2006-01-02T15:04:05Z"), err)
			}
		}
		return w.out.Encode(o)
	})
}

// page parses an archived page.
func (w *objectsWriter) page(ctx context.Context, at located, url string) (d *page.Document, err error) {
	if at.warc == "" {
		return nil, errors.New("the index lists no capture with its body")
	}
	if err := w.fetch(ctx, at.warc); err != nil {
		return nil, err
	}
	limits := page.DefaultLimits()
	err = archive.ReadWARC(w.file.Name(), at.offset, func(rec archive.Captured) (bool, error) {
		answer, err := rec.Answer()
		if err != nil {
			return false, err
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(answer.Body, int64(limits.DecodedBytes))) // a body that breaks off is parsed up to there
		d = page.Parse(page.Input{URL: url, MIME: answer.Header.Get("Content-Type"), Body: body}, limits)
		return false, nil
	})
	if err == nil && d == nil {
		err = errors.New("there is no record at the offset that the index gives")
	}
	return d, err
}

// fetch copies a WARC object into a file.
func (w *objectsWriter) fetch(ctx context.Context, key string) (err error) {
	if w.file == nil {
		if w.file, err = os.CreateTemp("", "muninn-*.warc.gz"); err != nil {
			return err
		}
	}
	if w.key == key {
		return nil
	}
	w.key = ""
	r, err := w.store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if _, err = w.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(w.file, r)
	if err == nil {
		err = w.file.Truncate(n)
	}
	if err == nil {
		w.key = key
	}
	return err
}

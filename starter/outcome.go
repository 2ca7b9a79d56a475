package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// outcome is how a local crawl ended.
type outcome struct {
	workflows.CrawlResult
	UI       string   `json:"ui,omitempty"`
	WARCs    int      `json:"warc_files"`
	Manifest string   `json:"manifests"`
	data     string   // folder of the WARC files in the archive
	Data     string   `json:"data"`
	Notes    []string `json:"notes,omitempty"`
}

// nothing is the error of a crawl that archived no page.
func (o *outcome) nothing() error {
	if len(o.Ends) == 0 {
		return errors.New("no page was archived")
	}
	last := o.Ends[len(o.Ends)-1]
	return fmt.Errorf("no page was archived; %s: %s", last.URL, last.Reason)
}

// count counts the WARC files of the crawl in the archive.
func (o *outcome) count(ctx context.Context, w *worker.Worker, d crawl.Definition) error {
	store, err := w.Activities().Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return err
	}
	layout := archive.LayoutOf(d)
	o.Manifest, o.data = layout.Manifests(), layout.Data()
	return store.List(ctx, o.Manifest, func(archive.Object) error {
		o.WARCs++
		return nil
	})
}

// topicWordsShown bounds the learned words that are shown.
const topicWordsShown = 12

// write prints the summary for people.
func (o *outcome) write(w io.Writer) {
	t := o.Totals
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("")
	line("The crawl has ended: %s.", o.Reason)
	line("  archived   %d pages, %d of them revisits, %.1f MB on the wire", t.Pages, t.Revisits, float64(t.Bytes)/1e6)
	if text := t.RequisitesText(); text != "" {
		line("             %s", text)
	}
	if since := t.Since(); since != "" {
		line("  since      the runs before: %s", since)
	}
	line("  WARC files %d, in %s/%s", o.WARCs, o.Archive, strings.TrimSuffix(o.data, "/"))
	line("  manifests  %s/%s", o.Archive, o.Manifest)
	line("  harvest    %.2f: %d of %d scored pages are relevant", o.Harvest, t.Relevant, t.Scored)
	if len(o.Harvests) > 0 {
		line("             %s by tenths of the run, %.2f to %.2f", bars(o.Harvests), o.Harvests[0], o.Harvests[len(o.Harvests)-1])
	}
	if o.Report != "" {
		line("  report     %s/%s", o.Archive, o.Report)
	}
	line("  refused    %d URLs by robots.txt, %d by the address guard", t.Robots, t.Refused)
	line("  errors     %d, %d retries, %d failed batches", t.Errors, t.Retries, t.Failed)
	if o.TopicModel != nil && len(o.TopicModel.Terms) > 0 {
		line("  learned    %s", strings.Join(o.TopicModel.TopWords(topicWordsShown), " "))
	}
	if len(o.Top) > 0 {
		line("  most relevant")
		for _, p := range o.Top[:min(10, len(o.Top))] {
			line("    %.3f  %s", p.Score, p.URL)
		}
	}
	writeEnds(line, o.Ends)
	for _, note := range o.Notes {
		line("  %s", note)
	}
	line("  read       `muninn serve --archive %s` opens the reading room: search, text, provenance, replay", o.Archive)
	if strings.HasPrefix(o.UI, "http") {
		line("  next       `muninn dev --data %s` opens this crawl in the Temporal UI again", o.Data)
	}
	if o.Report != "" {
		line("             the report opens in a browser; WARC files in ReplayWeb.page, or `zcat FILE.warc.gz | less`")
	} else {
		line("             WARC files open in ReplayWeb.page, or with `zcat FILE.warc.gz | less`")
	}
}

package export

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Tabled is a table that was exported.
type Tabled struct {
	File   archive.Stored `json:"file"`
	Rows   int            `json:"rows"`
	Passed bool           `json:"passed_over"` // it was there already: File has its key alone
	// Damaged says why parts of the archive cannot be read, of which the table lacks rows or texts.
	Damaged []string `json:"damaged,omitempty"`
}

// tableKey names a table by the order, by the segments that it is made of, and by what it lacks.
func (x *Index) tableKey(o Order, suffix string, bad *damage) string {
	var of strings.Builder
	fmt.Fprintf(&of, "%d %s\n%+v\n", tableVersion, o.Name, o.Keep)
	if o.Chosen != nil {
		fmt.Fprintln(&of, o.Chosen.hash())
	}
	for i := range x.Sources {
		s := &x.Sources[i]
		fmt.Fprintf(&of, "%s/%s/%s %s %s\n", s.Crawl.Prefix, s.Crawl.Name, s.Segment(), s.CDXJ.SHA256, s.WARC.SHA256)
	}
	for _, reason := range slices.Concat(x.Damaged, bad.lines()) {
		fmt.Fprintf(&of, "damaged %s\n", reason)
	}
	return o.Name + "-" + hashOf([]byte(of.String()))[:hashDigits] + suffix
}

// tableVersion is that of the columns of all tables; it counts in their names.
const tableVersion = 1

// The suffixes of tables.
const (
	suffixDecisions = ".decisions.csv"
	suffixCaptures  = ".captures.parquet"
	suffixObjects   = ".objects.parquet"
)

// WriteDecisions writes a CSV (RFC 4180) of what was decided of each capture of some crawls: url, date, decision (keep or drop), by, why, crawl. Its lines are in the order
// of SURT and time.
func WriteDecisions(ctx context.Context, from, to archive.Store, o Order) (Tabled, error) {
	index, err := ReadIndex(ctx, faulty(from), o.Crawls)
	if err != nil {
		return Tabled{}, fmt.Errorf("export decisions: %w", err)
	}
	return index.table(ctx, to, o, suffixDecisions, func(_ context.Context, out io.Writer, _ *damage) (rows int, err error) {
		w := csv.NewWriter(out)
		w.UseCRLF = true
		err = w.Write([]string{"url", "date", "decision", "by", "why", "crawl"})
		decide := index.decider(&o)
		for i := range index.Captures {
			if err != nil {
				return rows, err
			}
			c := &index.Captures[i]
			d, said := decide(c), "drop"
			if d.Keep {
				said = "keep"
			}
			rows++
			err = w.Write([]string{cell(c.URL), c.Date.UTC().Format(time.RFC3339), said, cell(d.By), cell(d.Why), index.Sources[c.Source].Crawl.Name})
		}
		w.Flush()
		return rows, w.Error()
	})
}

// cell keeps a text that people have written from being a formula of a spreadsheet.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// table stores what a function writes, unless it is there.
func table(ctx context.Context, to archive.Store, key string, write func(context.Context, io.Writer) (rows int, err error)) (t Tabled, err error) {
	there, err := exists(ctx, to, key)
	if err != nil || there {
		return Tabled{File: archive.Stored{Key: key}, Passed: there}, err
	}
	t.File, err = put(ctx, to, key, archive.UnknownSize, func(ctx context.Context, out io.Writer) (err error) {
		t.Rows, err = write(ctx, out)
		return err
	})
	if err != nil {
		err = fmt.Errorf("export %s: %w", key, err)
	}
	return t, err
}

// exists reports whether a store has an object.
func exists(ctx context.Context, store archive.Store, key string) (there bool, err error) {
	err = store.List(ctx, key, func(o archive.Object) error {
		there = there || o.Key == key
		return nil
	})
	return there, err
}

package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/pdf"
)

// derivation is what `derive` prints.
type derivation struct {
	Archive  string   `json:"archive,omitempty"`
	Crawls   int      `json:"crawls"`
	Segments int64    `json:"segments"` // that were derived now
	Captures int64    `json:"captures"`
	Lines    int64    `json:"lines"`
	Failed   int64    `json:"failed"` // captures that could not be understood
	Bytes    int64    `json:"bytes"`
	Seconds  float64  `json:"seconds"`
	Damaged  []string `json:"damaged,omitempty"`
}

func (d *derivation) write(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s: derived %s of %s in %.1f s", d.Archive, cli.Count(int(d.Segments), "segment"), cli.Count(d.Crawls, "crawl"), d.Seconds)
	line("  %d captures, %d lines, %s", d.Captures, d.Lines, size(d.Bytes))
	if d.Failed > 0 {
		line("  %d captures could not be understood: the manifests of the derivations name them", d.Failed)
	}
	for _, text := range d.Damaged {
		line("  damaged: %s", text)
	}
}

// deriveHere derives the crawls of an archive on this machine.
func (g *globals) deriveHere(ctx context.Context, where, crawl string, list []derive.Step, s3 archive.S3, report io.Writer) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	if _, err := openArchive(ctx, where, s3); err != nil { // it is not made here
		return err
	}
	store, err := archive.Open(ctx, where, s3)
	if err != nil {
		return err
	}
	store = archive.Faults(store)
	crawls, err := archive.Crawls(ctx, store)
	if err != nil {
		return err
	}
	if crawl != "" {
		crawls = named(crawls, crawl)
	}
	if len(crawls) == 0 && crawl != "" {
		return fmt.Errorf("%s: there is no crawl %q with segments; give the folder or prefix that contains the crawl's folder", store, crawl)
	}
	if len(crawls) == 0 {
		return fmt.Errorf("%s holds no crawl: give the folder or prefix that the folders of crawls lie in", store)
	}
	d := &localDerivation{Deriver: derive.Deriver{Store: store, PDF: pdf.New(pdf.DefaultLimits()).Read, Now: time.Now}, report: report, begun: time.Now()}
	d.sum.Archive, d.sum.Crawls = store.String(), len(crawls)
	for _, at := range crawls {
		for _, step := range list {
			if err = errors.Join(err, d.all(ctx, at, step)); ctx.Err() != nil {
				return interruptedOr(ctx, err)
			}
		}
	}
	d.sum.Seconds = time.Since(d.begun).Seconds()
	if n := len(d.sum.Damaged); n > 0 {
		err = errors.Join(err, fmt.Errorf("%s: %s could not be read: muninn verify says what is wrong", store, cli.Count(n, "segment")))
	}
	return errors.Join(g.Print(&d.sum, d.sum.write), err)
}

func named(crawls []archive.CrawlAt, name string) (list []archive.CrawlAt) {
	for _, c := range crawls {
		if c.Name == name {
			list = append(list, c)
		}
	}
	return list
}

// localDerivation derives segments on this machine.
type localDerivation struct {
	derive.Deriver
	report io.Writer
	begun  time.Time
	shown  time.Time
	sum    derivation
}

// How segments are derived on this machine: each takes the memory of a page and its tree.
const (
	derivedHere = 4               // at a time, at most
	derivedPage = 1000            // that are listed at a time
	deriveShow  = 5 * time.Second // between two lines of progress
)

// all derives what a step has not yet of a crawl. A segment that is damaged does not keep others from being derived.
func (d *localDerivation) all(ctx context.Context, at archive.CrawlAt, step derive.Step) error {
	after, more := "", true
	for more && ctx.Err() == nil {
		segments, further, err := derive.Pending(ctx, d.Store, at, step, after, derivedPage)
		if err != nil {
			return err
		}
		if err := d.some(ctx, at, step, segments); err != nil {
			return err
		}
		if more = further && len(segments) > 0; more {
			after = segments[len(segments)-1]
		}
	}
	return ctx.Err()
}

// derivedSegment is what became of a segment.
type derivedSegment struct {
	segment string
	result  derive.Result
	err     error
}

// some derives segments, some at a time.
func (d *localDerivation) some(ctx context.Context, at archive.CrawlAt, step derive.Step, segments []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	todo, done := make(chan string), make(chan derivedSegment)
	go func() {
		defer close(todo)
		for _, s := range segments {
			select {
			case todo <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	var running sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), derivedHere) {
		running.Go(func() {
			for s := range todo {
				result, err := d.Segment(ctx, at, s, step)
				done <- derivedSegment{s, result, err}
			}
		})
	}
	go func() {
		running.Wait()
		close(done)
	}()
	var failed error
	for r := range done {
		switch {
		case r.err != nil && archive.Damaged(r.err):
			d.sum.Damaged = append(d.sum.Damaged, fmt.Sprintf("%s/%s: %v", at.Name, r.segment, r.err))
		case r.err != nil:
			if failed == nil {
				failed = r.err
			}
			cancel()
		case !r.result.Known:
			d.add(r.result)
		}
		d.show(at, step)
	}
	return failed
}

func (d *localDerivation) add(r derive.Result) {
	d.sum.Segments++
	d.sum.Captures += int64(r.Captures)
	d.sum.Lines += int64(r.Lines)
	d.sum.Failed += int64(r.Failed)
	if r.Data != nil {
		d.sum.Bytes += r.Data.Bytes
	}
}

// show prints a line of progress from time to time.
func (d *localDerivation) show(at archive.CrawlAt, step derive.Step) {
	if now := time.Now(); now.Sub(d.begun) >= deriveShow && now.Sub(d.shown) >= deriveShow {
		d.shown = now
		_, _ = fmt.Fprintf(d.report, "%s of %s: %d segments, %d captures, %.0f captures/s\n", step.Name, at.Name, d.sum.Segments, d.sum.Captures, float64(d.sum.Captures)/now.Sub(d.begun).Seconds())
	}
}

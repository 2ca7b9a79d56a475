package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
)

// ErrorDamaged is the type of the error of a segment that can be read by no attempt.
const ErrorDamaged = "ArchiveIsDamaged"

// DerivedFrom is a crawl in an archive, and a step.
type DerivedFrom struct {
	Archive string `json:"archive,omitempty"` // empty: that of the worker
	Prefix  string `json:"prefix,omitempty"`
	Crawl   string `json:"crawl"`
	Step    string `json:"step"` // its name
}

func (d DerivedFrom) check() error {
	return firstError(checkSteps(d.Step), checkCrawl(d.Crawl), checkPrefix(d.Prefix))
}

func (d DerivedFrom) at() archive.CrawlAt {
	return archive.CrawlAt{Prefix: d.Prefix, Name: d.Crawl}
}

// DerivableInput asks which crawls an archive has.
type DerivableInput struct {
	Archive string   `json:"archive,omitempty"`
	Prefix  string   `json:"prefix,omitempty"` // of Crawls
	Crawls  []string `json:"crawls,omitempty"` // empty: all, under any prefix
	Steps   []string `json:"steps"`            // names
}

// checkSteps checks the names of steps.
func checkSteps(list ...string) error {
	if len(list) == 0 {
		return errors.New("no step is named")
	}
	_, err := derive.Named(list...)
	return err
}

func (in DerivableInput) check() error {
	err := firstError(checkSteps(in.Steps...), checkPrefix(in.Prefix))
	for _, name := range in.Crawls {
		err = firstError(err, checkCrawl(name))
	}
	if len(in.Crawls) == 0 && in.Prefix != "" {
		err = firstError(err, errors.New("a prefix without crawls: all crawls of an archive are derived under whatever prefix"))
	}
	return err
}

// MaxDerivable bounds the crawls of a Derive workflow: their names stand in its history.
const MaxDerivable = 1000

// Derivable lists the crawls and steps of a derivation, in the order of names.
func (a *Activities) Derivable(ctx context.Context, in DerivableInput) (list []DerivedFrom, err error) {
	steps, err := derive.Named(in.Steps...)
	if err != nil {
		return nil, &crawl.InputError{Message: err.Error()}
	}
	store, err := a.Archives.Open(ctx, in.Archive)
	if err != nil {
		return nil, err
	}
	var crawls []archive.CrawlAt
	for _, name := range in.Crawls {
		crawls = append(crawls, archive.CrawlAt{Prefix: in.Prefix, Name: name})
	}
	if len(crawls) == 0 {
		if crawls, err = archive.Crawls(ctx, store); err != nil {
			return nil, err
		}
	}
	if len(crawls) > MaxDerivable {
		return nil, &crawl.InputError{Message: "the archive has more crawls than one workflow derives: name those that it is to derive"}
	}
	for _, at := range crawls {
		for _, s := range steps {
			list = append(list, DerivedFrom{Archive: in.Archive, Prefix: at.Prefix, Crawl: at.Name, Step: s.Name})
		}
	}
	return list, nil
}

// PendingInput asks for segments that a step has not derived.
type PendingInput struct {
	DerivedFrom
	After  string `json:"after,omitempty"` // the cursor: the last segment that was listed
	Most   int    `json:"most"`
	Follow bool   `json:"follow,omitempty"` // say whether the crawl runs, too
}

// PendingSegments are segments that a step has not derived, by their names.
type PendingSegments struct {
	Segments []string `json:"segments,omitempty"`
	More     bool     `json:"more,omitempty"` // there are further ones behind the last
	// Views says that workers add what is derived to the views of a database.
	Views bool `json:"views,omitempty"`
	// Runs says that the crawl ran before the segments were listed: further ones may come.
	Runs bool `json:"runs,omitempty"`
}

// MaxPending bounds the segments of a listing: they stand in the history of a workflow.
const MaxPending = 500

// Pending lists segments that a step has not derived yet.
func (a *Activities) Pending(ctx context.Context, in PendingInput) (out PendingSegments, err error) {
	store, step, err := a.derives(ctx, in.DerivedFrom)
	if err != nil {
		return out, err
	}
	if in.Follow {
		if out.Runs, err = a.isOpen(ctx, names.CrawlID(in.Crawl), ""); err != nil {
			return out, err
		}
	}
	out.Views = a.Database != nil && step.Name == derive.Text.Name
	out.Segments, out.More, err = derive.Pending(ctx, store, in.at(), step, in.After, min(max(in.Most, 1), MaxPending))
	return out, err
}

// DeriveInput names a segment that a step is to derive.
type DeriveInput struct {
	DerivedFrom
	Segment string `json:"segment"`
}

// DeriveResult counts what a step has derived of a segment.
type DeriveResult struct {
	Captures int   `json:"captures"`
	Lines    int   `json:"lines"`
	Failed   int   `json:"failed,omitempty"`
	Bytes    int64 `json:"bytes,omitempty"` // of the data
	Known    bool  `json:"known,omitempty"` // it was derived before
}

// Derive has a step derive a segment, unless it has. It is idempotent: the manifest of a derivation is put if there is none.
func (a *Activities) Derive(ctx context.Context, in DeriveInput) (out DeriveResult, err error) {
	store, step, err := a.derives(ctx, in.DerivedFrom)
	if err != nil {
		return out, err
	}
	d := &derive.Deriver{Store: store, Dir: a.Spool.TempDir(), Now: a.Now}
	if a.Engine != nil && a.Engine.PDF != nil {
		d.PDF = a.Engine.PDF.Read
	}
	r, err := d.Segment(ctx, in.at(), in.Segment, step)
	var damaged *archive.DamagedError
	if errors.As(err, &damaged) || errors.Is(err, archive.ErrNotFound) {
		return out, temporal.NewNonRetryableApplicationError(err.Error(), ErrorDamaged, err)
	}
	if err != nil {
		return out, err
	}
	if r.Failed > 0 && !r.Known {
		activity.GetLogger(ctx).Warn("captures could not be understood", "step", step, "segment", in.Segment, "captures", r.Failed, "first", r.Failures[0])
	}
	out = DeriveResult{Captures: r.Captures, Lines: r.Lines, Failed: r.Failed, Known: r.Known}
	if r.Data != nil {
		out.Bytes = r.Data.Bytes
	}
	return out, nil
}

// derives opens the archive of a derivation, and finds its step.
func (a *Activities) derives(ctx context.Context, d DerivedFrom) (archive.Store, derive.Step, error) {
	steps, err := derive.Named(d.Step)
	if err != nil {
		return nil, derive.Step{}, &crawl.InputError{Message: err.Error()}
	}
	store, err := a.Archives.Open(ctx, d.Archive)
	return store, steps[0], err
}

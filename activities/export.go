package activities

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
)

// Exported says what is exported, and to where.
type Exported struct {
	Archive string `json:"archive,omitempty"` // empty: that of the worker
	To      string `json:"to"`                // a folder, or s3://bucket/prefix
	export.Order
}

func (e Exported) check() error {
	err := e.ExportPlaces().check()
	for _, at := range e.Crawls {
		err = firstError(err, checkPrefix(at.Prefix), checkCrawl(at.Name))
	}
	return firstError(err, e.Validate())
}

// ExportPlaces are the stores of an export.
func (e Exported) ExportPlaces() ExportPlaces { return ExportPlaces{e.Archive, e.To} }

// ExportPlaces are the stores of an export.
type ExportPlaces struct {
	Archive string `json:"archive,omitempty"`
	To      string `json:"to"`
}

func (p ExportPlaces) check() error {
	if p.To == "" {
		return errors.New("to: name the folder or s3://bucket/prefix that is exported to")
	}
	if err := export.CheckPlace(p.To); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	return nil
}

// exportStores opens the stores of an export. The worker must be allowed to use both.
func (a *Activities) exportStores(ctx context.Context, p ExportPlaces) (from, to archive.Store, err error) {
	if from, err = a.Archives.Open(ctx, p.Archive); err != nil {
		return nil, nil, err
	}
	if err := export.CheckApart(from.String(), p.To); err != nil { // before a folder is made
		return nil, nil, &crawl.InputError{Message: "to: " + err.Error()}
	}
	var input *crawl.InputError
	switch to, err = a.Archives.Open(ctx, p.To); {
	case errors.As(err, &input): // it speaks of a definition's archive.where
		return nil, nil, &crawl.InputError{Message: "to: " + strings.TrimPrefix(err.Error(), "archive.where: ")}
	case err != nil:
		return nil, nil, err
	}
	return from, to, nil
}

// PlanExport finds out what an export consists of, and stores the plans of its parts.
func (a *Activities) PlanExport(ctx context.Context, in Exported) (export.Planned, error) {
	from, to, err := a.exportStores(ctx, in.ExportPlaces())
	if err != nil {
		return export.Planned{}, err
	}
	planned, err := export.Plan(ctx, from, to, in.Order, nil)
	return planned, exportError(err)
}

// PartsInput asks for the parts of an export.
type PartsInput struct {
	ExportPlaces
	Outline string `json:"outline"` // key
	From    int    `json:"from"`    // the first, from 0
	Most    int    `json:"most"`
}

func (in PartsInput) check() error {
	return firstError(in.ExportPlaces.check(), checkExportKey(in.Outline))
}

// MaxParts bounds the parts of a listing: they stand in the history of a workflow.
const MaxParts = 500

// ListParts lists the plans of parts of an export.
func (a *Activities) ListParts(ctx context.Context, in PartsInput) (plans []string, err error) {
	_, to, err := a.exportStores(ctx, in.ExportPlaces)
	if err != nil {
		return nil, err
	}
	outline, err := export.ReadOutline(ctx, to, in.Outline)
	if err != nil {
		return nil, exportError(err)
	}
	first := min(max(in.From, 0), len(outline.Parts))
	for _, p := range outline.Parts[first:min(first+min(max(in.Most, 1), MaxParts), len(outline.Parts))] {
		plans = append(plans, p.Plan)
	}
	return plans, nil
}

// PartInput names a part of an export by its plan.
type PartInput struct {
	ExportPlaces
	Plan string `json:"plan"` // key
}

func (in PartInput) check() error {
	return firstError(in.ExportPlaces.check(), checkExportKey(in.Plan))
}

// PartResult counts what was written of a part.
type PartResult struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	Passed  bool  `json:"passed,omitempty"` // it was there already
}

// ExportPart writes a part of an export, unless it is there. It is idempotent: the plan of a part decides its bytes.
func (a *Activities) ExportPart(ctx context.Context, in PartInput) (out PartResult, err error) {
	from, to, err := a.exportStores(ctx, in.ExportPlaces)
	if err != nil {
		return out, err
	}
	w, err := export.WritePart(ctx, from, to, in.Plan)
	if err != nil {
		return out, exportError(err)
	}
	out = PartResult{Records: w.Records, Passed: w.Passed}
	for _, f := range w.Files {
		out.Bytes += f.Bytes
	}
	return out, nil
}

// FinishInput names an export by its outline.
type FinishInput struct {
	ExportPlaces
	Outline string `json:"outline"` // key
}

func (in FinishInput) check() error {
	return firstError(in.ExportPlaces.check(), checkExportKey(in.Outline))
}

// FinishExport puts the manifest of an export, all of whose parts are written.
func (a *Activities) FinishExport(ctx context.Context, in FinishInput) (export.Result, error) {
	_, to, err := a.exportStores(ctx, in.ExportPlaces)
	if err != nil {
		return export.Result{}, err
	}
	key, m, err := export.Finish(ctx, to, in.Outline)
	if err != nil {
		return export.Result{}, exportError(err)
	}
	return m.Result(key), nil
}

// checkExportKey checks the name of a file of an export, which lies in no folder.
func checkExportKey(key string) error {
	if key == "" || path.Base(key) != key || strings.HasPrefix(key, ".") {
		return fmt.Errorf("%q is no file of an export", key)
	}
	return nil
}

// exportError makes what no attempt can change an error that is not retried: a crawl that is not there, and a source that is damaged.
func exportError(err error) error {
	switch {
	case errors.Is(err, export.ErrNoCrawl), errors.Is(err, export.ErrForeign):
		return &crawl.InputError{Message: err.Error()}
	case err != nil && archive.Damaged(err):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorDamaged, err)
	}
	return err
}

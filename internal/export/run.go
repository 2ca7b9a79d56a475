package export

import (
	"context"
	"fmt"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Result is what an export has written.
type Result struct {
	Manifest string `json:"manifest"` // key
	Parts    int    `json:"parts"`
	Passed   int    `json:"passed_over"` // parts that were there already
	Records  int    `json:"records"`
	Captures int    `json:"captures"`
	Bytes    int64  `json:"bytes"`
	Missing  int    `json:"missing"`
	List     string `json:"missing_list,omitempty"` // key of the list of what is missing
	Damaged  int    `json:"damaged_segments"`
	// Groups are the groups of records by the reason for which they are exported.
	Groups map[Why]int `json:"groups"`
}

// Progress is called with what an export does.
type Progress func(done, parts int, what string)

// Run exports in this process: it plans, writes the parts one after the other, and puts the manifest.
func Run(ctx context.Context, from, to archive.Store, o Order, progress Progress) (Result, error) {
	if progress == nil {
		progress = func(int, int, string) {}
	}
	planned, err := Plan(ctx, from, to, o, func(segment string) { progress(0, 0, "reading segment "+segment) })
	if err != nil {
		return Result{}, err
	}
	outline, err := ReadOutline(ctx, to, planned.Outline)
	if err != nil {
		return Result{}, fmt.Errorf("export: %w", err)
	}
	out := Result{}
	for i, p := range outline.Parts {
		progress(i, len(outline.Parts), "writing part "+p.Plan)
		w, err := WritePart(ctx, from, to, p.Plan)
		if err != nil {
			return out, err
		}
		if w.Passed {
			out.Passed++
		}
	}
	key, m, err := Finish(ctx, to, planned.Outline)
	if err != nil {
		return out, err
	}
	passed := out.Passed
	out = m.Result(key)
	out.Passed = passed
	return out, nil
}

// Result sums up a manifest, which has a key.
func (m *Manifest) Result(key string) Result {
	out := Result{Manifest: key, Parts: len(m.Written), Captures: m.Captures, Bytes: m.Bytes, Missing: m.Lacks, Damaged: m.Damaged, Groups: m.Groups}
	if m.Missing != nil {
		out.List = m.Missing.Key
	}
	for _, w := range m.Written {
		out.Records += w.Records
	}
	return out
}

package derive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// ManifestVersion is the version of the manifest's form.
const ManifestVersion = 1

// maxManifest bounds a manifest in bytes.
const maxManifest = 256 << 10

// Manifest commits what a step has derived of a segment. Data that no manifest names is not derived.
type Manifest struct {
	Version     int       `json:"version"`
	Step        string    `json:"step"`
	StepVersion int       `json:"step_version"`
	Crawl       string    `json:"crawl"`
	Segment     string    `json:"segment"`
	Run         uint32    `json:"run,omitempty"` // of the crawl; 0 if the segment does not name it
	Created     time.Time `json:"created"`       // of the derivation
	// GivenBack says that the batch of the segment was given back: there is nothing to derive, and never will be.
	GivenBack bool            `json:"given_back,omitempty"`
	Data      *archive.Stored `json:"data,omitempty"` // JSON lines, compressed by zstd; nil if the step has said nothing
	Counts
}

// Counts are the numbers of a derivation.
type Counts struct {
	Captures int `json:"captures"` // of the segment, robots.txt and revisits included
	Lines    int `json:"lines"`    // captures of which the step has said something
	Failed   int `json:"failed,omitempty"`
	// Failures are the first captures that could not be understood, with the reason.
	Failures []string `json:"failures,omitempty"`
}

// layoutOf makes the keys of a crawl.
func layoutOf(at archive.CrawlAt) archive.Layout {
	return archive.Layout{Prefix: at.Prefix, Crawl: at.Name}
}

// ReadManifest returns the manifest of what a step has derived of a segment: archive.ErrNotFound if it has not yet.
func ReadManifest(ctx context.Context, store archive.Store, at archive.CrawlAt, step Step, segment string) (m Manifest, err error) {
	key := layoutOf(at).Derivation(step.Name, step.Version, segment)
	raw, err := archive.ReadAll(ctx, store, key, maxManifest)
	if err != nil {
		return m, err
	}
	if err = json.Unmarshal(raw, &m); err == nil && (m.Step != step.Name || m.StepVersion != step.Version || m.Segment != segment || m.Crawl != at.Name) {
		err = fmt.Errorf("it is that of step %s-%d, segment %q of crawl %q", m.Step, m.StepVersion, m.Segment, m.Crawl)
	}
	if err != nil {
		return Manifest{}, &archive.DamagedError{Err: fmt.Errorf("read %s: %w", key, err)}
	}
	return m, nil
}

// Read calls fn with each line that a step has derived of a segment, in the order of the captures: archive.ErrNotFound if it has derived nothing yet. T is the type of the
// step's lines. Data that is not what the manifest says is an archive.DamagedError; fn may have been called by then.
func Read[T any](ctx context.Context, store archive.Store, at archive.CrawlAt, step Step, segment string, fn func(*T) error) error {
	m, err := ReadManifest(ctx, store, at, step, segment)
	if err != nil || m.Data == nil {
		return err
	}
	checked := archive.Verified(store, *m.Data)
	return archive.ReadLines(ctx, checked, m.Data.Key, func(text []byte) error {
		var line T
		if err := json.Unmarshal(text, &line); err != nil {
			return &archive.DamagedError{Err: fmt.Errorf("read %s: %w", m.Data.Key, err)}
		}
		return fn(&line)
	})
}

// Segments calls fn with the name of each segment of a crawl that a step has derived something of, in the order of keys. Those of batches that were given back are among them: their
// manifests name no data.
func Segments(ctx context.Context, store archive.Store, at archive.CrawlAt, step Step, fn func(segment string) error) error {
	err := store.List(ctx, layoutOf(at).Derivations(step.Name, step.Version), func(o archive.Object) error {
		if segment, is := archive.SegmentOf(o.Key); is {
			return fn(segment)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list what %s has derived of %s: %w", step, at.Name, err)
	}
	return nil
}

// put puts a manifest; that of another attempt which was first is returned in its place.
func put(ctx context.Context, store archive.Store, at archive.CrawlAt, step Step, m Manifest) (Manifest, error) {
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return m, err
	}
	err = store.PutIfAbsent(ctx, layoutOf(at).Derivation(step.Name, step.Version, m.Segment), raw)
	if !errors.Is(err, archive.ErrExists) {
		return m, err
	}
	return ReadManifest(ctx, store, at, step, m.Segment)
}

package activities

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// MaxSeedFile bounds a file of seeds, in lines.
const MaxSeedFile = 1_000_000

// Members names the workers that take part. It runs on the shared queue: whoever takes it takes part.
func (a *Activities) Members(context.Context) ([]Member, error) {
	return []Member{{Worker: a.Settings.Worker, Queue: a.queue()}}, nil
}

// Begin begins a run: it checks the archive, opens the crawl in the frontier, keeps the definition
// in the archive and queues the seeds. Going on with a run does no harm.
func (a *Activities) Begin(ctx context.Context, in BeginInput) (BeginResult, error) {
	defer a.beat(ctx)()
	d := in.Definition
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return BeginResult{}, edge(err)
	}
	found, err := seeds(d)
	if err != nil {
		return BeginResult{}, edge(err)
	}
	run, err := a.Frontier.Begin(d.Name, in.Owner, d, false)
	if errors.Is(err, frontier.ErrBusy) && a.abandoned(ctx, d.Name) {
		run, err = a.Frontier.Begin(d.Name, in.Owner, d, true)
	}
	if err != nil {
		return BeginResult{}, edge(err)
	}
	if err := a.keepDefinition(ctx, store, d, run); err != nil {
		return BeginResult{}, edge(err)
	}
	activity.RecordHeartbeat(ctx, "queueing seeds")
	if run > 1 {
		if err := a.Frontier.Recrawl(d.Name, fmt.Sprintf("recrawl-%d", run)); err != nil {
			return BeginResult{}, edge(err)
		}
	}
	if err := a.Frontier.Submit(d.Name, fmt.Sprintf("seeds-%d", run), found); err != nil {
		return BeginResult{}, edge(err)
	}
	return BeginResult{Run: run, Seeds: len(found), Archive: store.String()}, nil
}

// abandoned tells whether the workflow that the run belongs to has ended without ending it: it was
// terminated, or failed.
func (a *Activities) abandoned(ctx context.Context, name string) bool {
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return true
	}
	workflow, run, _ := strings.Cut(plan.Owner, "@")
	open, err := a.isOpen(ctx, workflow, run)
	return err == nil && !open
}

func (a *Activities) keepDefinition(ctx context.Context, store archive.Store, d crawl.Definition, run uint32) error {
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	key := path.Join(d.Archive.Prefix, d.Name, "definitions", fmt.Sprintf("run-%d.json", run))
	if err := store.PutIfAbsent(ctx, key, raw); err != nil && !errors.Is(err, archive.ErrExists) {
		return err
	}
	return nil
}

// seeds lists what a definition starts from: its seeds, and the example pages that it names by URL.
func seeds(d crawl.Definition) ([]crawl.Discovery, error) {
	var found []crawl.Discovery
	add := func(raw, where string, hop byte, score float64) error {
		u, err := urls.Parse(raw)
		if err != nil {
			return &InputError{fmt.Sprintf("%s: %q: %v", where, raw, err)}
		}
		found = append(found, crawl.Discovery{URL: u.String(), Path: string(rune(hop)), Score: score})
		return nil
	}
	for i, s := range d.Seeds {
		where := fmt.Sprintf("seeds[%d]", i)
		var err error
		switch {
		case s.URL != "":
			err = add(s.URL, where, crawl.HopSeed, 1)
		case s.Sitemap != "":
			err = add(s.Sitemap, where, crawl.HopSeed, 1)
		default:
			err = seedFile(s.File, func(line int, url string) error {
				return add(url, fmt.Sprintf("%s, line %d", s.File, line), crawl.HopSeed, 1)
			})
		}
		if err != nil {
			return nil, err
		}
	}
	for i, e := range d.Topic.Examples {
		if e.URL != "" {
			if err := add(e.URL, fmt.Sprintf("topic.examples[%d]", i), crawl.HopSeed, 1); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func seedFile(name string, add func(line int, url string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return &InputError{fmt.Sprintf("seeds: the file is read by the worker: %v", err)}
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n > MaxSeedFile {
			return &InputError{fmt.Sprintf("%s has more than %d lines", name, MaxSeedFile)}
		}
		text, _, _ := strings.Cut(lines.Text(), " #")
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		if err := add(n, text); err != nil {
			return err
		}
	}
	return lines.Err()
}

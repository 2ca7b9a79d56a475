package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Members names the workers that take part. It runs on the shared queue: whoever takes it takes part.
func (a *Activities) Members(context.Context) ([]Member, error) {
	return []Member{{Worker: a.Settings.Worker, Queue: a.queue()}}, nil
}

// Begin begins a run: it checks the archive, opens the crawl in the frontier, keeps the definition
// in the archive and queues the seeds. Going on with a run does no harm.
func (a *Activities) Begin(ctx context.Context, in BeginInput) (BeginResult, error) {
	d := in.Definition
	if err := a.Helper.Refresh(true); err != nil { // no crawl starts on a broken base
		return BeginResult{}, err
	}
	if err := a.checkFiles(d); err != nil {
		return BeginResult{}, err
	}
	for _, w := range d.Warnings() {
		activity.GetLogger(ctx).Warn("the definition may not be meant so", "crawl", d.Name, "field", w.Path, "why", w.Message)
	}
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return BeginResult{}, err
	}
	found, bounding, err := seeds(d)
	if err != nil {
		return BeginResult{}, err
	}
	if err := a.inherit(ctx, store, d); err != nil {
		return BeginResult{}, err
	}
	run, err := a.Frontier.Begin(d.Name, in.Owner, d, bounding, false)
	if errors.Is(err, frontier.ErrBusy) && a.abandoned(ctx, d.Name) {
		run, err = a.Frontier.Begin(d.Name, in.Owner, d, bounding, true)
	}
	if err != nil {
		return BeginResult{}, err
	}
	if err := a.keepDefinition(ctx, store, d, run); err != nil {
		return BeginResult{}, err
	}
	plan, err := a.Frontier.Plan(d.Name)
	if err != nil {
		return BeginResult{}, err
	}
	if plan.Restore {
		if _, _, err := a.settleArchive(ctx, d); err != nil {
			return BeginResult{}, err
		}
		if err := a.restore(ctx, store, d); err != nil {
			return BeginResult{}, err
		}
	}
	if len(plan.Learned) == 0 {
		if err := a.showExamples(plan, nil); err != nil {
			return BeginResult{}, err
		}
	}
	activity.RecordHeartbeat(ctx, "queueing seeds")
	if run > 1 {
		if err := a.Frontier.Recrawl(d.Name, fmt.Sprintf("recrawl-%d", run)); err != nil {
			return BeginResult{}, err
		}
	}
	// whoever takes a run over may bring other seeds
	if err := a.Frontier.Submit(d.Name, fmt.Sprintf("seeds-%d-%s", run, in.Owner), found); err != nil {
		return BeginResult{}, err
	}
	_, former, err := a.settleArchive(ctx, d)
	if err != nil {
		return BeginResult{}, err
	}
	out := BeginResult{Run: run, Seeds: len(found), Archive: store.String()}
	if former != nil {
		out.Former = former.String()
	}
	return out, nil
}

// showExamples shows an order that learns what the definition gives as examples, and samples that are of the topic.
func (a *Activities) showExamples(plan frontier.Plan, samples []score.Sample) error {
	name := plan.Definition.Name
	if a.Frontier.Learner(name) == nil {
		return nil
	}
	judge, err := a.judge(name, plan)
	if err != nil {
		return err
	}
	score.BestFirst(samples)
	if examples := judge.Examples(samples); len(examples) > 0 {
		return a.Frontier.Teach(name, nil, examples)
	}
	return nil
}

// checkFiles tells whether a crawl may read the files that it names, and whether its order has the thesaurus that it needs.
func (a *Activities) checkFiles(d crawl.Definition) error {
	if err := a.Allow.files(d); err != nil {
		return err
	}
	if err := score.CheckThesaurus(d.Order); err != nil {
		return &InputError{err.Error()}
	}
	return nil
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

// layout makes the keys of a crawl.
func layout(d crawl.Definition) archive.Layout {
	return archive.Layout{Prefix: d.Archive.Prefix, Crawl: d.Name}
}

// keepDefinition keeps the definition in the archive; one that goes on with a run under other terms gets
// a name of its own.
func (a *Activities) keepDefinition(ctx context.Context, store archive.Store, d crawl.Definition, run uint32) error {
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	key := layout(d).Definition(run)
	err = store.PutIfAbsent(ctx, key, raw)
	if !errors.Is(err, archive.ErrExists) {
		return err
	}
	before, err := archive.ReadAll(ctx, store, key, crawl.MaxDefinition)
	if err != nil || bytes.Equal(before, raw) {
		return err
	}
	err = store.PutIfAbsent(ctx, layout(d).ChangedDefinition(run, raw), raw)
	if errors.Is(err, archive.ErrExists) {
		return nil
	}
	return err
}

// seeds lists what a definition starts from: its seeds, which may bound the scope, and the example pages
// and paths that it names by URL.
func seeds(d crawl.Definition) (found []crawl.Discovery, bounding []string, err error) {
	shown := func(raw, where string) string { return fmt.Sprintf("%s: %q", where, crawl.HideUser(raw)) }
	add := func(raw, where string, hop crawl.Hop, score float64) error {
		u, err := urls.ParseSeed(raw)
		if err != nil {
			return &InputError{fmt.Sprintf("%s is no URL to crawl: %v", where, reason(err))}
		}
		found = append(found, crawl.Discovery{URL: u.String(), Path: hop.String(), Score: score})
		return nil
	}
	for i, s := range d.Seeds {
		where := fmt.Sprintf("seeds[%d]", i)
		switch {
		case s.URL != "":
			err = add(s.URL, shown(s.URL, where), crawl.HopSeed, 1)
		case s.Sitemap != "":
			err = add(s.Sitemap, shown(s.Sitemap, where), crawl.HopSeed, 1)
		default:
			err = seedFile(s.File, func(line int, url string) error {
				return add(url, fmt.Sprintf("%s, line %d", s.File, line), crawl.HopSeed, 1)
			})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, s := range found {
		bounding = append(bounding, s.URL)
	}
	for _, n := range d.Topic.Named() {
		if err := add(n.URL, shown(n.URL, n.Field), crawl.HopSeed, 1); err != nil {
			return nil, nil, err
		}
	}
	return found, bounding, nil
}

func seedFile(name string, add func(line int, url string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return &InputError{fmt.Sprintf("seeds: the file is read by the worker: %v", err)}
	}
	defer func() { _ = f.Close() }()
	list, err := urls.ReadList(name, f)
	if err != nil {
		return &InputError{err.Error()}
	}
	for _, l := range list {
		if err := add(l.Number, l.Text); err != nil {
			return err
		}
	}
	return nil
}

// reason tells what is wrong with a URL without the URL itself: a file that was named by mistake may hold
// what must not get into a log.
func reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

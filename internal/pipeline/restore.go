package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Inherit makes a crawl known whose frontier is lost with a disk, if the archive has earlier runs of it. It is an InputError if those were
// spread and it is not, or the other way round.
func (e *Engine) Inherit(ctx context.Context, store archive.Store, d crawl.Definition) error {
	if e.Frontier.Knows(d.Name) {
		return nil
	}
	runs, err := ArchivedRun(ctx, store, d)
	if err != nil || runs == 0 {
		return err
	}
	if err := checkFormer(ctx, store, d, runs); err != nil || d.Spread { // its partitions are loaded or rebuilt one by one
		return err
	}
	return e.Frontier.Crawl(d.Name).Inherit(runs)
}

// checkFormer checks a definition against that of a former run in the archive.
func checkFormer(ctx context.Context, store archive.Store, d crawl.Definition, run uint32) error {
	raw, err := archive.ReadAll(ctx, store, archive.LayoutOf(d).Definition(run), crawl.MaxDefinition)
	if errors.Is(err, archive.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var former crawl.Definition
	if err := json.Unmarshal(raw, &former); err != nil {
		return fmt.Errorf("read the definition of run %d of %s: %w", run, d.Name, err)
	}
	return d.CheckSpread(former.Spread)
}

// ArchivedRun is the number of the last run of a crawl that has a definition in the archive, of any worker; 0 if none has.
func ArchivedRun(ctx context.Context, store archive.Store, d crawl.Definition) (run uint32, err error) {
	err = store.List(ctx, archive.LayoutOf(d).Definitions(), func(o archive.Object) error {
		run = max(run, archive.LayoutOf(d).RunOf(o.Key))
		return nil
	})
	return run, err
}

// restoring and rewarding are prefixes of the marks of segments that were restored: a later attempt continues with the others, and
// does not even read the manifests of these.
const (
	restoring = "restore-"
	rewarding = "reward-"
)

// RestoreMark is the mark of a segment that Restore has brought in.
func RestoreMark(segment string) string { return restoring + segment }

// contents are the captures and the outlinks of a segment.
type contents struct {
	index []archive.Indexed
	links []archive.Link
}

func read(ctx context.Context, store archive.Store, m archive.Manifest) (c contents, err error) {
	err = archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
		c.index = append(c.index, i)
		return nil
	})
	if err == nil {
		c.links, err = readLinks(ctx, store, m)
	}
	return c, err
}

func readLinks(ctx context.Context, store archive.Store, m archive.Manifest) (list []archive.Link, err error) {
	err = archive.ReadLinks(ctx, store, m.Links.Key, func(l archive.Link) error {
		list = append(list, l)
		return nil
	})
	return list, err
}

// Restore brings in what a lost frontier knew: the outlinks of all segments, with their scores, and the
// digests of the payloads that are archived. What was fetched already is fetched again, as in any later run,
// and archived as a revisit if it is the same.
func (e *Engine) Restore(ctx context.Context, store archive.Store, d crawl.Definition) error {
	if err := e.restoreSnapshot(ctx, store, d); err != nil {
		return err
	}
	again, err := e.again(d)
	if err != nil {
		return err
	}
	plan, err := e.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return err
	}
	walk := archive.Walk[contents]{
		Of: archive.LayoutOf(d),
		Skip: func(segment string, _ time.Time) bool {
			return e.Frontier.Crawl(d.Name).Batch(restoring + segment).Committed()
		},
		Load: func(ctx context.Context, m archive.Manifest) (contents, error) { return read(ctx, store, m) },
	}
	err = walk.Each(ctx, store, func(m archive.Manifest, found contents) error {
		e.reached(ctx, m.Segment())
		c := frontier.Commit{Batch: restoring + m.Segment(), Archive: plan.Archive, Originals: map[string]crawl.Visit{}}
		for _, i := range found.index {
			if i.Robots() {
				continue
			}
			if !i.Revisit && i.Status >= 200 && i.Status < 300 {
				c.Originals[i.Digest] = crawl.Visit{URL: i.URL, Date: i.Date, Digest: i.Digest}
			}
			// no page may link to it: how it was found is not in the index
			c.Discoveries = append(c.Discoveries, crawl.Discovery{URL: i.URL, Path: crawl.HopLink.String()})
		}
		for _, l := range found.links {
			if l.NoFollow {
				continue
			}
			d, err := again(l)
			if err != nil {
				return err
			}
			c.Discoveries = append(c.Discoveries, d)
		}
		return e.Frontier.Crawl(d.Name).Commit(c)
	})
	if err != nil {
		return err
	}
	if d.ByPlaces() {
		if err := e.restoreRewards(ctx, store, d); err != nil {
			return err
		}
	}
	return e.Frontier.Crawl(d.Name).Restored()
}

// again makes the discoveries of archived links: with the scores that they had, or judged again by an order that learns, for
// what it keeps with URLs is not in the archive.
func (e *Engine) again(d crawl.Definition) (func(archive.Link) (crawl.Discovery, error), error) {
	fused := e.Frontier.Crawl(d.Name).Learning().Order()
	if fused == nil {
		return func(l archive.Link) (crawl.Discovery, error) {
			return l.Discovery(&l.LinkVerdict, l.Origin(), d.LinkNeeds()), nil
		}, nil
	}
	plan, err := e.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return nil, err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return nil, err
	}
	return func(l archive.Link) (crawl.Discovery, error) {
		return judge.RescoreLink(foundAt(l), fused)
	}, nil
}

// restoreRewards teaches the bandit again what the pages were worth: the scores of the pages that outlinks stood on,
// once it is known from all sidecars how those pages were found.
func (e *Engine) restoreRewards(ctx context.Context, store archive.Store, d crawl.Definition) error {
	walk := archive.Walk[map[string]float64]{
		Of: archive.LayoutOf(d),
		Skip: func(segment string, _ time.Time) bool {
			return e.Frontier.Crawl(d.Name).Batch(rewarding + segment).Committed()
		},
		Load: func(ctx context.Context, m archive.Manifest) (map[string]float64, error) {
			scores := map[string]float64{}
			err := archive.ReadLinks(ctx, store, m.Links.Key, func(l archive.Link) error {
				if score, said := l.Parts.Of(crawl.PartDocument); said {
					scores[l.Source] = score
				}
				return nil
			})
			return scores, err
		},
	}
	return walk.Each(ctx, store, func(m archive.Manifest, scores map[string]float64) error {
		e.reached(ctx, m.Segment())
		return e.Frontier.Crawl(d.Name).Learning().Reward(rewarding+m.Segment(), scores)
	})
}

package pipeline

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Recover makes the result of a batch out of its segment in the archive: the working files are lost, the manifest is there. number
// is that of the archive in the frontier. URLs of the batch that the segment does not have go back to their queues.
func (e *Engine) Recover(ctx context.Context, d crawl.Definition, store archive.Store, m archive.Manifest, number int) (left Result, err error) {
	return e.recover(ctx, d, m, store, number, func(fn func(archive.Link) error) error { return archive.ReadLinks(ctx, store, m.Links.Key, fn) })
}

// load is a capture of what a page loaded while it was open.
type load struct {
	at      time.Time // in whole seconds
	partial bool      // crawl.Exchange.Partial
}

// RecoverTo is Recover with the links to some partitions alone.
func (e *Engine) RecoverTo(ctx context.Context, d crawl.Definition, store archive.Store, m archive.Manifest, number int, to func(partition int) bool) (left Result, err error) {
	return e.recover(ctx, d, m, store, number, func(fn func(archive.Link) error) error { return archive.ReadLinksTo(ctx, store, m.Links, to, fn) })
}

func (e *Engine) recover(
	ctx context.Context, d crawl.Definition, m archive.Manifest, store archive.Store, number int, links func(func(archive.Link) error) error,
) (left Result, err error) {
	again, err := e.again(d)
	if err != nil {
		return left, err
	}
	left.Originals, left.RequisitesCut = map[string]crawl.Visit{}, int64(m.Counts.RequisitesCut)
	classes := map[string]crawl.Class{}                          // of URLs that are no pages
	ended := map[string]bool{}                                   // without a page: a response may be archived nevertheless, and is no second outcome
	prints, order := map[string]*crawl.Print{}, map[string]int{} // of the exchanges: what is learned of pages depends on it
	shown := map[string]uint64{}                                 // crawl.Page.Shown
	loaded := map[string][]load{}                                // by pages that were open: captures of them in the index are no outcomes
	partial := map[string]bool{}                                 // of the exchanges: crawl.Exchange.Partial
	err = archive.ReadLog(ctx, store, &m, func(l archive.Logged) error {
		switch l.Kind {
		case archive.LoggedOpened:
			return nil
		case archive.LoggedLoaded:
			if l.Bytes > 0 { // else there is no capture of it
				loaded[l.URL] = append(loaded[l.URL], load{l.Time.UTC().Truncate(time.Second), l.Partial})
			}
			left.AddLoaded(l.URL, l.Bytes, l.Reason == "")
			return nil
		}
		if order[l.URL] = len(order); l.Print != nil {
			prints[l.URL] = l.Print
		}
		if l.Partial {
			partial[l.URL] = true
		}
		if l.Shown != 0 {
			shown[l.URL] = l.Shown
		}
		if class := crawl.ClassOf(l.Path); class != crawl.ClassPage {
			classes[l.URL] = class
		}
		switch kind := crawl.OutcomeKind(l.Kind); kind {
		case crawl.OutcomeRobots, crawl.OutcomeRefused, crawl.OutcomeFailed:
			ended[l.URL] = true
			o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: l.URL, Kind: kind, Status: l.Status, Reason: l.Reason, Bytes: l.Bytes}, Score: -1}
			o.SetClass(classes[l.URL])
			left.Outcomes = append(left.Outcomes, o)
		}
		return nil
	})
	if err != nil {
		return left, err
	}
	err = archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
		if i.Robots() {
			return nil
		}
		if at := slices.IndexFunc(loaded[i.URL], func(l load) bool { return l.at.Equal(i.Date) }); at >= 0 {
			whole := !loaded[i.URL][at].partial && i.Status != http.StatusPartialContent
			if loaded[i.URL] = slices.Delete(loaded[i.URL], at, at+1); whole && !i.Revisit && i.Status >= 200 && i.Status < 300 {
				left.Originals[i.Digest] = crawl.Visit{URL: i.URL, Date: i.Date, Digest: i.Digest}
			}
			return nil
		}
		o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: i.URL, Kind: crawl.OutcomeDone, Status: i.Status, Bytes: i.Length}, Score: i.Score, Revisit: i.Revisit, App: i.Application, Print: prints[i.URL]}
		o.SetClass(classes[i.URL])
		o.Visit = crawl.Visit{URL: i.URL, Date: i.Date, Digest: i.Digest}
		switch {
		case i.Revisit:
			if i.Status == 0 {
				o.Kind = crawl.OutcomeUnmodified
			}
			o.Visit, _ = e.Frontier.Crawl(d.Name).URLs().Original(number, i.URL, i.Digest)
		case i.Status == http.StatusPartialContent, partial[i.URL], ended[i.URL]: // no original, as in the batch's own commit
			o.Visit.Partial = i.Status >= 200 && i.Status < 300
		case i.Status >= 200 && i.Status < 300:
			left.Originals[i.Digest] = o.Visit
		}
		o.Visit.Shown = shown[i.URL]
		if !ended[i.URL] {
			left.Outcomes = append(left.Outcomes, o)
		}
		return nil
	})
	if err != nil {
		return left, err
	}
	slices.SortStableFunc(left.Outcomes, func(a, b crawl.PageOutcome) int { return cmp.Compare(order[a.URL], order[b.URL]) })
	err = links(func(l archive.Link) error {
		if l.NoFollow {
			return nil
		}
		judged, err := again(l)
		found := l.Discovery(&l.LinkVerdict, l.Origin(), d.LinkNeeds()) // with the score that it had
		if len(found.LinkFeatures) == 0 {                               // which the archive has of some links only
			found.LinkFeatures = judged.LinkFeatures
		}
		left.Discoveries = append(left.Discoveries, found)
		return err
	})
	return left, err
}

package pipeline

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"unsafe"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Result is a batch that is archived: what the frontier is to know of it.
type Result struct {
	Outcomes    []crawl.PageOutcome    `json:"outcomes"`
	Discoveries []crawl.Discovery      `json:"discoveries"`
	Originals   map[string]crawl.Visit `json:"originals"`
	Samples     []topic.Sample         `json:"samples"`
	// RequisitesCut is how many URLs that pages embed were left out, because the page embeds more than it may.
	RequisitesCut int64 `json:"requisites_cut,omitempty"`
}

// Add adds the outcome of a URL; revisit: it is archived as a revisit. path are the hop letters of it; p is its page, nil if nothing was
// understood.
func (r *Result) Add(fetched crawl.Outcome, revisit bool, path string, p *Judged, needs crawl.LinkNeeds) {
	o := crawl.PageOutcome{Outcome: fetched, Score: -1, Revisit: revisit}
	o.SetClass(crawl.ClassOf(path))
	if p != nil {
		o.Level, o.App, o.Prints, o.Print = p.Level, p.Application, p.Prints, p.Print
		o.Score, o.Worth, o.PageFeatures = p.Verdict.Score, p.Verdict.Worth, p.Verdict.PageFeatures
		if p.Sample != nil {
			r.Samples = append(r.Samples, *p.Sample)
		}
		r.AddLinks(path, p, needs)
	}
	r.Outcomes = append(r.Outcomes, o)
}

// AddLoaded adds what a page has asked for while it was open; archived: it got it.
func (r *Result) AddLoaded(url string, bytes int64, archived bool) {
	o := crawl.Outcome{URL: url, Kind: crawl.OutcomeFailed, Bytes: bytes}
	if archived {
		o.Kind = crawl.OutcomeDone
	}
	r.Outcomes = append(r.Outcomes, crawl.PageOutcome{Outcome: o, Score: -1, Loaded: true})
}

// AddLinks adds the outlinks of a page.
func (r *Result) AddLinks(path string, p *Judged, needs crawl.LinkNeeds) {
	from := crawl.Origin{URL: p.URL, Path: path, Language: p.Language}
	for i := range p.Links {
		if !p.Follows(p.Links[i].Hop) {
			continue
		}
		r.Discoveries = append(r.Discoveries, p.Links[i].Discovery(&p.Verdict.Links[i], from, needs))
	}
}

// resultPart is how many outlinks, or outcomes, a part of a result has.
const resultPart = 1000

// Parts divides a result into parts that are encoded one by one: encoded whole, that of a batch takes megabytes of memory in one piece.
func (r *Result) Parts() []Result {
	list := []Result{{Originals: r.Originals, Samples: r.Samples, RequisitesCut: r.RequisitesCut}}
	for outcomes := range slices.Chunk(r.Outcomes, resultPart) {
		list = append(list, Result{Outcomes: outcomes})
	}
	for discoveries := range slices.Chunk(r.Discoveries, resultPart) {
		list = append(list, Result{Discoveries: discoveries})
	}
	return list
}

// JoinParts is the result that was divided into parts.
func JoinParts(list []Result) (r Result) {
	outcomes, discoveries := 0, 0
	for i := range list {
		outcomes, discoveries = outcomes+len(list[i].Outcomes), discoveries+len(list[i].Discoveries)
	}
	r.Outcomes, r.Discoveries = make([]crawl.PageOutcome, 0, outcomes), make([]crawl.Discovery, 0, discoveries)
	r.Originals = map[string]crawl.Visit{}
	for i := range list {
		p := &list[i]
		r.Outcomes, r.Discoveries, r.Samples = append(r.Outcomes, p.Outcomes...), append(r.Discoveries, p.Discoveries...), append(r.Samples, p.Samples...)
		maps.Copy(r.Originals, p.Originals)
		r.RequisitesCut += p.RequisitesCut
	}
	return r
}

// Commit is what the frontier gets of it.
func (r *Result) Commit(batch string) (c frontier.Commit, err error) {
	c = frontier.Commit{Batch: batch, Outcomes: r.Outcomes, Discoveries: r.Discoveries, Originals: r.Originals, RequisitesCut: r.RequisitesCut}
	if len(r.Samples) > 0 {
		c.Sample, err = codec.Marshal(r.Samples)
	}
	return c, err
}

// bytes is what a result takes in memory.
func (r *Result) bytes() int64 {
	n := 0
	for i := range r.Discoveries {
		d := &r.Discoveries[i]
		n += int(unsafe.Sizeof(*d)) + len(d.URL) + len(d.TagPath) + len(d.LinkFeatures) + len(d.Parts) // Via is that of its page
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		n += int(unsafe.Sizeof(*o)) + len(o.URL) + len(o.Prints) + len(o.PageFeatures)
	}
	return int64(n)
}

// KeepResult keeps in memory what was archived of a batch and written to a file, until it is committed: to decode it takes as long
// as to write it.
func (e *Engine) KeepResult(crawl, batch string, r *Result, file fs.FileInfo) {
	e.Handover.put(crawl, crawl+"/"+batch, &handed{result: r, file: file})
}

// TakeResult returns the result of a batch that KeepResult has kept, once, if its file is still the one that was written then;
// else nil.
func (e *Engine) TakeResult(crawl, batch string, file fs.FileInfo) *Result {
	key := crawl + "/" + batch
	h := e.Handover.get(key)
	if h == nil || h.result == nil { // pages stay: the batch may be archived again
		return nil
	}
	e.Handover.take(key)
	if !os.SameFile(h.file, file) || h.file.Size() != file.Size() || !h.file.ModTime().Equal(file.ModTime()) {
		return nil
	}
	return h.result
}

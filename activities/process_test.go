package activities

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// An attempt continues with what the one before left in memory. Once there is a manifest, nothing is parsed or scored again.
func TestProcessContinues(t *testing.T) {
	r := newRig(t)
	denied := &deniedStore{}
	r.through(func(s archive.Store) archive.Store { denied.Store = s; return archive.Faults(denied) })
	r.begin("one", nil)
	in := r.batch()
	r.open(in, linking)
	lost := errors.New("memory has nothing")
	inMemory := func() *pipeline.JudgedBatch {
		batch, err := r.Engine.Judge(t.Context(), pipeline.Source{
			Crawl: in.Crawl, Batch: in.Batch, Run: "default-test-run-id",
			Targets: func() (map[string]crawl.Target, error) { return nil, lost },
		})
		if err != nil && !errors.Is(err, lost) {
			t.Fatal(err)
		}
		return batch
	}

	denied.closed.Store(true)
	_, err := call[ProcessResult](r, r.Process, in)
	if err == nil || !strings.Contains(err.Error(), "ARCHIVE: the archive fails") {
		t.Fatalf("ends with %v", err)
	}
	before := inMemory()
	if before == nil {
		t.Fatal("the pages are not kept")
	}
	if _, err = call[ProcessResult](r, r.Process, in); err == nil {
		t.Fatal("the archive takes what it refuses")
	}
	if inMemory() != before {
		t.Error("pages that lay in memory were parsed again")
	}

	denied.closed.Store(false)
	first, err := call[ProcessResult](r, r.Process, in)
	r.must(err)
	if first.Analysed == nil || first.Analysed.Pages != 1 || first.Scored == nil || first.Archived == nil || first.Archived.Pages != 1 {
		t.Fatalf("makes %+v", first)
	}
	again, err := call[ProcessResult](r, r.Process, in) // the worker was killed before it could report to Temporal
	r.must(err)
	if again.Analysed != nil || again.Scored != nil || again.Archived == nil || again.Archived.Manifest != first.Archived.Manifest {
		t.Errorf("once the manifest is there: %+v, before %+v", again, first)
	}
	if inMemory() != nil {
		t.Error("pages that are archived are in memory again")
	}
	r.must(r.do(r.Commit, in))
	r.check(r.dir)
}

// onTopic is a crawl about ravens.
func onTopic(d *crawl.Definition) { d.Topic.Keywords = []string{"raven"} }

// TestProcess runs the steps of a batch several times: what memory has lost is computed again, and the frontier gets the same
// result.
func TestProcess(t *testing.T) {
	const html = `<title>Ravens</title><p>The raven and the <a href="/next">next raven</a></p>`
	for name, c := range map[string]struct {
		body                               string
		runs                               int
		links, scored, relevant, discovers int
	}{
		"once":            {body: html, runs: 1, links: 1, scored: 1, relevant: 1, discovers: 1},
		"several times":   {body: html, runs: 3, links: 1, scored: 1, relevant: 1, discovers: 1},
		"another subject": {body: "<p>soup", runs: 1, scored: 1},
		"nothing to read": {body: "", runs: 1},
	} {
		r := newRig(t)
		r.begin("o", onTopic)
		in := r.batch()
		r.open(in, func(string) string { return c.body })
		first, err := call[ProcessResult](r, r.Process, in)
		r.must(err)
		if first.Analysed.Links != c.links || first.Scored.Pages != c.scored || first.Scored.Relevant != c.relevant || first.Archived.Pages != 1 {
			t.Errorf("%s: %+v, %+v, %+v", name, first.Analysed, first.Scored, first.Archived)
		}
		for range c.runs - 1 {
			r.Engine.Drop(in.Crawl, in.Batch) // as after a restart
			again, err := call[ProcessResult](r, r.Process, in)
			if err != nil || again.Archived.Manifest != first.Archived.Manifest {
				t.Errorf("%s: %+v, %v", name, again.Archived, err)
			}
		}
		left, err := readResult(r.Spool.Batch(in.Crawl, in.Batch))
		if err != nil || len(left.Discoveries) != c.discovers || len(left.Outcomes) != 1 {
			t.Errorf("%s: %+v, %v", name, left, err)
		}
		for range 2 { // COMMIT is idempotent by batch
			r.must(r.do(r.Commit, in))
		}
		if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Totals.Pages != 1 || s.Totals.Batches != 1 || s.Waiting != c.discovers {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		r.check(r.dir)
	}
}

// TestResultInMemory: COMMIT gets from memory what the file has, once, and the file's if it was written again.
func TestResultInMemory(t *testing.T) {
	r := newRig(t)
	r.begin("o", onTopic)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	b := r.Spool.Batch(in.Crawl, in.Batch)
	written, err := readResult(b)
	r.must(err)
	file, err := b.Stat(fileCommit)
	r.must(err)
	kept := r.Engine.TakeResult(in.Crawl, in.Batch, file)
	if kept == nil || len(kept.Discoveries) != 1 || len(kept.Outcomes) != 1 {
		t.Fatalf("memory has %+v", kept)
	}
	was, err := codec.Marshal(written)
	r.must(err)
	now, err := codec.Marshal(kept)
	r.must(err)
	if !bytes.Equal(was, now) {
		t.Errorf("memory has %+v, the file %+v", kept, written)
	}
	if r.Engine.TakeResult(in.Crawl, in.Batch, file) != nil {
		t.Error("a result is taken twice")
	}
	r.Engine.KeepResult(in.Crawl, in.Batch, kept, file)
	written.Discoveries = nil
	r.must(spool.WriteAll(b, fileCommit, written.Parts()))
	if left, err := r.result(in); err != nil || len(left.Discoveries) != 0 {
		t.Errorf("of another file: %+v, %v", left, err)
	}
	r.must(r.do(r.Commit, in))
}

package activities

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// An attempt goes on with what the one before it has left in memory; once the manifest is there, nothing is parsed or scored
// again.
func TestProcessGoesOn(t *testing.T) {
	r := newRig(t)
	denied := &deniedStore{}
	r.through(func(s archive.Store) archive.Store { denied.Store = s; return archive.Faults(denied) })
	r.begin("one", nil)
	in := r.batch()
	r.open(in, linking)
	key := r.Spool.Batch(in.Crawl, in.Batch).Dir()

	denied.closed.Store(true)
	_, err := call[ProcessResult](r, r.Process, in)
	if err == nil || !strings.Contains(err.Error(), "ARCHIVE: the archive fails") {
		t.Fatalf("ends with %v", err)
	}
	before := r.handed.get(key)
	if before == nil || !before.scored {
		t.Fatalf("the pages are not kept: %+v", before)
	}
	if _, err = call[ProcessResult](r, r.Process, in); err == nil {
		t.Fatal("the archive takes what it refuses")
	}
	if r.handed.get(key) != before {
		t.Error("pages that lay in memory were parsed again")
	}

	denied.closed.Store(false)
	first, err := call[ProcessResult](r, r.Process, in)
	r.must(err)
	if first.Analysed == nil || first.Analysed.Pages != 1 || first.Scored == nil || first.Archived == nil || first.Archived.Pages != 1 {
		t.Fatalf("makes %+v", first)
	}
	again, err := call[ProcessResult](r, r.Process, in) // the worker was killed before Temporal heard of it
	r.must(err)
	if again.Analysed != nil || again.Scored != nil || again.Archived == nil || again.Archived.Manifest != first.Archived.Manifest {
		t.Errorf("once the manifest is there: %+v, before %+v", again, first)
	}
	if r.handed.get(key) != nil {
		t.Error("pages that are archived are in memory again")
	}
	r.must(r.do(r.Commit, in))
	r.check(r.dir)
}

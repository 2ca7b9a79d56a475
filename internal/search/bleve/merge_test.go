package bleve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// ofMonth is a segment with pages of a month.
func ofMonth(name string, month time.Month, pages int) search.Segment {
	s := search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: name}}
	for i := range pages {
		p := search.Page{Facts: query.Facts{Crawl: "c", URL: fmt.Sprintf("https://a.example/%s/%d", name, i), Date: time.Date(2026, month, 1, 0, 0, i, 0, time.UTC), Language: "en", Text: "common words"}}
		s.Documents = append(s.Documents, p.Documents()...)
	}
	return s
}

// TestQuiet: a month that gets no more documents is merged to one segment, and not again for a few that come later.
func TestQuiet(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	n := 0
	add := func(month time.Month, segments, pages int) {
		for range segments {
			n++
			if err := x.AddSegment(t.Context(), ofMonth(fmt.Sprint(n), month, pages)); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(month int) []int {
		sizes, err := x.crawls["c"].months[month].segments()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(sizes)
		return sizes
	}
	const pages = 3 * 1000 // segments of fewer are merged at once
	add(time.March, 3, pages/3)
	add(time.April, quietAfter-1, 1)
	if got := of(0); len(got) != 3 {
		t.Fatalf("March has segments of %d before it is quiet", got)
	}
	add(time.April, 1, 1)
	if got := of(0); !slices.Equal(got, []int{pages}) {
		t.Errorf("March has segments of %d documents when it is quiet", got)
	}
	add(time.March, 1, pages/quietPart-1)
	add(time.April, quietAfter, 1)
	if got := of(0); len(got) != 2 {
		t.Errorf("March is merged again, to %d, for a few documents", got)
	}
	add(time.March, 1, 2*pages/quietPart)
	add(time.April, quietAfter, 1)
	if got := of(0); !slices.Equal(got, []int{pages + 3*pages/quietPart - 1}) {
		t.Errorf("March has segments of %d documents when it is quiet again", got)
	}
	if a := ask(t, x, "common date:2026-03", search.Options{}); a.Total != pages+3*pages/quietPart-1 {
		t.Errorf("%d pages of March are found", a.Total)
	}
}

// newPart is a part with segments of a document each, which are not merged until a test has them merged.
func newPart(t *testing.T, segments int) *part {
	t.Helper()
	return newPartMerging(t, segments, 1000)
}

// newPartMerging is newPart with so many segments of an order of magnitude that bleve keeps in the background.
func newPartMerging(t *testing.T, segments, keeps int) *part {
	t.Helper()
	p, err := openMerging(filepath.Join(t.TempDir(), "part.bleve"), "2026-03", map[string]any{"MaxSegmentsPerTier": keeps, "SegmentsPerMergeTask": 10, "TierGrowth": 10, "FloorSegmentSize": 1, "MaxSegmentSize": maxMerged})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.close() })
	for i := range segments {
		p.addOne(t, i)
	}
	return p
}

// addOne adds a segment of a document.
func (p *part) addOne(t *testing.T, i int) {
	t.Helper()
	batch := p.index.NewBatch()
	if err := batch.IndexAdvanced(document.NewDocument(fmt.Sprint(i))); err != nil {
		t.Fatal(err)
	}
	if err := p.add(batch, lengths{Documents: 1}, fmt.Sprint(keyDone, i)); err != nil {
		t.Fatal(err)
	}
}

// sizes are those of the part's segments.
func (p *part) sizes(t *testing.T) []int {
	t.Helper()
	list, err := p.segments()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestMergesInOneGo: a part with more segments than one merge takes becomes one segment all the same.
func TestMergesInOneGo(t *testing.T) {
	const segments = mergedTogether + 6
	p := newPart(t, segments)
	if got := p.sizes(t); len(got) != segments {
		t.Fatalf("%d segments", len(got))
	}
	merged, err := p.merge(t.Context())
	if got := p.sizes(t); err != nil || !merged || !slices.Equal(got, []int{segments}) {
		t.Errorf("segments of %d documents, %t, %v", got, merged, err)
	}
	if merged, err := p.merge(t.Context()); merged || err != nil {
		t.Errorf("it is merged again: %v", err)
	}
}

// TestMergeThatFails: a merge whose files cannot be written, as on a disk without room, is tried a few times, and says then what has failed, where, and what to do. When files can be written again,
// the next one succeeds.
func TestMergeThatFails(t *testing.T) {
	const segments = 4
	p := newPart(t, segments)
	p.trouble.pause = time.Millisecond
	remove := obstruct(t, p.trouble.store, 0)
	_, err := p.merge(t.Context())
	if err == nil || !strings.Contains(err.Error(), p.dir) || !strings.Contains(err.Error(), "is a directory") || !strings.Contains(err.Error(), "make some") {
		t.Errorf("the merge ends with %v", err)
	}
	remove()
	if merged, err := p.merge(t.Context()); !merged || err != nil || len(p.sizes(t)) != 1 {
		t.Errorf("when it can be merged: %t, %v, segments of %d documents", merged, err, p.sizes(t))
	}
}

// obstruct has no file be made in the folder of a part but so many, until remove is called.
func obstruct(t *testing.T, store string, but int) (remove func()) {
	t.Helper()
	var obstacles []string
	file := func(id int) string { return filepath.Join(store, fmt.Sprintf("%012x.zap", id)) }
	next := 100
	for ; next > 0; next-- {
		if _, err := os.Stat(file(next - 1)); err == nil {
			break
		}
	}
	for id := range 300 { // a file of that name cannot be made; each merge that is tried takes the next
		path := file(next + but + id)
		made := filepath.Join(t.TempDir(), "obstacle") // bleve removes old files meanwhile, and a folder that is still empty with them
		if err := errors.Join(os.MkdirAll(filepath.Join(made, "in the way"), 0o755), os.Rename(made, path)); err != nil {
			t.Fatal(err)
		}
		obstacles = append(obstacles, path)
	}
	return func() {
		t.Helper()
		for _, path := range obstacles {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMergeBehindOneThatFails: while a merge in the background fails, bleve does not come to the merge that it is asked for. Who waits gets the error after as many failures as of its own merge, or when its time is
// over. The merge is left with bleve: when files can be written, the next one waits for it, and succeeds.
func TestMergeBehindOneThatFails(t *testing.T) {
	const keeps = 3
	p := newPartMerging(t, keeps+1, keeps)
	p.trouble.pause = 20 * time.Millisecond // so that it does not come to the end of the obstacles on a busy machine
	remove := obstruct(t, p.trouble.store, 1)
	p.addOne(t, keeps+1)                                             // the last file; now there is a segment more than bleve keeps
	<-p.trouble.noted                                                // the merge in the background has failed
	limited, cancel := context.WithTimeout(t.Context(), time.Minute) // which it does not take
	defer cancel()
	over, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		ctx  context.Context
		says string
	}{{limited, "is a directory"}, {over, context.Canceled.Error()}, {limited, "is a directory"}} {
		if _, err := p.merge(test.ctx); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Fatalf("the merge ends with %v, want %s", err, test.says)
		}
	}
	remove()
	if _, err := p.merge(t.Context()); err != nil || len(p.sizes(t)) != 1 { // by that in the background, or by this one
		t.Errorf("when it can be merged: %v, segments of %d documents", err, p.sizes(t))
	}
}

// TestTroubleOfAnOpenPart: a part that is opened once more, which fails, keeps what bleve reports to it.
func TestTroubleOfAnOpenPart(t *testing.T) {
	p := newPart(t, 1)
	if again, err := openPart(p.dir, p.month); err == nil {
		t.Fatalf("it is open twice: %v", again.close())
	}
	p.trouble.pause = 0
	scorch.RegistryAsyncErrorCallbacks[troublesName](errNoMerge, p.trouble.store)
	if p.trouble.times() != 1 || !errors.Is(p.trouble.why(), errNoMerge) {
		t.Errorf("it has noted %d failures, the last one: %v", p.trouble.times(), p.trouble.why())
	}
}

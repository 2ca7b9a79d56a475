package derive_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/derive"
)

// TestDerivedTwice: the second time nothing is done, and what was deleted is derived to the same bytes.
func TestDerivedTwice(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")), html("http://a.example/2", raven("crow")))
	first, _ := r.derived(m.Segment())
	files := r.files("c/derived/text-1")
	if first.Known || first.Lines != 2 || first.Captures != 2 || first.Run != 3 || len(files) != 2 || files[m.Segment()+".json"] == "" {
		t.Fatalf("%+v, %q", first, names(files))
	}
	again, _ := r.derived(m.Segment())
	if !again.Known || !maps.Equal(files, r.files("c/derived/text-1")) {
		t.Errorf("%+v, %q", again, names(r.files("c/derived/text-1")))
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "c", "derived")); err != nil {
		t.Fatal(err)
	}
	if third, _ := r.derived(m.Segment()); third.Known || !maps.Equal(files, r.files("c/derived/text-1")) {
		t.Errorf("%+v, %q", third, names(r.files("c/derived/text-1")))
	}
}

// cutOff is a store that fails before one of its puts.
type cutOff struct {
	archive.Store
	at int // puts until then
}

var errCutOff = errors.New("the process was killed")

func (s *cutOff) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if s.at--; s.at < 0 {
		return errCutOff
	}
	return s.Store.Put(ctx, key, r, size)
}

func (s *cutOff) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if s.at--; s.at < 0 {
		return errCutOff
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

// TestCutOff: an attempt that is cut off before its data or its manifest leaves nothing to be read, and the next one leaves what one attempt leaves.
func TestCutOff(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")))
	store := r.Store
	for puts := range 2 {
		r.Store = &cutOff{Store: store, at: puts}
		if _, err := r.Segment(t.Context(), at, m.Segment(), derive.Text); !errors.Is(err, errCutOff) {
			t.Fatal(err)
		}
		err := derive.Read(t.Context(), store, at, derive.Text, m.Segment(), func(*derive.Document) error { return nil })
		if files := r.files("c/derived/text-1"); !errors.Is(err, archive.ErrNotFound) || len(files) != puts {
			t.Errorf("cut off before put %d: %q, %v", puts, names(files), err)
		}
	}
	r.Store = store
	if _, lines := r.derived(m.Segment()); len(lines) != 1 || len(r.files("c/derived/text-1")) != 2 {
		t.Errorf("%+v, %q", lines, names(r.files("c/derived/text-1")))
	}
}

// TestAtOnce: of several attempts at a time one commits, and all return its manifest.
func TestAtOnce(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")))
	var running sync.WaitGroup
	results := make([]derive.Result, 4)
	for i := range results {
		running.Go(func() {
			d := *r.Deriver
			d.Now = func() time.Time { return epoch.Add(time.Duration(i) * time.Second) }
			var err error
			if results[i], err = d.Segment(t.Context(), at, m.Segment(), derive.Text); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	for _, got := range results {
		if !got.Created.Equal(results[0].Created) || got.Data == nil || *got.Data != *results[0].Data {
			t.Errorf("%+v, not %+v", got, results[0])
		}
	}
	if files := r.files("c/derived/text-1"); len(files) != 2 {
		t.Errorf("%q", names(files))
	}
}

// TestNothingToDerive: batches that were given back, and those without a response, are done once, too.
func TestNothingToDerive(t *testing.T) {
	r := newRig(t)
	label := archive.Label{Crawl: "c", Batch: "b", Nonce: "0123456789abcdef", Worker: "w"}
	if err := archive.GiveBack(t.Context(), r.Store, label, epoch); err != nil {
		t.Fatal(err)
	}
	result, lines := r.derived(label.Segment())
	if !result.GivenBack || result.Data != nil || len(lines) > 0 {
		t.Errorf("%+v, %+v", result, lines)
	}
	m, _ := r.segment("image", nil, exchange{url: "http://a.example/p.png", mime: "image/png", body: "\x89PNG", unparsed: true})
	if result, lines = r.derived(m.Segment()); result.Captures != 1 || result.Data != nil || len(lines) > 0 {
		t.Errorf("%+v, %+v", result, lines)
	}
	var list []string
	if err := derive.Segments(t.Context(), r.Store, at, derive.Text, func(s string) error { list = append(list, s); return nil }); err != nil || !slices.Equal(list, []string{label.Segment(), m.Segment()}) {
		t.Errorf("%q, %v", list, err)
	}
	if _, err := r.Segment(t.Context(), at, "none-0123456789abcdef", derive.Text); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("a segment that there is not: %v", err)
	}
}

// TestFailingStep: a capture that a step cannot understand, or that it panics on, costs its own line; the end of the context ends the derivation.
func TestFailingStep(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", "<p>1"), html("http://a.example/2", "<p>2"), html("http://a.example/3", "<p>3"))
	step := derive.Step{Name: "odd", Version: 2, Of: func(_ context.Context, c *derive.Capture) (any, error) {
		switch c.URL {
		case "http://a.example/1":
			return nil, errors.New("not understood")
		case "http://a.example/2":
			panic("not thought of")
		}
		return map[string]string{"url": c.URL}, nil
	}}
	result, err := r.Segment(t.Context(), at, m.Segment(), step)
	if err != nil || result.Lines != 1 || result.Failed != 2 || len(result.Failures) != 2 || !strings.HasPrefix(result.Failures[0], "http://a.example/1: not understood") || !strings.Contains(result.Failures[1], "not thought of") {
		t.Errorf("%+v, %v", result, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	step = derive.Step{Name: "ended", Version: 1, Of: func(context.Context, *derive.Capture) (any, error) {
		cancel()
		return nil, ctx.Err()
	}}
	if _, err := r.Segment(ctx, at, m.Segment(), step); !errors.Is(err, context.Canceled) || len(r.files("c/derived/ended-1")) > 0 {
		t.Errorf("%v", err)
	}
}

// TestDamagedData: data of a derivation that is not what its manifest says is reported to its readers, and so is a manifest that is none.
func TestDamagedData(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")))
	result, _ := r.derived(m.Segment())
	for _, file := range []string{result.Data.Key, "c/derived/text-1/" + m.Segment() + ".json"} {
		name := filepath.Join(r.dir, filepath.FromSlash(file))
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 0x11
		if err := os.WriteFile(name, raw[:len(raw)-3], 0o644); err != nil {
			t.Fatal(err)
		}
		err = derive.Read(t.Context(), r.Store, at, derive.Text, m.Segment(), func(*derive.Document) error { return nil })
		if !archive.Damaged(err) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestBesideSegments: derivations are no segments, no crawls and no orphans for the other readers of an archive. A sweep deletes data whose manifest names other data.
func TestBesideSegments(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")))
	r.derived(m.Segment())
	crawls, err := archive.Crawls(t.Context(), r.Store)
	if err != nil || len(crawls) != 1 || crawls[0] != at {
		t.Errorf("%+v, %v", crawls, err)
	}
	n := 0
	if err := archive.Manifests(t.Context(), r.Store, "", "c", func(archive.Manifest) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d segments, %v", n, err)
	}
	report, err := archivecheck.CheckDir(r.dir)
	if err != nil || len(report.Orphans) > 0 || len(report.Faults) > 0 || report.Segments != 1 || report.Derivations != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	other := r.put("c/derived/text-1/"+m.Segment()+"-0123456789abcdef.zst", "other data")
	open := r.put("c/derived/text-1/z-0123456789abcdef-0123456789abcdef.zst", "without a manifest")
	before := r.files("c/derived/text-1")
	swept, err := archive.Sweep(t.Context(), r.Store, time.Now().Add(time.Hour), true)
	if err != nil || len(swept.Objects) != 1 || swept.Objects[0].Key != other.Key {
		t.Errorf("%+v, %v", swept, err)
	}
	if after := r.files("c/derived/text-1"); len(after) != len(before)-1 || after[filepath.Base(open.Key)] == "" {
		t.Errorf("%q are left of %q", names(after), names(before))
	}
	if lines := r.lines(m.Segment()); len(lines) != 1 {
		t.Errorf("%+v", lines)
	}
}

package archivecheck

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGoodArchive(t *testing.T) {
	dir := goodArchive().write(t)
	writeObject(t, dir, "news/data/lost.warc.gz", []byte("left by an attempt that lost"))
	writeObject(t, dir, "news/segments/.tmp-1", nil)
	r, err := CheckDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Faults) > 0 {
		t.Fatalf("faults in a good archive:\n%s", strings.Join(r.Faults, "\n"))
	}
	got := []int{r.Segments, r.Records, r.Warcinfo, r.Responses, r.Revisits, r.Requests, r.Metadata, r.Resources, r.ChunkedRaw, r.ChunkedDecoded}
	if want := []int{3, 27, 3, 7, 2, 8, 6, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	wantPages := map[string]int{
		"http://example.com/": 2, "http://example.com/chunked": 1, "http://example.com/raw": 1,
		"http://www.example.com/cut": 1, "http://example.com/copy": 1, "http://example.org/": 1,
	}
	if !maps.Equal(r.Pages, wantPages) {
		t.Errorf("pages %v, want %v", r.Pages, wantPages)
	}
	if want := map[string]int{"http://example.com/robots.txt": 1}; !maps.Equal(r.Robots, want) {
		t.Errorf("robots %v, want %v", r.Robots, want)
	}
	if want := []string{"news/segments/.tmp-1", "news/data/lost.warc.gz"}; !slices.Equal(r.Orphans, want) {
		t.Errorf("orphans %v, want %v", r.Orphans, want)
	}
	if r.Bytes == 0 {
		t.Error("no bytes counted")
	}
}

func TestNoCrawl(t *testing.T) {
	if _, err := CheckDir(t.TempDir()); !errors.Is(err, ErrNoCrawl) {
		t.Errorf("an empty directory gives %v, want ErrNoCrawl", err)
	}
	if _, err := CheckDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory gives %v", err)
	}
}

// Records of the first segment of goodArchive, by index.
const (
	iInfo = iota
	iResponse
	iRequest
	iMetadata
	iChunked
)

// Records of the second segment.
const (
	iCut         = 4
	iSame        = 7
	iNotModified = 9
)

// A faultCase changes a good archive. One fault must contain the first text of want, and every fault one of
// the texts, so that all consequences of the change are known. A harmless change (no want) has no faults.
type faultCase struct {
	name string
	bend func(first, second *testSegment)
	want []string
}

func set(i int, name, value string) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.records[i].set(name, value) }
}

func set2(i int, name, value string) func(_, second *testSegment) {
	return func(_, s *testSegment) { s.records[i].set(name, value) }
}

func del(i int, name string) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.records[i].del(name) }
}

func del2(i int, names ...string) func(_, second *testSegment) {
	return func(_, s *testSegment) {
		for _, n := range names {
			s.records[i].del(n)
		}
	}
}

func block(i int, text string) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.records[i].block = text }
}

func bendWARC(bend func([]byte) []byte) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.bendWARC = bend }
}

func bendLines(bend func([]string) []string) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.bendLines = bend }
}

// replaceInLine replaces text in the first line, which is of http://example.com/.
func replaceInLine(old, new string) func(first, _ *testSegment) {
	return bendLines(func(lines []string) []string {
		if !strings.Contains(lines[0], old) {
			panic(old + " is not in " + lines[0])
		}
		lines[0] = strings.Replace(lines[0], old, new, 1)
		return lines
	})
}

func bendManifest(bend func(map[string]any)) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.bendManifest = bend }
}

func after(f func(dir string, s *testSegment)) func(first, _ *testSegment) {
	return func(s, _ *testSegment) { s.after = f }
}

func runFaults(t *testing.T, cases []faultCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := goodArchive()
			c.bend(a.segments[0], a.segments[1])
			r, err := CheckDir(a.write(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want[:min(len(c.want), 1)] {
				if !slices.ContainsFunc(r.Faults, func(f string) bool { return strings.Contains(f, w) }) {
					t.Errorf("no fault holds %q", w)
				}
			}
			for _, f := range r.Faults {
				if !slices.ContainsFunc(c.want, func(w string) bool { return strings.Contains(f, w) }) {
					t.Errorf("unexpected fault %q", f)
				}
			}
			if t.Failed() {
				t.Logf("faults:\n%s", strings.Join(r.Faults, "\n"))
			}
		})
	}
}

package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/fixture"
)

func order(crawls ...string) export.Order {
	o := export.Order{Name: "x", Format: export.WARC, Size: export.DefaultSize, Software: "Muninn test"}
	for _, c := range crawls {
		o.Crawls = append(o.Crawls, archive.CrawlAt{Name: c})
	}
	return o
}

func keeping(rules ...string) *export.Rules {
	r, err := export.ReadRules("list", strings.NewReader(strings.Join(rules, "\n")))
	if err != nil {
		panic(err)
	}
	return r
}

// run exports and checks.
func run(t testing.TB, from, to archive.Store, o export.Order) export.Result {
	t.Helper()
	result, err := export.Run(t.Context(), from, to, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := export.Check(t.Context(), from, to, result.Manifest)
	if err != nil || len(checked.Faults) > 0 {
		t.Fatalf("check: %v, %s", err, strings.Join(checked.Faults, "\n"))
	}
	if checked.Records != result.Records {
		t.Errorf("%d records were checked, and %d exported", checked.Records, result.Records)
	}
	return result
}

// records are the records of the WARC files of a folder, by their IDs: type and URL.
func records(t testing.TB, pattern string) (ids map[string]string, list []string) {
	t.Helper()
	ids = map[string]string{}
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = archivecheck.ReadRecords(f, func(r archivecheck.Record) error {
			id, what := r.Headers.Get("WARC-Record-ID"), r.Headers.Get("WARC-Type")+" "+r.Headers.Get("WARC-Target-URI")
			if other, twice := ids[id]; twice {
				t.Errorf("%s: %s has the ID of %s", file, what, other)
			}
			ids[id] = what
			list = append(list, what)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		_ = f.Close()
	}
	return ids, list
}

func missing(t testing.TB, to archive.Store, key string) (list []string) {
	t.Helper()
	if key == "" {
		return nil
	}
	raw, err := archive.ReadAll(t.Context(), to, key, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var m export.Missing
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %s: %s", m.Why, m.URL, m.Reason))
	}
	return list
}

// TestClosure: what a kept capture needs is exported with it, and nothing else; what is not there is reported.
func TestClosure(t *testing.T) {
	from := openDir(t, t.TempDir())
	world(t, from)
	const noCapture = ": the crawls have no capture of it"
	for name, test := range map[string]struct {
		keep, want, missing []string
	}{
		"a page with requisites of two hosts": {
			keep: []string{"http://a.example/page"},
			want: []string{
				"response http://a.example/page", "resource urn:dom:http://a.example/page", "resource urn:view:http://a.example/page", "revisit http://a.example/page",
				"response http://a.example/p.png", "response http://a.example/p.png", // … and that of the day of the revisit, a 304
				"response http://b.example/s.css", "response http://b.example/bg.png", "response http://a.example/api?x=1",
				"response http://a.example/robots.txt", "resource dns:a.example", "resource dns:b.example",
			},
			missing: []string{"requisite http://a.example/gone.png" + noCapture, "robots.txt http://b.example/robots.txt" + noCapture},
		},
		"a redirect": {
			keep: []string{"http://a.example/old"},
			want: []string{"response http://a.example/old", "response http://a.example/middle", "response http://a.example/new", "response http://a.example/robots.txt", "resource dns:a.example"},
		},
		"what was redirected to": {
			keep: []string{"http://a.example/new"},
			want: []string{"response http://a.example/old", "response http://a.example/middle", "response http://a.example/new", "response http://a.example/robots.txt", "resource dns:a.example"},
		},
		"a revisit, whose original brings no requisites": {
			keep: []string{"http://a.example/copy"},
			want: []string{"revisit http://a.example/copy", "response http://a.example/page", "resource urn:dom:http://a.example/page", "resource urn:view:http://a.example/page", "response http://a.example/robots.txt", "resource dns:a.example"},
		},
		"nothing, because a rule before drops it": {
			keep:    []string{"-http://b.example/*", "http://b*"},
			missing: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := order("c")
			o.Keep = keeping(test.keep...)
			result := run(t, from, openDir(t, dir), o)
			_, list := records(t, filepath.Join(dir, "*.warc.gz"))
			var got []string
			for _, r := range list {
				if kind, _, _ := strings.Cut(r, " "); kind != "request" && kind != "metadata" && kind != "warcinfo" {
					got = append(got, r)
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("exported:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			lacks := missing(t, openDir(t, dir), result.List)
			slices.Sort(test.missing)
			if !slices.Equal(lacks, test.missing) {
				t.Errorf("missing:\n%s\nwant:\n%s", strings.Join(lacks, "\n"), strings.Join(test.missing, "\n"))
			}
		})
	}
}

// TestNearest: of several captures of a requisite, that comes which is nearest in time.
func TestNearest(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	for i, name := range []string{"b-1", "b-2", "b-3"} {
		after := 100 * timeOf(i)
		batch{crawl: "c", name: name, exchanges: []exchange{
			{url: "http://a.example/" + name, after: after, body: name, path: "S", links: embeds("http://a.example/p.png")},
			{url: "http://a.example/p.png", after: after + timeOf(1), body: "picture of " + name, path: "SE", mime: "image/png"},
		}}.commit(t, from)
	}
	o := order("c")
	o.Keep = keeping("http://a.example/b-2")
	run(t, from, openDir(t, dir), o)
	files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pictures := 0
	err = archivecheck.ReadRecords(f, func(r archivecheck.Record) error {
		if r.Headers.Get("WARC-Type") == "response" && strings.HasSuffix(r.Headers.Get("WARC-Target-URI"), "p.png") {
			if pictures++; !strings.HasSuffix(string(r.Block), "picture of b-2") {
				t.Errorf("the picture is %q", r.Block)
			}
		}
		return nil
	})
	if err != nil || pictures != 1 {
		t.Errorf("%d pictures, %v", pictures, err)
	}
}

// TestEverything: an export of everything has each record of the archive once, but for a revisit whose original is nowhere; also in parts of any size. The
// checker of archives finds no fault in it.
func TestEverything(t *testing.T) {
	source := t.TempDir()
	from := openDir(t, source)
	world(t, from)
	want, _ := records(t, filepath.Join(source, "*/data/*.warc.gz"))
	for _, size := range []int64{1 << 10, 3000, 10_000, 1 << 40} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir := t.TempDir()
			o := order("c", "d")
			o.Size = size
			result := run(t, from, openDir(t, dir), o)
			got, _ := records(t, filepath.Join(dir, "*.warc.gz"))
			for id, what := range want {
				if got[id] == "" && !strings.HasSuffix(what, "http://d.example/304") {
					t.Errorf("%s is not exported", what)
				}
			}
			if n := len(got) - result.Parts; n != result.Records || n != len(want)-3 {
				t.Errorf("%d records besides those of %d parts, %d reported, %d in the archive", n, result.Parts, result.Records, len(want))
			}
			if lacks := missing(t, openDir(t, dir), result.List); len(lacks) != 1 || !strings.HasPrefix(lacks[0], "kept http://d.example/304: it is a revisit") {
				t.Errorf("missing: %q", lacks)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
			for _, f := range files {
				if info, err := os.Stat(f); err != nil || len(files) > 1 && info.Size() > max(size, 4000)+600 {
					t.Errorf("%s has %d bytes, %v", f, info.Size(), err)
				}
			}
			report, err := archivecheck.CheckExport(os.DirFS(dir))
			if err != nil || len(report.Faults) > 0 || report.Records != len(got) {
				t.Errorf("%d records, %v: %s", report.Records, err, strings.Join(report.Faults, "\n"))
			}
		})
	}
}

// TestSame: an order that is given again writes nothing and passes the parts over; with its files deleted, it writes the same bytes. The order in which crawls
// are named does not count.
func TestSame(t *testing.T) {
	from := openDir(t, t.TempDir())
	world(t, from)
	for _, format := range []export.Format{export.WARC, export.WACZ} {
		t.Run(string(format), func(t *testing.T) {
			dir := t.TempDir()
			o := order("c", "d")
			o.Size, o.Format = 4000, format
			first := run(t, from, openDir(t, dir), o)
			before := files(t, dir)
			o.Crawls[0], o.Crawls[1] = o.Crawls[1], o.Crawls[0]
			again := run(t, from, openDir(t, dir), o)
			if again.Passed != first.Parts || first.Parts < 2 || first.Passed != 0 || again.Manifest != first.Manifest {
				t.Errorf("first %+v, again %+v", first, again)
			}
			compare(t, before, files(t, dir))
			other := t.TempDir()
			run(t, from, openDir(t, other), o)
			compare(t, before, files(t, other))
		})
	}
}

// files are the files of a folder by name.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(raw)
	}
	return out
}

func compare(t testing.TB, want, got map[string]string) {
	t.Helper()
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s: %d bytes, want %d; or others", name, len(got[name]), len(data))
		}
	}
	for name := range got {
		if _, is := want[name]; !is {
			t.Errorf("%s should not be there", name)
		}
	}
}

// dyingStore fails for good after so many bytes and calls, as if its process was killed.
type dyingStore struct {
	archive.Store
	calls, bytes int64
}

var errKilled = errors.New("killed")

func (s *dyingStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if s.calls--; s.calls < 0 {
		return errKilled
	}
	return s.Store.Put(ctx, key, &dyingReader{r, s}, size)
}

func (s *dyingStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if s.calls--; s.calls < 0 {
		return errKilled
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

type dyingReader struct {
	io.Reader
	of *dyingStore
}

func (r *dyingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.of.bytes -= int64(n); r.of.bytes < 0 {
		return 0, errKilled
	}
	return n, err
}

// TestKilled: an export that is cut off at any point and run again has the files of one that was not.
func TestKilled(t *testing.T) { killed(t, 4) }

// TestLongKilled does so at more points.
func TestLongKilled(t *testing.T) { killed(t, 40) }

func killed(t *testing.T, times int64) {
	from := openDir(t, t.TempDir())
	world(t, from)
	for _, format := range []export.Format{export.WARC, export.WACZ} {
		o := order("c", "d")
		o.Size, o.Format = 6000, format
		whole := t.TempDir()
		run(t, from, openDir(t, whole), o)
		want := files(t, whole)
		for n := range times {
			dir := t.TempDir()
			to := openDir(t, dir)
			calls, size := 1+n*5%int64(len(want)), int64(300)<<(n%8)
			_, err := export.Run(t.Context(), from, &dyingStore{to, calls, size}, o, nil)
			if !errors.Is(err, errKilled) {
				t.Fatalf("%s, killed at %d puts or %d bytes: %v", format, calls, size, err)
			}
			if _, err := export.Run(t.Context(), from, to, o, nil); err != nil {
				t.Fatal(err)
			}
			compare(t, want, files(t, dir))
		}
	}
}

// TestAnotherIndex: captures whose index is not the one that its manifest names are reported, and not exported.
func TestAnotherIndex(t *testing.T) {
	source := t.TempDir()
	from := openDir(t, source)
	world(t, from)
	found, _ := filepath.Glob(filepath.Join(source, "c/data/a.example-1*.cdxj"))
	raw, err := os.ReadFile(found[0])
	if err == nil {
		err = os.WriteFile(found[0], bytes.Replace(raw, []byte(`"text/html"`), []byte(`"text/xxxx"`), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := export.ReadIndex(t.Context(), from, []archive.CrawlAt{{Name: "c"}})
	if err != nil || len(x.Damaged) != 1 || !strings.Contains(x.Damaged[0], "a.example-1") {
		t.Errorf("%v, %v", x.Damaged, err)
	}
	if slices.ContainsFunc(x.Captures, func(c export.Capture) bool { return c.MIME == "text/xxxx" }) {
		t.Error("the index is believed")
	}
}

// TestDamaged: what is wrong with a source is reported with the name of its file; the rest is exported.
func TestDamaged(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(raw []byte) []byte
		says   string
	}{
		"cut off":      {func(raw []byte) []byte { return raw[:len(raw)-10] }, "source is damaged"},
		"another byte": {func(raw []byte) []byte { raw[20] ^= 0xff; return raw }, "source is damaged"},
		"empty":        {func([]byte) []byte { return nil }, "nothing in that range"},
		"long header": {func(raw []byte) []byte {
			return append([]byte(fixture.Gzip("WARC/1.1\r\nWARC-Type: x\r\nX-Field: "+strings.Repeat("x", 70_000)+"\r\n")), raw...)
		}, "at 0: the source is damaged: its header has more than 65536 bytes"},
		"no gzip": {func(raw []byte) []byte { return bytes.Repeat([]byte("x"), len(raw)) }, "source is damaged"},
		"gone":    {nil, "no such object"},
	} {
		t.Run(name, func(t *testing.T) {
			source, dir := t.TempDir(), t.TempDir()
			from := openDir(t, source)
			world(t, from)
			found, _ := filepath.Glob(filepath.Join(source, "c/data/a.example-1*.warc.gz"))
			raw, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			if test.damage == nil {
				err = os.Remove(found[0])
			} else {
				err = os.WriteFile(found[0], test.damage(raw), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			result := run(t, from, openDir(t, dir), order("c"))
			lacks := missing(t, openDir(t, dir), result.List)
			// The segment itself, and the two revisits of what it holds.
			if len(lacks) != 3 || !slices.ContainsFunc(lacks, func(s string) bool {
				return strings.Contains(s, "a.example-1") && strings.Contains(s, test.says)
			}) {
				t.Errorf("missing: %s", strings.Join(lacks, "\n"))
			}
			if _, list := records(t, filepath.Join(dir, "*.warc.gz")); !slices.Contains(list, "response http://b.example/s.css") || slices.Contains(list, "revisit http://a.example/copy") {
				t.Errorf("exported: %s", strings.Join(list, "\n"))
			}
			if report, err := archivecheck.CheckExport(os.DirFS(dir)); err != nil || len(report.Faults) > 0 {
				t.Errorf("%v: %s", err, strings.Join(report.Faults, "\n"))
			}
		})
	}
}

// TestDamagedOriginal: a kept revisit whose original cannot be read is not exported, and reported; so is a requisite that lies there.
func TestDamagedOriginal(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	from := openDir(t, source)
	world(t, from)
	found, _ := filepath.Glob(filepath.Join(source, "c/data/a.example-1*.warc.gz"))
	if err := os.Truncate(found[0], 100); err != nil {
		t.Fatal(err)
	}
	o := order("c")
	o.Keep = keeping("http://a.example/copy", "http://b.example/s.css")
	result := run(t, from, openDir(t, dir), o)
	lacks := strings.Join(missing(t, openDir(t, dir), result.List), "\n")
	for _, want := range []string{"kept http://a.example/copy: its original, http://a.example/page at 2026-03-04T05:06:07Z, cannot be read", "original http://a.example/page: read c/data/a.example-1"} {
		if !strings.Contains(lacks, want) {
			t.Errorf("%q is not among what is missing:\n%s", want, lacks)
		}
	}
	_, list := records(t, filepath.Join(dir, "*.warc.gz"))
	if slices.Contains(list, "revisit http://a.example/copy") || !slices.Contains(list, "response http://b.example/s.css") || result.Damaged != 1 {
		t.Errorf("%d damaged: %s", result.Damaged, strings.Join(list, "\n"))
	}
}

// TestCheckFinds: the check finds a byte of a record that is another one, in the export and in its source, and a file that is gone.
func TestCheckFinds(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	from, to := openDir(t, source), openDir(t, dir)
	world(t, from)
	result := run(t, from, to, order("c"))
	exported, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	sources, _ := filepath.Glob(filepath.Join(source, "c/data/*.warc.gz"))
	for name, file := range map[string]string{"export": exported[0], "source": sources[0]} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bent := slices.Clone(raw)
		bent[len(bent)/2] ^= 1
		for what, data := range map[string][]byte{"a byte": bent, "its end": raw[:len(raw)-1]} {
			if err := os.WriteFile(file, data, 0o644); err != nil {
				t.Fatal(err)
			}
			checked, err := export.Check(t.Context(), from, to, result.Manifest)
			if err != nil || !strings.Contains(strings.Join(checked.Faults, "\n"), filepath.Base(file)) {
				t.Errorf("%s, %s: %v, %q", name, what, err, checked.Faults)
			}
		}
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A byte of the header of a gzip member, which no sum of the member covers: the record is whole, but not that of the source.
	raw, err := os.ReadFile(exported[0])
	if err != nil {
		t.Fatal(err)
	}
	second := 10 + bytes.Index(raw[10:], raw[:4]) // where the second member begins
	raw[second+9] ^= 1
	if err := os.WriteFile(exported[0], raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if checked, err := export.Check(t.Context(), from, to, result.Manifest); err != nil || !strings.Contains(strings.Join(checked.Faults, "\n"), "it has not the SHA-256 of its source") {
		t.Errorf("another record: %v, %q", err, checked.Faults)
	}
	if err := os.Remove(exported[0]); err != nil {
		t.Fatal(err)
	}
	if checked, err := export.Check(t.Context(), from, to, result.Manifest); err != nil || len(checked.Faults) == 0 {
		t.Errorf("without its file: %v, %q", err, checked.Faults)
	}
}

// TestWrong: what is wrong with an order names its field, and a crawl that is not there its archive.
func TestWrong(t *testing.T) {
	from := openDir(t, t.TempDir())
	world(t, from)
	_, err := export.Run(t.Context(), from, openDir(t, t.TempDir()), export.Order{Name: "../x", Format: "zip", Keep: &export.Rules{}}, nil)
	for _, field := range []string{"name", "crawls", "format", "size", "keep.list"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	if _, err := export.Run(t.Context(), from, openDir(t, t.TempDir()), order("nobody"), nil); !errors.Is(err, export.ErrNoCrawl) || !strings.Contains(err.Error(), "nobody") {
		t.Error(err)
	}
}

// TestCheckApart: an export lies outside of its archive; a name that only begins as that of the archive is another one.
func TestCheckApart(t *testing.T) {
	for _, test := range []struct {
		from, to string
		apart    bool
	}{
		{"s3://b/archive", "s3://b/archive", false},
		{"s3://b/archive", "s3://b/archive/c/data", false},
		{"s3://b/archive", "s3://b//archive/./exports/", false},
		{"s3://b", "s3://b/exports", false},
		{"s3://b/archive", "s3://b/archive-exports", true},
		{"s3://b/archive", "s3://other/archive/c", true},
		{"s3://b/archive", "s3://b", true},
		{"/a/b", "/a/b/../b/c", false},
		{"/a/b", "file:///a/b/c", false},
		{"/", "/a", false},
		{"/a/b", "/a/bc", true},
		{"/a/b", "s3://b/a/b", true},
	} {
		if err := export.CheckApart(test.from, test.to); (err == nil) != test.apart {
			t.Errorf("%s of %s: %v", test.to, test.from, err)
		}
	}
}

// TestUnmodifiedRequisites: a 304 brings what its original embeds, as it was at the time of the 304.
func TestUnmodifiedRequisites(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	first := batch{crawl: "c", name: "a.example-1@w1.1", exchanges: []exchange{
		{url: "http://a.example/page", path: "S", body: "<p>a page", title: "A page", links: embeds("http://a.example/p.png")},
		{url: "http://a.example/p.png", path: "SE", mime: "image/png", body: "1"},
	}}.commit(t, from)
	page := first[0].Visit
	batch{crawl: "c", name: "a.example-2@w1.1", exchanges: []exchange{
		{url: "http://a.example/page", path: "S", after: timeOf(86400), status: 304, unmodified: &page},
		{url: "http://a.example/p.png", path: "SE", after: timeOf(86400), mime: "image/png", body: "2"},
	}}.commit(t, from)
	o := order("c")
	o.Keep = keeping("http://a.example/page")
	result := run(t, from, openDir(t, dir), o)
	if result.Groups[export.WhyKept] != 2 || result.Groups[export.WhyRequisite] != 2 {
		t.Errorf("%v", result.Groups)
	}
}

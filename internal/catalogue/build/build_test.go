package build_test

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

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/build"
	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
)

var (
	epoch  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	ravens = archive.CrawlAt{Name: "ravens"}
)

func open(t testing.TB) catalogue.Catalogue {
	t.Helper()
	c, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// dump is all that a catalogue has, as text.
func dump(t testing.TB, c catalogue.Catalogue) (lines []string) {
	t.Helper()
	err := c.Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(e catalogue.Entry) error {
		lines = append(lines, fmt.Sprintf("%+v", e))
		return nil
	})
	err = errors.Join(err, c.Answers(t.Context(), catalogue.AnswerQuery{}, func(a catalogue.Answer) error {
		lines = append(lines, fmt.Sprintf("%+v", a))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func later(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// filled is an archive with captures of every kind.
func filled(t testing.TB) *catalogtest.Archive {
	a := catalogtest.NewArchive(t)
	a.Segment("a.example-1@w.1",
		catalogtest.Response{URL: "dns:a.example", DNS: "a.example.\t300\tIN\tCNAME\tb.example.\nb.example.\t60\tIN\tA\t192.0.2.7\nb.example.\t60\tIN\tAAAA\t2001:db8::1\nbad"},
		catalogtest.Response{URL: "http://a.example/robots.txt", Body: "User-agent: *\n", MIME: "text/plain", Robots: true},
		catalogtest.Response{URL: "http://a.example/", Body: "<p>first", Title: "The first  page"},
		catalogtest.Response{URL: "http://a.example/picture.png", Body: strings.Repeat("\x89PNG", 1000), MIME: "image/png"},
		catalogtest.Response{URL: "http://a.example/same", Body: "<p>first", Title: "The same page", Date: later(5)},
		catalogtest.Response{URL: "http://a.example/", Body: "<p>second", Title: "Again", Date: later(9)},
	)
	a.Segment("a.example-2@w.1",
		catalogtest.Response{URL: "http://a.example/", Body: "<p>first", Title: "As before", Date: later(100)},
		catalogtest.Response{URL: "http://a.example/picture.png", Head: "HTTP/1.1 304 Not Modified\n", Unmodified: true, Date: later(101)},
		catalogtest.Response{URL: "http://a.example/old", Body: "no header", MIME: "", Headerless: true, Date: later(102)},
	)
	return a
}

// TestFill: what the index, the metadata records, the revisit records and the DNS records say is in the catalogue.
func TestFill(t *testing.T) {
	a, c := filled(t), open(t)
	b := build.Builder{Store: a.Store, To: c}
	done, err := b.Fill(t.Context(), ravens)
	if want := (build.Filled{Segments: 2, Captures: 8, Answers: 2}); err != nil || done != want {
		t.Fatalf("%+v, %v, want %+v", done, err, want)
	}
	var got []string
	err = c.Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(e catalogue.Entry) error {
		if e.WARC == "" || e.Run != 2 || e.Crawl != ravens || !strings.HasPrefix(e.Segment, "a.example-") {
			t.Errorf("%+v", e)
		}
		original := ""
		if e.Original.URL != "" {
			original = fmt.Sprintf(" of %s at +%v", e.Original.URL, e.Original.Date.Sub(epoch).Seconds())
		}
		got = append(got, fmt.Sprintf("%s +%v %d %s [%s] %s %s %.1f%s", e.Key, e.Date.Sub(epoch).Seconds(), e.Status, e.MIME, e.Title, e.Language, e.Application, e.Score, original))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"example,a)/ +0 200 text/html [The first  page] en wordpress 0.5",
		"example,a)/ +9 200 text/html [Again] en wordpress 0.5",
		"example,a)/ +100 200 warc/revisit [As before] en wordpress 0.5 of http://a.example/ at +0",
		"example,a)/old +102 0 text/plain []   -1.0",
		"example,a)/picture.png +0 200 image/png []   -1.0",
		"example,a)/picture.png +101 0 warc/revisit []   -1.0 of http://a.example/picture.png at +0",
		"example,a)/robots.txt +0 200 text/plain []   -1.0",
		"example,a)/same +5 200 warc/revisit [The same page] en wordpress 0.5 of http://a.example/ at +0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var answers []string
	err = c.Answers(t.Context(), catalogue.AnswerQuery{Name: "a.example"}, func(a catalogue.Answer) error {
		answers = append(answers, fmt.Sprintf("%s %s %s", a.Name, a.Address, a.Date.Format(time.RFC3339)))
		return nil
	})
	if want := []string{"a.example 192.0.2.7 2026-03-04T05:06:07Z", "a.example 2001:db8::1 2026-03-04T05:06:07Z"}; err != nil || !slices.Equal(answers, want) {
		t.Errorf("%v, %v", answers, err)
	}
	if done, err := b.Fill(t.Context(), ravens); err != nil || done != (build.Filled{}) {
		t.Errorf("again: %+v, %v", done, err)
	}
	if done, err := (&build.Builder{Store: a.Store, To: c}).Fill(t.Context(), ravens); err != nil || done != (build.Filled{}) {
		t.Errorf("by another process: %+v, %v", done, err)
	}
}

// TestRebuilt: a catalogue that was deleted is built again with the same content, whatever order the segments came in before.
func TestRebuilt(t *testing.T) {
	a := filled(t)
	first := open(t)
	b := build.Builder{Store: a.Store, To: first}
	if _, err := b.Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		a.Segment(fmt.Sprintf("%d.example-%d@w.1", 97-i, i), catalogtest.Response{URL: "http://a.example/", Body: fmt.Sprint("<p>", i%7), Title: fmt.Sprint(i), Date: later(i % 3)})
		if i%6 == 0 {
			if _, err := b.Fill(t.Context(), ravens); err != nil {
				t.Fatal(err)
			}
		}
	}
	if done, err := b.Fill(t.Context(), ravens); err != nil || done.Segments != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	second := open(t)
	if _, err := (&build.Builder{Store: a.Store, To: second}).Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(t, second), dump(t, first); len(want) != 30 || !slices.Equal(got, want) {
		t.Errorf("%d and %d lines: got\n%s\nwant\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDamaged: a segment that cannot be read is reported and passed over; without a place to report it, filling ends.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string, m archive.Manifest){
		"WARC gone": func(t *testing.T, dir string, m archive.Manifest) { remove(t, filepath.Join(dir, m.WARC.Key)) },
		"CDXJ gone": func(t *testing.T, dir string, m archive.Manifest) { remove(t, filepath.Join(dir, m.CDXJ.Key)) },
		"WARC cut off": func(t *testing.T, dir string, m archive.Manifest) {
			truncate(t, filepath.Join(dir, m.WARC.Key), m.WARC.Bytes-100)
		},
		"WARC is none": func(t *testing.T, dir string, m archive.Manifest) {
			write(t, filepath.Join(dir, m.WARC.Key), "PK\x03\x04")
		},
		"CDXJ is none": func(t *testing.T, dir string, m archive.Manifest) {
			write(t, filepath.Join(dir, m.CDXJ.Key), "x y {}\n")
		},
		"an odd URL": func(t *testing.T, dir string, m archive.Manifest) { index(t, dir, m, "mailto:x", "0", "100") },
		"a length below 0": func(t *testing.T, dir string, m archive.Manifest) {
			index(t, dir, m, "http://a.example/", "500", "-100")
		},
		"a large offset": func(t *testing.T, dir string, m archive.Manifest) {
			index(t, dir, m, "http://a.example/", "5000000", "9223372036854775807")
		},
		"CDXJ of another": func(t *testing.T, dir string, m archive.Manifest) { // which is a good one, too
			raw, err := os.ReadFile(filepath.Join(dir, m.CDXJ.Key))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, m.CDXJ.Key), strings.Replace(string(raw), `"text/html"`, `"text/xxxx"`, 1))
		},
		"a copy of a manifest": func(t *testing.T, dir string, m archive.Manifest) {
			raw, err := os.ReadFile(filepath.Join(dir, "ravens/segments/"+m.Segment()+".json"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "ravens/segments/"+m.Segment()+".json"), strings.ReplaceAll(string(raw), m.Batch, "good.example-1@w.1"))
		},
		"no manifest": func(t *testing.T, dir string, m archive.Manifest) {
			write(t, filepath.Join(dir, "ravens/segments/"+m.Segment()+".json"), "{")
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := catalogtest.NewArchive(t), open(t)
			bad := a.Segment("bad.example-1@w.1", catalogtest.Response{URL: "http://bad.example/", Body: "<p>bad"})
			a.Segment("good.example-1@w.1", catalogtest.Response{URL: "http://good.example/", Body: "<p>good"})
			damage(t, a.Dir, bad)
			if _, err := (&build.Builder{Store: a.Store, To: c}).Fill(t.Context(), ravens); err == nil {
				t.Error("filling did not end")
			}
			var reports []string
			b := build.Builder{Store: a.Store, To: c, Damaged: func(err error) { reports = append(reports, err.Error()) }}
			for range 2 {
				if _, err := b.Fill(t.Context(), ravens); err != nil {
					t.Fatal(err)
				}
			}
			if len(reports) != 1 || !strings.Contains(reports[0], "bad.example-1@w.1") {
				t.Errorf("reports %q", reports)
			}
			if lines := dump(t, c); len(lines) != 1 || !strings.Contains(lines[0], "good.example") {
				t.Errorf("%q", lines)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, file string, size int64) {
	t.Helper()
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	remove(t, file)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func index(t *testing.T, dir string, m archive.Manifest, url, offset, length string) {
	write(t, filepath.Join(dir, m.CDXJ.Key), fmt.Sprintf(`x 20260304050607 {"url": %q, "mime": "text/html", "status": "200", "digest": "A", "length": %q, "offset": %q, "filename": "x"}`+"\n", url, length, offset))
}

// TestFaults: a fault of the store or of the catalogue ends a call, and the next one continues.
func TestFaults(t *testing.T) {
	a, c := filled(t), open(t)
	fault := errors.New("out of reach")
	faulty := &faultyCatalogue{Catalogue: c, fault: fault}
	b := build.Builder{Store: a.Store, To: faulty, Damaged: func(err error) { t.Errorf("damaged: %v", err) }}
	if done, err := b.Fill(t.Context(), ravens); !errors.Is(err, fault) || done.Segments != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	faulty.adds = true
	if _, err := b.Fill(t.Context(), ravens); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
	faulty.fault = nil
	if done, err := b.Fill(t.Context(), ravens); err != nil || done.Segments != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

// faultyCatalogue fails at HasSegment, or at AddSegments.
type faultyCatalogue struct {
	catalogue.Catalogue
	adds  bool
	fault error
}

func (f *faultyCatalogue) HasSegment(ctx context.Context, n catalogue.SegmentName) (bool, error) {
	if f.fault != nil && !f.adds {
		return false, f.fault
	}
	return f.Catalogue.HasSegment(ctx, n)
}

func (f *faultyCatalogue) AddSegments(ctx context.Context, s ...catalogue.Segment) error {
	if f.fault != nil {
		return f.fault
	}
	return f.Catalogue.AddSegments(ctx, s...)
}

// TestDescribe: a derivation may set titles that metadata records do not have.
func TestDescribe(t *testing.T) {
	a, c := filled(t), open(t)
	b := build.Builder{Store: a.Store, To: c, Describe: func(_ context.Context, name catalogue.SegmentName, entries []catalogue.Entry) error {
		for i := range entries {
			if e := &entries[i]; e.Title == "" && e.URL == "http://a.example/old" && name.Name == "a.example-2@w.1-0123456789abcdef" {
				e.Title = "derived"
			}
		}
		return nil
	}}
	if _, err := b.Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(dump(t, c), "\n"); strings.Count(lines, "Title:derived") != 1 {
		t.Error(lines)
	}
}

// TestFollow: a segment and a crawl that come while a catalogue is followed are there within a minute, also after a fault.
func TestFollow(t *testing.T) {
	a, c := catalogtest.NewArchive(t), open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	clock, looks := time.Duration(0), 0
	var reports []string
	seen := func(url string) bool {
		n := 0
		if err := c.Query(t.Context(), catalogue.Query{URL: url}, func(catalogue.Entry) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
	put := map[string]time.Duration{} // URLs that were committed, with the time
	follow := build.Follow{
		Builder: &build.Builder{Store: a.Store, To: c},
		Report: func(at archive.CrawlAt, done build.Filled, err error) {
			reports = append(reports, fmt.Sprintf("%s %d %v", at.Name, done.Segments, err))
		},
		Crawls: func(ctx context.Context) ([]archive.CrawlAt, error) {
			if looks == 2 {
				return nil, errors.New("out of reach")
			}
			return archive.Crawls(ctx, a.Store)
		},
		Wait: func(ctx context.Context, d time.Duration) error {
			clock += d
			looks++
			for url, at := range put {
				if !seen(url) && clock-at >= time.Minute {
					t.Errorf("%s was committed at %v, and is not seen at %v", url, at, clock)
				}
			}
			switch looks {
			case 1:
				a.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>a"})
				put["http://a.example/"] = clock
			case 5:
				a.Segment("a.example-2@w.1", catalogtest.Response{URL: "http://a.example/2", Body: "<p>2"})
				a.SegmentOf(archive.Label{Prefix: "deep/er", Crawl: "crows", Batch: "b.example-1@w.1", Nonce: "0123456789abcdef"}, catalogtest.Response{URL: "http://b.example/", Body: "<p>b"})
				put["http://a.example/2"], put["http://b.example/"] = clock, clock
			case 12:
				cancel()
			}
			return ctx.Err()
		},
	}
	if err := follow.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	want := []string{" 0 out of reach", "ravens 1 <nil>", "ravens 1 <nil>", "crows 1 <nil>"}
	slices.Sort(reports)
	slices.Sort(want)
	if !slices.Equal(reports, want) || !seen("http://b.example/") {
		t.Errorf("%q, want %q", reports, want)
	}
}

// TestGivenBack: the manifest of a batch that was given back is read once.
func TestGivenBack(t *testing.T) {
	a, c := catalogtest.NewArchive(t), open(t)
	label := archive.Label{Crawl: "ravens", Batch: "a.example-1@w.1", Nonce: "0123456789abcdef", Worker: "w"}
	if err := archive.GiveBack(t.Context(), a.Store, label, epoch); err != nil {
		t.Fatal(err)
	}
	b := build.Builder{Store: a.Store, To: c}
	for range 2 {
		if done, err := b.Fill(t.Context(), ravens); err != nil || done != (build.Filled{}) {
			t.Errorf("%+v, %v", done, err)
		}
		remove(t, filepath.Join(a.Dir, "ravens/segments", label.Segment()+".json")) // a second reading would fail
		if err := os.WriteFile(filepath.Join(a.Dir, "ravens/segments", label.Segment()+".json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("20260304050607\na.example.\t300\tIN\tA\t192.0.2.7\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range build.ParseAnswer("a.example", text) {
			if !a.Address.IsValid() || a.Date.IsZero() {
				t.Errorf("%+v", a)
			}
		}
	})
}

package archive_test

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// TestMembers: the records of a WARC object are read from wherever one begins up to wherever one does, with what their headers say; the index gives the same positions.
func TestMembers(t *testing.T) {
	dir, store := newDir(t)
	pages, dns := everything(t)
	s, recorded := segment(t, "b", unknown, pages...)
	if err := s.Resource(dns); err != nil {
		t.Fatal(err)
	}
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m.WARC.Key)))
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(raw)
	var all []archive.Member
	read := func(from, to int64) (list []archive.Member) {
		t.Helper()
		err := archive.ReadMembers(file, from, to, func(rec archive.Member) (bool, error) {
			list = append(list, rec)
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if all = read(0, m.WARC.Bytes); len(all) != m.Records || all[0].Kind != "warcinfo" || all[0].Offset != 0 {
		t.Fatalf("%d records, %+v", len(all), all)
	}
	byID := map[string]archive.Member{}
	for i, rec := range all {
		if byID[rec.ID] = rec; i+1 < len(all) {
			if one := read(rec.Offset, all[i+1].Offset); len(one) != 1 || one[0].ID != rec.ID {
				t.Errorf("record %d: %+v", i, one)
			}
		}
		if of := byID[rec.Of]; (rec.Kind == "request" || rec.Kind == "metadata") && of.URL != rec.URL {
			t.Errorf("%s of %q goes with %+v", rec.Kind, rec.URL, of)
		}
		if rec.Kind == "revisit" && (rec.RefersTo == "" || rec.RefersToDate.IsZero()) {
			t.Errorf("%+v", rec)
		}
	}
	for i, r := range recorded {
		if byID[r.ID].URL != pages[i].URL {
			t.Errorf("%s has the record %+v", pages[i].URL, byID[r.ID])
		}
	}
	err = archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
		if one := read(i.Offset, i.Offset+i.Length); len(one) != 1 || one[0].URL != i.URL {
			t.Errorf("%+v: %+v", i, one)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-30] ^= 1
	if err := archive.ReadMembers(bytes.NewReader(raw), 0, m.WARC.Bytes, func(archive.Member) (bool, error) { return true, nil }); !archive.Damaged(err) {
		t.Errorf("a damaged object: %v", err)
	}
}

// TestMetadataOf: what the metadata record of a page says of it.
func TestMetadataOf(t *testing.T) {
	long := "outlink: http://a.example/ L a\r\n" + strings.Repeat("outlink: x", 100_000)
	m, err := archive.ReadMetadata(strings.NewReader("via: http://v.example/\r\nhopsFromSeed: LL\r\ntitle: A: title\r\nlanguage: de\r\nno field\r\nmuninn-application: forum\r\nmuninn-level: thread\r\nmuninn-robots: noindex\r\nmuninn-undecoded: \xff\r\n"+long), nil)
	if want := (archive.MetadataOf{Via: "http://v.example/", Path: "LL", Title: "A: title", Language: "de", Application: "forum", Level: "thread", Robots: "noindex", Undecoded: "\uFFFD"}); err != nil || m != want {
		t.Errorf("%+v, %v", m, err)
	}
	var links []string
	title := strings.Repeat("a", 10_000)
	m, err = archive.ReadMetadata(strings.NewReader("muninn-loaded: http://a.example/style\r\nmuninn-object: {}\r\noutlink: http://a.example/"+title+" X =JS\r\noutlink: http://a.example/b L a/@href\r\noutlink: x\ntitle: "+title+"\r\nlanguage: en"),
		func(url []byte, hop string) { links = append(links, hop+" "+string(url)) })
	if want := []string{"E http://a.example/style", "X http://a.example/" + title, "L http://a.example/b", " x"}; err != nil || !slices.Equal(links, want) || m.Title != title || m.Language != "en" {
		t.Errorf("%q, %+v, %v", links, m, err)
	}
}

// FuzzMembers: whatever a file holds, reading it ends, and all that is read lies within it.
func FuzzMembers(f *testing.F) {
	record := "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 13\r\n\r\ntitle: a\r\n\r\n\r\n\r\n\r\n"
	f.Add([]byte(fixture.Gzip(record)), int64(0), int64(1000))
	f.Add([]byte(fixture.Gzip(record)+fixture.Gzip(record)), int64(0), int64(1000))
	f.Add([]byte(record), int64(0), int64(10))
	f.Add([]byte(fixture.Gzip("")), int64(0), int64(10))
	f.Add([]byte("\x1f\x8b"), int64(-1), int64(10))
	f.Fuzz(func(t *testing.T, raw []byte, from, to int64) {
		if from < 0 || from > int64(len(raw)) {
			from = 0
		}
		last := int64(-1)
		_ = archive.ReadMembers(bytes.NewReader(raw), from, to, func(rec archive.Member) (bool, error) {
			if rec.Offset <= last || rec.Offset < from || rec.Offset >= to || rec.Offset >= int64(len(raw)) {
				t.Fatalf("a record at %d behind one at %d, of %d bytes from %d to %d", rec.Offset, last, len(raw), from, to)
			}
			last = rec.Offset
			if rec.Kind == "metadata" {
				if m, err := archive.ReadMetadata(rec.Block, nil); err == nil && strings.ContainsAny(m.Title+m.Via, "\n") {
					t.Fatalf("%+v", m)
				}
			}
			_, _ = io.Copy(io.Discard, rec.Block)
			return true, nil
		})
	})
}

// A place where no record can be is damage, and no panic.
func TestMembersOfNoPlace(t *testing.T) {
	file := bytes.NewReader([]byte("not much"))
	for _, c := range [][2]int64{{-1, 5}, {math.MinInt64, 5}, {5, 4}, {math.MaxInt64 - 7, math.MinInt64}, {math.MaxInt64, 8}} {
		err := archive.ReadMembers(file, c[0], c[1], func(archive.Member) (bool, error) { return true, nil })
		if !archive.Damaged(err) {
			t.Errorf("%d to %d: %v", c[0], c[1], err)
		}
	}
	for _, c := range [][2]int64{{8, 8}, {math.MaxInt64 - 7, math.MaxInt64}} { // nothing is there
		if err := archive.ReadMembers(file, c[0], c[1], func(archive.Member) (bool, error) { return true, nil }); err != nil {
			t.Errorf("%d to %d: %v", c[0], c[1], err)
		}
	}
}

package export

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// FuzzRecords: whatever stands in a WARC file, its records lie one behind the other within it.
func FuzzRecords(f *testing.F) {
	record := "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 34\r\n\r\nvia: x\r\noutlink: http://b/ E img\r\n\r\n\r\n"
	f.Add([]byte(fixture.Gzip(record) + fixture.Gzip(strings.Replace(record, "metadata", "request", 1))))
	f.Add([]byte(fixture.Gzip(record))[:40])
	f.Add([]byte(fixture.Gzip("WARC/1.1\r\n")))
	f.Add([]byte(fixture.Gzip("WARC/1.1\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n") + "PK"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, at := newRecordReader(bytes.NewReader(raw), 0), int64(0)
		for {
			rec, err := r.next()
			if err != nil {
				return
			}
			if rec.offset != at || rec.length <= 0 || at+rec.length > int64(len(raw)) || rec.kind == "" {
				t.Fatalf("%+v at %d of %d", rec, at, len(raw))
			}
			at += rec.length
			if rec.kind != "metadata" {
				continue
			}
			for _, n := range rec.meta.needs {
				if n.hop != 'E' && n.hop != 'X' && n.hop != 'R' {
					t.Fatalf("%+v", n)
				}
			}
		}
	})
}

// FuzzPlan: a plan that is read has only records that lie within their sources; what was written is read as it was.
func FuzzPlan(f *testing.F) {
	p := &Part{Number: 1, Of: Order{Name: "x", Format: WARC, Size: 1 << 20}, Date: time.Unix(0, 0).UTC(), Sources: []PartOf{{Segment: "s", WARC: archive.Stored{Key: "k", Bytes: 100}}},
		Groups: []PartGroup{{Runs: runs{{10, 20, 30}, {70, 30}}, Why: WhyKept, Capture: &archive.Indexed{URL: "http://a.example/", Offset: 10, Length: 20}}}}
	raw, err := p.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(bytes.Replace(raw, []byte("[70,30]"), []byte("[70,31]"), 1))
	f.Add(bytes.Replace(raw, []byte("[70,30]"), []byte("[70,9223372036854775807,9223372036854775807]"), 1))
	f.Add([]byte(`{"sources":[]}` + "\n" + `{"s":0,"r":[[1,2]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decodePart(raw)
		if err != nil {
			return
		}
		for _, g := range p.Groups {
			for _, r := range g.Runs {
				if end := r.end(); r[0] < 0 || end <= r[0] || end > p.Sources[g.Source].WARC.Bytes {
					t.Fatalf("%v of %d bytes", r, p.Sources[g.Source].WARC.Bytes)
				}
			}
		}
		bytesOf := int64(0)
		p.chunks(func(c chunk) bool {
			bytesOf += c.length
			return c.length > 0 && c.length <= maxRead
		})
		if again, err := p.encode(); err == nil {
			if q, err := decodePart(again); err != nil || len(q.Groups) != len(p.Groups) || q.bytes() != p.bytes() {
				t.Fatalf("%v: %d groups of %d", err, len(q.Groups), len(p.Groups))
			}
		}
	})
}

// TestHostile: a header without end, a bomb in place of metadata, and a field of any length take little memory, or are an error.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"a header without end": "WARC/1.1\r\n" + strings.Repeat("A: b\r\n", 1<<20),
		"a line without end":   "WARC/1.1\r\nWARC-Type: " + strings.Repeat("x", 1<<20),
		"no version":           "HTTP/1.1 200 OK\r\n\r\n",
		"no length":            "WARC/1.1\r\nWARC-Type: metadata\r\n\r\n",
		"no type":              "WARC/1.1\r\nA: b\r\nContent-Length: 0\r\n\r\n",
		"a block cut off":      "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 10\r\n\r\nvia: x",
	} {
		if _, err := newRecordReader(strings.NewReader(fixture.Gzip(text)), 0).next(); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	long := fixture.Gzip("WARC/1.1\r\nWARC-Type: request\r\nX-Field: " + strings.Repeat("x", 60_000) + "\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 0\r\n\r\n")
	if rec, err := newRecordReader(strings.NewReader(long), 0).next(); err != nil || rec.url != "http://a.example/" || rec.length != int64(len(long)) {
		t.Errorf("a line of 60 kB: %+v, %v", rec, err)
	}
	links := strings.Repeat("outlink: http://a.example/ E x\r\n", 1<<20)
	bomb := fixture.Gzip(fmt.Sprintf("WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: %d\r\n\r\n%s", len(links), links))
	r := newRecordReader(strings.NewReader(bomb), 0)
	if rec, err := r.next(); err != nil || len(rec.meta.needs) != (16<<20)/len("outlink: http://a.example/ E x\r\n") || rec.length != int64(len(bomb)) {
		t.Errorf("%d of the links, %d of %d of the member, %v", len(rec.meta.needs), rec.length, len(bomb), err)
	}
	small := newRecordReader(strings.NewReader(fixture.Gzip("WARC/1.1\r\nWARC-Type: request\r\nContent-Length: 1000\r\n\r\n"+strings.Repeat("x", 1000))), 0)
	small.Most = 1000
	if _, err := small.next(); err == nil || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("a record that is too long: %v", err)
	}
}

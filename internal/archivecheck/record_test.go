package archivecheck

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestReadRecords(t *testing.T) {
	text := "WARC/1.1\r\nWARC-Type: metadata\r\nFolded: one\r\n\ttwo\r\nwarc-concurrent-to: a\r\nWARC-Concurrent-To: b\r\nContent-Length: 5\r\n\r\nblock\r\n\r\n"
	first, second := gzipMember(warcinfo(1).bytes()), gzipMember([]byte(text))
	var got []Record
	err := ReadRecords(bytes.NewReader(slices.Concat(first, second)), func(r Record) error {
		r.Block = bytes.Clone(r.Block)
		got = append(got, r)
		return nil
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d records, error %v", len(got), err)
	}
	r := got[1]
	if r.Offset != int64(len(first)) || r.Length != int64(len(second)) || r.Version != "WARC/1.1" || string(r.Block) != "block" {
		t.Errorf("got %+v", r)
	}
	if v := r.Headers.Get("FOLDED"); v != "one two" {
		t.Errorf("folded field is %q", v)
	}
	if v := r.Headers.All("WARC-Concurrent-To"); !slices.Equal(v, []string{"a", "b"}) {
		t.Errorf("repeated field is %q", v)
	}
}

func TestReadRecordsStops(t *testing.T) {
	stop := errors.New("stop")
	data := slices.Concat(gzipMember(warcinfo(1).bytes()), gzipMember(warcinfo(2).bytes()))
	n := 0
	err := ReadRecords(bytes.NewReader(data), func(Record) error { n++; return stop })
	if err != stop || n != 1 {
		t.Errorf("after %d records: %v", n, err)
	}
	if err := ReadRecords(strings.NewReader(""), nil); err != nil {
		t.Errorf("an empty input gives %v", err)
	}
	err = ReadRecords(bytes.NewReader(data[:5]), nil)
	if !errors.Is(err, ErrMember) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a gzip header gives %v", err)
	}
}

// FuzzReadRecords: for any input, members follow each other without a gap, the block has the length that
// its header says, and each record can be read again with only its offset and length.
func FuzzReadRecords(f *testing.F) {
	for _, s := range goodArchive().segments {
		var file []byte
		for _, r := range s.records {
			f.Add(r.bytes(), true)
			file = append(file, gzipMember(r.bytes())...)
		}
		f.Add(file, false)
	}
	f.Add([]byte("WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\nWARC/1.1\r\n"), true)
	f.Add([]byte("WARC/1.1\r\n folded\r\nContent-Length: 99999999999999999999\r\n\r\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, compress bool) {
		if compress {
			data = gzipMember(data)
		}
		var end int64
		err := ReadRecords(bytes.NewReader(data), func(r Record) error {
			if r.Offset != end || r.Length <= 0 {
				t.Fatalf("record at %d with %d bytes after one that ends at %d", r.Offset, r.Length, end)
			}
			end = r.Offset + r.Length
			if n, err := contentLength(r.Headers); err != nil || n != int64(len(r.Block)) {
				t.Fatalf("block of %d bytes, Content-Length %d, %v", len(r.Block), n, err)
			}
			block := bytes.Clone(r.Block)
			return ReadRecords(bytes.NewReader(data[r.Offset:end]), func(again Record) error {
				if again.Offset != 0 || again.Length != r.Length || !slices.Equal(again.Headers, r.Headers) || !bytes.Equal(again.Block, block) {
					t.Fatalf("read alone it is %+v", again)
				}
				if m, err := parseResponse(block); err == nil && m.chunked() {
					if decoded, _ := dechunk(m.body); len(decoded) > len(m.body) {
						t.Fatal("a body grew by decoding")
					}
				}
				return nil
			})
		})
		if err == nil && end != int64(len(data)) {
			t.Fatalf("no error, but %d of %d bytes read", end, len(data))
		}
	})
}

package archive

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/fixture"
)

// plainRecord is a record of a WARC file as text.
const plainRecord = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.example/>\r\nContent-Length: 5\r\n\r\nblock\r\n\r\n"

// FuzzReadWARC: whatever the bytes of a file are, its records are read to its end or to an error. A record has the block that its Content-Length
// says, but for the last one of a file that is cut off.
func FuzzReadWARC(f *testing.F) {
	for _, text := range []string{
		plainRecord, plainRecord + plainRecord, strings.ReplaceAll(plainRecord, "\r", ""),
		"WARC/1.0\r\nX: y\r\n z\r\ncontent-length: 0\r\n\r\n", "WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"WARC/1.1\n\n", "WARC/", "\r\n\r\n", "filedesc://a", "PK\x03\x04",
	} {
		f.Add([]byte(text))
		f.Add([]byte(fixture.Gzip(text)))
		f.Add([]byte(fixture.Gzip(text))[:15])
		f.Add([]byte(fixture.Gzip(text) + fixture.Gzip(plainRecord)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		cut := false
		err := readRecords(strings.NewReader(string(file)), func(rec Captured) (bool, error) {
			if cut {
				t.Error("a record behind one that is cut off")
			}
			_, err := io.Copy(io.Discard, rec.Block)
			cut = err != nil
			return true, nil
		})
		if cut && err == nil || errors.Is(err, io.EOF) {
			t.Errorf("cut off: %v, error %v", cut, err)
		}
	})
}

// TestReadWARCFaults: what is wrong with a record is said, with its number.
func TestReadWARCFaults(t *testing.T) {
	for _, test := range []struct{ file, says string }{
		{plainRecord + "WARC/1.1\r\nno field\r\n", `record 2: line 2 of its header is no field: "no field"`},
		{plainRecord + "WARC/1.1\r\n\r\n", "record 2: it has no Content-Length"},
		{plainRecord + "noise", `record 2: it begins with "noise"`},
		{plainRecord + strings.Repeat("\n", maxGap+1), "record 2: more than 64 bytes of line ends"},
		{plainRecord + "WAR", "record 2: " + ErrCutOff.Error()},
		{"WARC/1.1\r\nContent-Length: -1\r\n\r\n", "record 1: Content-Length"},
		{"WARC/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "record 1: Content-Length"},
		{"WARC/1.1\r\nX: " + strings.Repeat("x", maxHeader), "record 1: its header has more than 65536 bytes"},
		{fixture.Gzip(plainRecord)[:40], "record 1: " + ErrCutOff.Error()},
		{fixture.Gzip(plainRecord) + "\x1f\x8b", "record 2: " + ErrCutOff.Error()},
		{"\x28\xb5\x2f\xfd", "zstd"},
	} {
		err := readRecords(strings.NewReader(test.file), func(Captured) (bool, error) { return true, nil })
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.60q: %v, want %q", test.file, err, test.says)
		}
	}
}

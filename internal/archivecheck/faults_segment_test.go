package archivecheck

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCDXJFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"order", bendLines(func(l []string) []string { slices.Reverse(l); return l }), []string{"the line sorts before the one above it"}},
		{"missing line", bendLines(func(l []string) []string { return l[1:] }), []string{"has 0 CDXJ lines"}},
		{"double line", bendLines(func(l []string) []string { return slices.Insert(l, 0, l[0]) }), []string{"has 2 CDXJ lines"}},
		{"too many lines", bendLines(func(l []string) []string { return append(slices.Repeat(l[:1], 6), l[1:]...) }), []string{"the index has 9 lines for 3", "has 6 CDXJ lines"}},
		{"double line of a resource", bendLines(func(l []string) []string { return append(l, l[3]) }), []string{"the resource of http://example.com/thing has 2"}},
		{"no final line feed", after(func(dir string, s *testSegment) {
			name := filepath.Join(dir, s.key(".cdxj"))
			data, _ := os.ReadFile(name)
			_ = os.WriteFile(name, data[:len(data)-1], 0o644)
		}), []string{"does not end with a line feed", "bytes", "sha256"}},
		{"no JSON", replaceInLine("{", "["), []string{"not of the form", "has 0 CDXJ lines"}},
		{"short timestamp", replaceInLine("20260102030401", "2026010203040"), []string{"not of the form", "has 0 CDXJ lines"}},
		{"number for a string", replaceInLine(`"status":"200"`, `"status":200`), []string{`"status" is not a JSON string`, "has 0 CDXJ lines"}},
		{"no member", replaceInLine(`"digest"`, `"digests"`), []string{`"digest" is not a JSON string`, "has 0 CDXJ lines"}},
		{"no status", replaceInLine(`"status"`, `"state"`), []string{`status is "", but the record has 200`}},
		{"no status of a revisit", func(_, s *testSegment) {
			s.bendLines = func(lines []string) []string {
				for i, l := range lines {
					lines[i] = strings.Replace(l, `"status":"304",`, "", 1)
				}
				return lines
			}
		}, nil},
		{"offset", replaceInLine(`"offset":"`, `"offset":"1`), []string{"is not the start of a record", "has 0 CDXJ lines"}},
		{"length", replaceInLine(`"length":"`, `"length":"1`), []string{"length is"}},
		{"filename", replaceInLine(`"filename":"`, `"filename":"data/`), []string{"filename is"}},
		{"url", replaceInLine(`"url":"http://example.com/"`, `"url":"http://example.com/x"`), []string{"url is"}},
		{"timestamp", replaceInLine("20260102030401", "20260102030400"), []string{"the timestamp is 20260102030400, but"}},
		{"digest", replaceInLine(`"digest":"`, `"digest":"sha1:`), []string{"digest is"}},
		{"mime of a revisit", replaceInLine(`"mime":"text/html"`, `"mime":"warc/revisit"`), []string{"mime is"}},
		{"surt", replaceInLine("com,example)", "com,exemple)"), []string{"is not the SURT of", "sorts before"}},
	})
}

func TestManifestFaults(t *testing.T) {
	field := func(name string, value any) func(first, _ *testSegment) {
		return bendManifest(func(m map[string]any) { m[name] = value })
	}
	object := func(what, name string, value any) func(first, _ *testSegment) {
		return bendManifest(func(m map[string]any) { m[what].(map[string]any)[name] = value })
	}
	gone := append(lostResponse[4:], "is not of the form news/data/example.com.1-HASH")
	runFaults(t, []faultCase{
		{"version", field("version", 2), []string{"version 2"}},
		{"crawl", field("crawl", "arts"), []string{`of crawl "arts"`}},
		{"batch", field("batch", "other"), []string{`of batch "other"`}},
		{"worker", field("worker", ""), []string{"names no worker"}},
		{"created", field("created", "now"), []string{`created "now"`}},
		{"records", field("records", 3), []string{"says 3 records"}},
		{"shape", field("warc", "x"), append(lostResponse[4:], "not JSON of the expected shape")},
		{"bytes", object("warc", "bytes", 1), []string{"says 1 bytes"}},
		{"sha256", object("links", "sha256", "00"), []string{"says sha256 00"}},
		{"key outside", object("links", "key", "../x.links.zst"), []string{"is not of the form"}},
		{"no key", object("warc", "key", ""), gone},
		{"key of another segment", object("links", "key", "news/data/example.com.2-0a1b2c.links.zst"),
			[]string{"is not of the form", "says sha256", "is also named by news/segments/example.com.1.json", "bytes"}},
		{"missing object", after(func(dir string, s *testSegment) { os.Remove(filepath.Join(dir, s.key(".links.zst"))) }),
			[]string{"links.zst does not exist"}},
		{"flipped byte after the last record", after(func(dir string, s *testSegment) {
			name := filepath.Join(dir, s.key(".links.zst"))
			data, _ := os.ReadFile(name)
			_ = os.WriteFile(name, append(data, 0), 0o644)
		}), []string{"bytes", "sha256", "does not decompress"}},
	})
}

func TestLinksFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"no JSON", func(s, _ *testSegment) { s.links += "nonsense\n" }, []string{"links.zst at 31: the line \"nonsense"}},
		{"blank line", func(s, _ *testSegment) { s.links += "\n" }, []string{"is not JSON"}},
	})
}

// Every fault must begin with its file and offset.
func TestFaultSentence(t *testing.T) {
	a := goodArchive()
	a.segments[0].records[0].version = "WARC/1.0"
	r, err := CheckDir(a.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(r.Faults, "\n"), "news/data/example.com.1-0a1b2c.warc.gz at 0: the record is WARC/1.0, not WARC/1.1."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

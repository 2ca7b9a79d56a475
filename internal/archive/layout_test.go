package archive

import (
	"testing"
	"time"
)

// TestLayout holds the keys fast: archives that exist are read by them.
func TestLayout(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.FixedZone("", 3600))
	l := Layout{"some/prefix", "c"}
	for _, c := range []struct{ got, want, folder string }{
		{l.Manifests(), "some/prefix/c/segments/", ""},
		{l.Manifest("a.example-1-07"), "some/prefix/c/segments/a.example-1-07.json", "segments"},
		{l.Data(), "some/prefix/c/data/", ""},
		{l.object("a.example-1-07", "0123456789abcdef", suffixWARC), "some/prefix/c/data/a.example-1-07-0123456789abcdef.warc.gz", "data"},
		{l.Definition(2), "some/prefix/c/definitions/run-2.json", "definitions"},
		{l.ChangedDefinition(2, []byte("{}")), "some/prefix/c/definitions/run-2-a3a6bf43.json", "definitions"},
		{l.Topic(1), "some/prefix/c/topic/run-1.json", "topic"},
		{l.Snapshot(3, at), "some/prefix/c/learned/run-000003-20260304040607.008.cbor", "learned"},
		{l.Rules(1, "a.example"), "some/prefix/c/kb/run-1/a.example.xml", "kb"},
		{l.Report(1, at), "some/prefix/c/reports/run-1-20260304040607.008.html", "reports"},
		{Layout{"", "c"}.Manifest("s"), "c/segments/s.json", "segments"},
	} {
		if c.got != c.want {
			t.Errorf("%s, not %s", c.got, c.want)
		}
		if c.folder == "" {
			continue
		}
		if of, folder, _ := split(c.got); folder != c.folder || of.Crawl != "c" || of.Prefix != "" && of.Prefix != l.Prefix {
			t.Errorf("%s is of %v, in %s", c.got, of, folder)
		}
	}
	for _, key := range []string{"a", "data/a", "notes/c/a", "kb/run-1/a.xml", "c/other/data.txt"} {
		if of, folder, _ := split(key); of != (Layout{}) || folder != "" {
			t.Errorf("%s is of %v, in %s", key, of, folder)
		}
	}
	for key, want := range map[string]uint32{l.Definition(12): 12, l.ChangedDefinition(7, nil): 7, l.Definitions() + "x": 0, l.Definitions(): 0} {
		if got := l.RunOf(key); got != want {
			t.Errorf("%s is of run %d", key, got)
		}
	}
}

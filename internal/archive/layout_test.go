package archive

import (
	"strings"
	"testing"
	"time"
)

// TestLayout pins the keys, because existing archives are read by them.
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
		{l.Topic(1, "w-1"), "some/prefix/c/topic/run-1@w-1.json", "topic"},
		{l.Snapshot(3, at, "w-1"), "some/prefix/c/learned/run-000003-20260304040607.008@w-1.cbor", "learned"},
		{l.Rules(1, "a.example", "w-1"), "some/prefix/c/kb/run-1/a.example@w-1.xml", "kb"},
		{l.Report(1, at, "w-1"), "some/prefix/c/reports/run-1-20260304040607.008@w-1.html", "reports"},
		{l.Derivations("text", 1), "some/prefix/c/derived/text-1/", ""},
		{l.Derivation("text", 1, "a.example-1-07"), "some/prefix/c/derived/text-1/a.example-1-07.json", "derived"},
		{l.DerivedData("text", 12, "a.example-1-07", "0123456789abcdef0123"), "some/prefix/c/derived/text-12/a.example-1-07-0123456789abcdef.zst", "derived"},
		// of earlier versions
		{l.Topic(1, ""), "some/prefix/c/topic/run-1.json", "topic"},
		{l.Snapshot(3, at, ""), "some/prefix/c/learned/run-000003-20260304040607.008.cbor", "learned"},
		{l.Rules(1, "a.example", ""), "some/prefix/c/kb/run-1/a.example.xml", "kb"},
		{l.Report(1, at, ""), "some/prefix/c/reports/run-1-20260304040607.008.html", "reports"},
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
	handed := Frontiers{}.HandedOver(7, 12, "segments")
	if p, epoch, ok := (Frontiers{}).HandOver(handed); p != 7 || epoch != 12 || !ok {
		t.Errorf("%s is read as partition %d of epoch %d, %v", handed, p, epoch, ok)
	}
	if _, _, ok := (Frontiers{}).HandOver(Frontiers{}.CheckpointPart(7, time.Now(), "segments")); ok {
		t.Error("a part of a checkpoint is taken for an export")
	}
	if want := "_frontier/partitions/0007/epoch-000000000012@segments.part"; handed != want {
		t.Errorf("%s, not %s", handed, want)
	}
	f := Frontiers{}
	for got, want := range map[string]string{
		f.Checkpoint(at, "w-1"):         "_frontier/checkpoints/20260304040607.008@w-1.json",
		f.CheckpointPart(9, at, "w-1"):  "_frontier/checkpoints/0009/20260304040607.008@w-1.part",
		f.CheckpointPart(-1, at, "w-1"): "_frontier/checkpoints/crawls/20260304040607.008@w-1.part",
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
		whole, part := f.IsCheckpoint(got, "w-1")
		if other, otherPart := f.IsCheckpoint(got, "1"); whole == part || part != strings.HasSuffix(got, ".part") || other || otherPart {
			t.Errorf("%s: %v, %v; of another worker %v, %v", got, whole, part, other, otherPart)
		}
	}
	for _, key := range []string{"a", "data/a", f.Checkpoint(at, "segments"), f.CheckpointPart(9, at, "w"), f.SpreadCrawl("segments", "w", nil), "notes/c/a", "kb/run-1/a.xml", "c/other/data.txt", handed} {
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

// TestSegmentNames: the name of a segment gives its batch back, and that of URLs without a batch is known.
func TestSegmentNames(t *testing.T) {
	const nonce = "0123456789abcdef"
	for _, c := range []struct {
		batch, nonce string
		want         string
		ends         bool
	}{
		{"a.example-17@w.3", nonce, "a.example-17@w.3-" + nonce, false},
		{EndsBatch(5, "w"), nonce, "ends-5@w-" + nonce, true},
		{EndsBatch(5, ""), "", "ends-5", true}, // of earlier versions
		{"a.example-17", "", "a.example-17", false},
	} {
		name := SegmentName(c.batch, c.nonce)
		batch, ok := BatchOfSegment(name)
		if name != c.want || ok != (c.nonce != "") || ok && batch != c.batch || IsEndsBatch(c.batch) != c.ends {
			t.Errorf("%s of %q: batch %q, %v; of no batch: %v", name, c.batch, batch, ok, IsEndsBatch(c.batch))
		}
	}
}

// TestNewestSnapshot: a worker continues with what it has learned itself, if it took part in the last run; snapshots of earlier
// versions count, which name no worker.
func TestNewestSnapshot(t *testing.T) {
	l := Layout{"p", "c"}
	key := func(run uint32, minute int, worker string) string {
		return l.Snapshot(run, time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC), worker)
	}
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"none":                  {nil, ""},
		"other files":           {[]string{l.Snapshots() + "run-1.cbor", l.Snapshots() + ".tmp-7", l.Snapshots() + "notes.txt"}, ""},
		"of an earlier version": {[]string{key(1, 1, ""), key(1, 2, "")}, key(1, 2, "")},
		"its own":               {[]string{key(1, 1, "w"), key(1, 2, "w"), key(1, 3, "v")}, key(1, 2, "w")},
		"it was not there":      {[]string{key(1, 9, "w"), key(2, 1, "u"), key(2, 2, "v")}, key(2, 2, "v")},
		"updated meanwhile":     {[]string{key(1, 8, ""), key(2, 1, "w")}, key(2, 1, "w")},
		"set back":              {[]string{key(1, 8, ""), key(2, 1, "")}, key(2, 1, "")},
		"a seventh digit":       {[]string{key(999_999, 1, "w"), key(1_000_000, 1, "w")}, key(1_000_000, 1, "w")},
	} {
		if got := l.NewestSnapshot(c.keys, "w"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

package archivecheck

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/ring"
)

// linksFile is a links sidecar with a link within a PLD and two that lead away, and with a footer that bend may change.
func linksFile(t *testing.T, bend func(footer string) string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize))
	if err != nil {
		t.Fatal(err)
	}
	frame := func(line string) []byte { return w.EncodeAll([]byte(line+"\n"), nil) }
	sources := frame(`{"pages":["http://a.example/x"],"paths":"S"}`)
	home := frame(`{"page":"http://a.example/x","path":"S","url":["/y"],"hop":"L"}`)
	away := frame(`{"from":[0,0],"url":["http://b.example/","http://c.example/"],"hop":"L"}`)
	to := []int{ring.PartitionOf("b.example"), ring.PartitionOf("c.example")}
	slices.Sort(to)
	footer := bend(fmt.Sprintf(`{"version":1,"sources":%d,"frames":[{"bytes":%d,"links":1,"partitions":[%d]},{"bytes":%d,"links":2,"partitions":[%d,%d]}]}`,
		len(sources), len(home), ring.PartitionOf("a.example"), len(away), to[0], to[1]))
	out := slices.Concat(sources, home, away)
	out = binary.LittleEndian.AppendUint32(out, 0x184D2A50)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)+12))
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "MUNINNLF"...)
}

func TestLinksFooterFaults(t *testing.T) {
	replaced := func(before, after string) func(string) string {
		return func(footer string) string { return strings.Replace(footer, before, after, 1) }
	}
	b := fmt.Sprint(ring.PartitionOf("b.example"))
	var cases []faultCase
	for _, c := range []struct {
		name  string
		bend  func(string) string
		words string
	}{
		{"sound", replaced("", ""), ""},
		{"version", replaced(`"version":1`, `"version":2`), "version 2, not 1"},
		{"no JSON", replaced("{", "["), "the footer is not JSON"},
		{"count", replaced(`"links":2`, `"links":3`), "the frame has 2 links, the footer says 3"},
		{"partition", replaced(b, "1023"), "is of partition " + b},
		{"frame missing", func(f string) string { return f[:strings.LastIndex(f, `,{"bytes"`)] + "]}" }, "not where the footer begins"},
		{"frame too long", replaced(`"frames":[{"bytes":`, `"frames":[{"bytes":1`), "behind the end of the frames"},
		{"sources", replaced(`"sources":`, `"sources":0,"x":`), "no frame of"},
	} {
		file := linksFile(t, c.bend)
		words := []string{"bytes", "sha256"} // of the manifest
		if c.words != "" {
			words = append(words, c.words)
		}
		cases = append(cases, faultCase{c.name, after(func(dir string, s *testSegment) {
			_ = os.WriteFile(filepath.Join(dir, s.key(".links.zst")), file, 0o644)
		}), words})
	}
	runFaults(t, cases)
}

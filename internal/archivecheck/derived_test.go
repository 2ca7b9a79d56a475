package archivecheck

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// files is an archive in memory.
type files map[string]string

func (f files) Keys(context.Context) ([]string, error) { return slices.Sorted(maps.Keys(f)), nil }

func (f files) Open(_ context.Context, key string) (io.ReadCloser, error) {
	text, ok := f[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// TestDerived: what was derived is checked as segments are.
func TestDerived(t *testing.T) {
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	data := zip.EncodeAll([]byte("{\"a\":1}\n{\"a\":2}\n"), nil)
	const manifest, key = "c/derived/text-1/s.json", "c/derived/text-1/s-0123456789abcdef.zst"
	good := fmt.Sprintf(`{"version":1,"step":"text","step_version":1,"crawl":"c","segment":"s","lines":2,"data":{"key":%q,"bytes":%d,"sha256":%q}}`, key, len(data), fmt.Sprintf("%x", sha256.Sum256(data)))
	for name, c := range map[string]struct {
		manifest, data string
		says           string
		orphans        int
	}{
		"good":             {good, string(data), "", 0},
		"nothing to say":   {`{"version":1,"step":"text","step_version":1,"crawl":"c","segment":"s"}`, "", "", 0},
		"not JSON":         {"{", string(data), "is not JSON", 1},
		"no data":          {good, "", "does not exist", 0},
		"other data":       {good, string(data[1:]), "the manifest says", 0},
		"lines":            {strings.Replace(good, `"lines":2`, `"lines":3`, 1), string(data), "says 3 lines", 0},
		"version":          {strings.Replace(good, `"version":1`, `"version":2`, 1), string(data), "has version 2", 0},
		"another step":     {strings.Replace(good, `"step_version":1`, `"step_version":2`, 1), string(data), "is of step text-2", 0},
		"another segment":  {strings.Replace(good, `"segment":"s"`, `"segment":"x"`, 1), string(data), `segment "x"`, 0},
		"elsewhere":        {strings.Replace(good, "c/derived", "d/derived", 1), string(data), "beside the manifest", 1},
		"without manifest": {"", string(data), "", 1},
	} {
		source := files{"c/segments/s.json": `{"version":1,"crawl":"c","batch":"s","worker":"w","created":"2026-01-01T00:00:00Z","given_back":true}`, "x/derived/text-1/y.json": "not ours"}
		if c.manifest != "" {
			source[manifest] = c.manifest
		}
		if c.data != "" {
			source[key] = c.data
		}
		report, err := Check(t.Context(), source)
		faults := strings.Join(report.Faults, "; ")
		if err != nil || (c.says == "") != (faults == "") || !strings.Contains(faults, c.says) || len(report.Orphans) != c.orphans {
			t.Errorf("%s: %q, orphans %q, %v", name, faults, report.Orphans, err)
		}
	}
	report, err := Check(t.Context(), files{"c/segments/t.json": `{"version":1,"crawl":"c","batch":"t","worker":"w","created":"2026-01-01T00:00:00Z","given_back":true}`, manifest: good, key: string(data)})
	if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], `no segment "s"`) {
		t.Errorf("%q, %v", report.Faults, err)
	}
}

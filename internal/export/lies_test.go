package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/export"
)

// TestCheckLies: a manifest of an export that names less than was planned, or nothing, is a fault, and a note on a part that is of none is an error that names it.
func TestCheckLies(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	from, to := openDir(t, source), openDir(t, dir)
	world(t, from)
	result := run(t, from, to, order("c"))
	file := filepath.Join(dir, result.Manifest)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var whole export.Manifest
	if err := json.Unmarshal(raw, &whole); err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(m *export.Manifest){
		"nothing":         func(m *export.Manifest) { *m = export.Manifest{} },
		"no part written": func(m *export.Manifest) { m.Written = nil },
		"no file":         func(m *export.Manifest) { m.Written[0].Files = nil },
		"another plan":    func(m *export.Manifest) { m.Parts[0].Plan = "x" },
		"fewer records":   func(m *export.Manifest) { m.Written[0].Records-- },
		"another list": func(m *export.Manifest) {
			m.Missing = &archive.Stored{Key: filepath.Base(m.Parts[0].Plan), Bytes: 1, SHA256: "00"}
		},
	} {
		m := whole
		m.Parts, m.Written = append([]export.Outlined(nil), whole.Parts...), append([]export.Written(nil), whole.Written...)
		lie(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if checked, err := export.Check(t.Context(), from, to, result.Manifest); err != nil || len(checked.Faults) == 0 {
			t.Errorf("%s: %v, %q", name, err, checked.Faults)
		}
	}
	plan := whole.Parts[0].Plan
	note := strings.TrimSuffix(plan, ".plan.zst") + ".json"
	if err := os.WriteFile(filepath.Join(dir, note), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if w, err := export.WritePart(t.Context(), from, to, plan); err == nil || !strings.Contains(err.Error(), note) {
		t.Errorf("a note that says nothing: %+v, %v", w, err)
	}
}

// TestHostileIndex: a URL that is none does not get into the index or the tables of an export: the segment is damaged.
func TestHostileIndex(t *testing.T) {
	source := t.TempDir()
	from, to := openDir(t, source), openDir(t, t.TempDir())
	world(t, from)
	files, err := filepath.Glob(filepath.Join(source, "c/data/*.cdxj"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lie := []byte(strings.Replace(string(raw), `"url":"http://`, `"url":"=HYPERLINK(http://`, 1))
	if bytes.Equal(lie, raw) {
		t.Fatalf("%.200s", raw)
	}
	manifests, _ := filepath.Glob(filepath.Join(source, "c/segments/*.json"))
	changed := 0
	for _, file := range manifests { // the manifest agrees
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m archive.Manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m.CDXJ.Key != "c/data/"+filepath.Base(files[0]) {
			continue
		}
		changed++
		sum := sha256.Sum256(lie)
		m.CDXJ.Bytes, m.CDXJ.SHA256 = int64(len(lie)), hex.EncodeToString(sum[:])
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(files[0], lie, 0o644); err != nil || changed != 1 {
		t.Fatal(err, changed)
	}
	if result := run(t, from, to, order("c")); result.Damaged != 1 {
		t.Errorf("%+v", result)
	}
}

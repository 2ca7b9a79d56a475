package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	empty, broken, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(broken, "news", "segments"), filepath.Join(fresh, "news", "data")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(broken, "news", "segments", "b.json"), filepath.Join(fresh, "news", "data", "b.warc.gz")} {
		if err := os.WriteFile(file, []byte("nonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no argument", nil, 2, "usage"},
		{"no crawl", []string{empty}, 1, "no crawl in the archive"},
		{"fault", []string{broken}, 1, "faults 1\n  news/segments/b.json at 0: "},
		{"no fault", []string{fresh}, 0, "faults 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if code := run(c.args, &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit %d, want %d, output:\n%s", code, c.code, out.String())
			}
		})
	}
}

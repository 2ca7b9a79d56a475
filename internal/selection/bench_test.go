package selection

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// BenchmarkRules: what ten rules, half of them with words, cost a capture with a text of 5 KiB.
func BenchmarkRules(b *testing.B) {
	store, err := archive.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l, err := Create(b.Context(), store, "ravens", "ann", "", Creation{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 5 {
		for _, q := range []string{fmt.Sprintf("nothing%d -raven", i), fmt.Sprintf("site:example%d.org score:>0.5", i)} {
			if _, err := l.Append(b.Context(), Entry{Who: "ann", Rules: []Rule{{Query: q, Verdict: Keep}}}); err != nil {
				b.Fatal(err)
			}
		}
	}
	s, err := l.State(0, ParseQuery)
	if err != nil {
		b.Fatal(err)
	}
	f := page(1)
	f.Language, f.Types, f.Text = "en", []string{"post", "comment"}, strings.Repeat("The raven flew over the hills and came back to its nest of twigs. ", 80)
	b.ReportAllocs()
	ready := NewPreparer()
	for b.Loop() {
		of := *f
		ready.Prepare(&of)
		s.Of(&of)
	}
}

// BenchmarkOpen: a selection of 10,000 entries is read from a folder.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	e := Entry{Form: entryForm, ID: "0123456789abcdef", Who: "ann", When: time.Unix(1, 0), Create: &Creation{}}
	for n := range uint64(10_000) {
		raw, err := e.encode()
		if err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(archive.Selections{}.Entry("ravens", n+1)))
		if n == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			b.Fatal(err)
		}
		e.Create, e.Decisions = nil, []Decision{{URL: page(int(n)).URL, Verdict: Keep}}
	}
	for b.Loop() {
		if _, err := Open(b.Context(), store, "ravens"); err != nil {
			b.Fatal(err)
		}
	}
}

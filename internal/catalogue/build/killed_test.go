package build_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue/build"
	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
)

// The variables by which TestLongKilled starts its program again, as the one that fills.
const (
	killedArchive   = "MUNINN_KILLED_ARCHIVE"
	killedCatalogue = "MUNINN_KILLED_CATALOGUE"
)

// TestLongKilled: a process that fills a catalogue is killed at thirty random moments; then nothing is missing and nothing is there twice.
func TestLongKilled(t *testing.T) {
	if where := os.Getenv(killedArchive); where != "" {
		fillUntilKilled(t, where, os.Getenv(killedCatalogue))
		return
	}
	a := catalogtest.NewArchive(t)
	for i := range 400 {
		var list []catalogtest.Response
		for k := range 5 {
			list = append(list, catalogtest.Response{URL: fmt.Sprintf("http://h%d.example/%d", (i+k)%50, i), Body: fmt.Sprint("<p>", i, k), Title: fmt.Sprint(i, " ", k), Date: later(i)})
		}
		list = append(list, catalogtest.Response{URL: fmt.Sprintf("dns:h%d.example", i%50), DNS: fmt.Sprintf("h.example.\t60\tIN\tA\t192.0.2.%d\n", i%200), Date: later(i)})
		a.Segment(fmt.Sprintf("h%d.example-%d@w.1", i%50, i), list...)
	}
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range 30 {
		child := exec.Command(os.Args[0], "-test.run", "^TestLongKilled$")
		child.Env = append(os.Environ(), killedArchive+"="+a.Dir, killedCatalogue+"="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.IntN(1500))*time.Millisecond, func() { _ = child.Process.Kill() })
		if err := child.Wait(); err != nil {
			killed++
		} else {
			_ = os.RemoveAll(dir) // it was filled: from the start
		}
		timer.Stop()
	}
	t.Logf("%d of 30 processes were killed before they had ended", killed)
	if killed < 5 {
		t.Error("too few processes were killed")
	}
	again, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	fresh := open(t)
	if _, err := (&build.Builder{Store: a.Store, To: again}).Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
	if _, err := (&build.Builder{Store: a.Store, To: fresh}).Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(t, again), dump(t, fresh); len(want) != 400*6 || !slices.Equal(got, want) {
		t.Errorf("%d lines after the kills, %d without", len(got), len(want))
	}
}

// fillUntilKilled fills a catalogue in steps of one look each, as Follow does while segments come.
func fillUntilKilled(t *testing.T, where, dir string) {
	store, err := archive.OpenDir(where)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := (&build.Builder{Store: archive.Faults(store), To: c}).Fill(t.Context(), ravens); err != nil {
		t.Fatal(err)
	}
}

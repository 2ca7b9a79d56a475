package economy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/kb"
)

// TestStrictSaves: on small sites the strict helper reaches the goal with a fraction of the requests. The blog is
// larger, because everything in a small one is near its front page.
func TestStrictSaves(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	modes := []string{crawl.HelperOff, crawl.HelperStrict}
	for _, o := range []Options{
		{Seed: 1, Objects: 60, Budget: 500, Modes: modes, Only: []string{"phpBB", "SMF", "vBulletin", "MediaWiki"}},
		{Seed: 1, Objects: 200, Budget: 1000, Modes: modes, Only: []string{"WordPress"}},
	} {
		r, err := Measure(t.Context(), base, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Runs) != 2*len(o.Only) {
			t.Fatalf("%d runs", len(r.Runs))
		}
		for _, x := range r.Ratios {
			if x.Share < Goal || x.AtGoal < Saving || x.Emptied < Saving || !x.Good {
				t.Errorf("%s: %.1f times fewer requests to the goal, %.1f until nothing is left, %.1f%% of the objects", x.Application, x.AtGoal, x.Emptied, 100*x.Share)
			}
		}
		for _, run := range r.Runs {
			if run.Mode == crawl.HelperStrict && (run.Cut || run.Unrecognised > 0) {
				t.Errorf("%+v", run)
			}
		}
		table(t, r)
	}
}

// table checks the output for people and programs.
func table(t *testing.T, r Result) {
	t.Helper()
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{r.Runs[0].Application + " " + r.Runs[0].Release, "to 98%", "pages fetched"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	t.Log(out.String())
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestMeasureChoosesSites(t *testing.T) {
	r, err := Measure(t.Context(), &kb.Base{}, Options{Objects: 20, Budget: 30, Only: []string{"SMF"}, Modes: []string{crawl.HelperOff}})
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Requests != 30 || !r.Runs[0].Cut || len(r.Ratios) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Measure(t.Context(), &kb.Base{}, Options{Only: []string{"Raven Forum"}}); err == nil {
		t.Error("an application that no site runs is no error")
	}
}

package workflows

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/export"
)

// exportable is an export of some parts, as an Export workflow sees it.
type exportable struct {
	*env
	mu       sync.Mutex
	parts    int
	written  map[string]int // how often a part was
	finished int
	fails    func(plan string) error // nil: none
	running  int
	most     int // that ran at a time
}

func newExportable(t *testing.T, parts int) *exportable {
	x := &exportable{env: newEnv(t), parts: parts, written: map[string]int{}}
	does(x.env, "PlanExport", func(activities.Exported) (export.Planned, error) {
		return export.Planned{Outline: "x.outline.json", Parts: x.parts, Missing: 2}, nil
	})
	does(x.env, "ListParts", func(in activities.PartsInput) (plans []string, err error) {
		for i := in.From; i < x.parts && len(plans) < in.Most; i++ {
			plans = append(plans, fmt.Sprintf("x-%05d.plan.zst", i))
		}
		return plans, nil
	})
	does(x.env, "ExportPart", func(in activities.PartInput) (activities.PartResult, error) {
		x.mu.Lock()
		x.running++
		x.most = max(x.most, x.running)
		x.mu.Unlock()
		time.Sleep(time.Millisecond) // of the machine: others begin meanwhile
		x.mu.Lock()
		defer x.mu.Unlock()
		x.running--
		if x.fails != nil {
			if err := x.fails(in.Plan); err != nil {
				return activities.PartResult{}, err
			}
		}
		x.written[in.Plan]++
		return activities.PartResult{Records: 3, Bytes: 100, Passed: x.written[in.Plan] > 1}, nil
	})
	does(x.env, "FinishExport", func(activities.FinishInput) (export.Result, error) {
		x.finished++
		return export.Result{Manifest: "x.manifest.json", Parts: x.parts}, nil
	})
	return x
}

func exporting() Exporting {
	return Exporting{Exported: activities.Exported{To: "/srv/exports", Order: export.Order{
		Name: "x", Format: export.WARC, Size: 1 << 20, Crawls: []archive.CrawlAt{{Name: "c"}},
	}}}
}

// TestExport: each part is written once, at most so many at a time, and the manifest is put after all of them.
func TestExport(t *testing.T) {
	for _, parts := range []int{0, 1, exportPage + 17} {
		x := newExportable(t, parts)
		if err := x.run(names.Export, exporting()); err != nil {
			t.Fatal(err)
		}
		if len(x.written) != parts || x.finished != 1 || x.most > exportWindow || parts > exportWindow && x.most < 2 {
			t.Errorf("%d parts: %d written, %d manifests, %d at a time", parts, len(x.written), x.finished, x.most)
		}
		if calls := x.called(); calls[len(calls)-1] != "FinishExport" {
			t.Errorf("the last step is %s", calls[len(calls)-1])
		}
		value, err := x.QueryWorkflow(names.QueryStatus)
		var p ExportProgress
		if err == nil {
			err = value.Get(&p)
		}
		if want := (ExportProgress{State: stateDone, Parts: parts, Written: parts, Records: int64(3 * parts), Bytes: int64(100 * parts), Missing: 2}); err != nil || p != want {
			t.Errorf("%+v, want %+v, %v", p, want, err)
		}
	}
}

// TestExportContinues: an execution whose history is long continues as new between two listings, and the next one writes the others.
func TestExportContinues(t *testing.T) {
	x := newExportable(t, exportPage+3)
	x.SetContinueAsNewSuggested(true)
	err := x.run(names.Export, exporting())
	var in Exporting
	continued(t, err, &in)
	if len(x.written) != exportPage || x.finished != 0 || in.State == nil || in.State.Done != exportPage || in.Name != "x" {
		t.Fatalf("%d parts, %d manifests, %+v", len(x.written), x.finished, in)
	}
	again := newExportable(t, exportPage+3)
	if err := again.run(names.Export, in); err != nil {
		t.Fatal(err)
	}
	if again.count("PlanExport") != 0 || len(again.written) != 3 || again.finished != 1 {
		t.Errorf("%d plans, %d parts, %d manifests", again.count("PlanExport"), len(again.written), again.finished)
	}
}

// TestExportPlanned: an export that the command line has planned is written without another plan, by an order that does not say what is kept.
func TestExportPlanned(t *testing.T) {
	x := newExportable(t, 3)
	in := exporting()
	in.State = &ExportState{Planned: export.Planned{Outline: "x.outline.json", Parts: 3, Missing: 2}, ExportProgress: ExportProgress{Parts: 3, Missing: 2}}
	if err := x.run(names.Export, in); err != nil {
		t.Fatal(err)
	}
	if x.count("PlanExport") != 0 || len(x.written) != 3 || x.finished != 1 {
		t.Errorf("%d plans, %d parts, %d manifests", x.count("PlanExport"), len(x.written), x.finished)
	}
}

// TestExportDamaged: a part whose source is damaged ends the export with what is wrong; others of the listing may be written, and there is no manifest.
func TestExportDamaged(t *testing.T) {
	x := newExportable(t, 30)
	x.fails = func(plan string) error {
		if strings.Contains(plan, "00005") {
			return temporal.NewNonRetryableApplicationError("c/data/s.warc.gz ends too early", activities.ErrorDamaged, nil)
		}
		return nil
	}
	err := x.run(names.Export, exporting())
	if err == nil || !strings.Contains(err.Error(), "c/data/s.warc.gz ends too early") || x.finished != 0 || len(x.written) > 29 {
		t.Errorf("%v, %d parts, %d manifests", err, len(x.written), x.finished)
	}
}

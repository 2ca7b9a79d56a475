package activities

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
)

// crawlRuns is a Temporal service in which a workflow runs.
type crawlRuns struct {
	client.Client
	asked string
}

func (r *crawlRuns) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	r.asked = id
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflow.WorkflowExecutionInfo{Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING}}, nil
}

// TestDerive: segments of a crawl are listed, and derived once.
func TestDerive(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	list, err := call[[]DerivedFrom](r, r.Derivable, DerivableInput{Steps: []string{"text"}})
	if err != nil || len(list) != 1 || list[0] != (DerivedFrom{Crawl: rigCrawl, Step: "text"}) {
		t.Fatalf("%+v, %v", list, err)
	}
	if named, err := call[[]DerivedFrom](r, r.Derivable, DerivableInput{Prefix: "p", Crawls: []string{"x"}, Steps: []string{"text"}}); err != nil || len(named) != 1 || named[0] != (DerivedFrom{Prefix: "p", Crawl: "x", Step: "text"}) {
		t.Errorf("%+v, %v", named, err)
	}
	service := &crawlRuns{}
	r.Client = service
	pending := PendingInput{DerivedFrom: list[0], Most: 10, Follow: true}
	page, err := call[PendingSegments](r, r.Pending, pending)
	if err != nil || len(page.Segments) != 1 || page.More || !page.Runs || service.asked != "crawl/"+rigCrawl {
		t.Fatalf("%+v, %v; asked for %q", page, err, service.asked)
	}
	segment := DeriveInput{DerivedFrom: list[0], Segment: page.Segments[0]}
	out, err := call[DeriveResult](r, r.Derive, segment)
	if err != nil || out.Captures < 1 || out.Lines < 1 || out.Known || out.Bytes == 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if again, err := call[DeriveResult](r, r.Derive, segment); err != nil || !again.Known || again.Lines != out.Lines {
		t.Errorf("%+v, %v", again, err)
	}
	if page, err = call[PendingSegments](r, r.Pending, pending); err != nil || len(page.Segments) > 0 {
		t.Errorf("%+v, %v", page, err)
	}
	n := 0
	store, err := r.Archives.Open(t.Context(), "")
	r.must(err)
	r.must(derive.Read(t.Context(), store, archive.CrawlAt{Name: rigCrawl}, derive.Text, segment.Segment, func(d *derive.Document) error {
		n++
		return nil
	}))
	if n != out.Lines {
		t.Errorf("%d lines, not %d", n, out.Lines)
	}
	if left, err := os.ReadDir(r.Spool.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("working files are left: %v, %v", left, err)
	}
}

// TestDeriveDamaged: what no attempt can read is not tried again.
func TestDeriveDamaged(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	of := DerivedFrom{Crawl: rigCrawl, Step: "text"}
	page, err := call[PendingSegments](r, r.Pending, PendingInput{DerivedFrom: of, Most: 1})
	r.must(err)
	files, err := filepath.Glob(filepath.Join(r.dir, rigCrawl, "data", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	r.must(os.Truncate(files[0], 100))
	var failed *temporal.ApplicationError
	if _, err := call[DeriveResult](r, r.Derive, DeriveInput{DerivedFrom: of, Segment: page.Segments[0]}); !errors.As(err, &failed) || failed.Type() != ErrorDamaged || !failed.NonRetryable() || !strings.Contains(failed.Message(), filepath.Base(files[0])) {
		t.Errorf("%v", err)
	}
}

// TestDeriveInputs: names that lead out of the archive, and steps that there are not, are refused.
func TestDeriveInputs(t *testing.T) {
	good := DeriveInput{DerivedFrom: DerivedFrom{Crawl: "c", Prefix: "p/q", Step: "text"}, Segment: "a.example-1@w.0-0123456789abcdef"}
	if err := checkInput(good); err != nil {
		t.Error(err)
	}
	for _, edit := range []func(*DeriveInput){
		func(in *DeriveInput) { in.Crawl = "../c" },
		func(in *DeriveInput) { in.Prefix = "../p" },
		func(in *DeriveInput) { in.Prefix = "/p" },
		func(in *DeriveInput) { in.Prefix = "p\x00" },
		func(in *DeriveInput) { in.Step = "none" },
		func(in *DeriveInput) { in.Step = "" },
		func(in *DeriveInput) { in.Segment = "" },
		func(in *DeriveInput) { in.Segment = ".." },
		func(in *DeriveInput) { in.Segment = "a/b" },
		func(in *DeriveInput) { in.Segment = "a\n" },
		func(in *DeriveInput) { in.Segment = strings.Repeat("a", 1000) },
	} {
		in := good
		if edit(&in); checkInput(in) == nil {
			t.Errorf("%+v is taken", in)
		}
	}
	var input *crawl.InputError
	r := newRig(t)
	for _, in := range []DerivableInput{{}, {Steps: []string{"none"}}, {Prefix: "p", Steps: []string{"text"}}, {Crawls: []string{"a/b"}, Steps: []string{"text"}}} {
		if err := r.do(r.Derivable, in); err == nil || errors.As(err, &input) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

package activities

import (
	"strings"
	"testing"
)

// TestLearnStep: what the reference crawl learned is archived, and in force.
func TestLearnStep(t *testing.T) {
	r := newRig(t)
	r.begin("o", onTopic)
	r.must(r.do(r.Phase, PhaseInput{Crawl: rigCrawl, Pages: 1, Reference: true}))
	in := r.batch()
	r.open(in, func(string) string {
		return "<p>" + strings.Repeat("The raven of Odin flew over the saga stones. ", 9) + `<a href="/next">raven</a>`
	})
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	out, err := call[LearnResult](r, r.Learn, rigCrawl)
	r.must(err)
	plan, err := r.Frontier.Crawl(rigCrawl).Plan()
	r.must(err)
	taught, err := plan.Topic()
	r.must(err)
	if len(out.TopicModel.Terms) == 0 || taught == nil || len(taught.Terms) == 0 || out.Key != "c/topic/run-1@w.json" {
		t.Errorf("%+v; %+v in force", out, taught)
	}
	report, err := call[ReportResult](r, r.Report, AskInput{Crawl: rigCrawl})
	if err != nil || len(report.HTML) == 0 || !strings.HasPrefix(report.Key, "c/reports/run-1-") {
		t.Errorf("report %s of %d bytes, %v", report.Key, len(report.HTML), err)
	}
	end, err := call[EndResult](r, r.End, EndInput{Crawl: rigCrawl, Owner: "o"})
	if err != nil || len(end.TopicModel) == 0 || end.Status.Totals.Pages != 1 || end.Report == "" {
		t.Errorf("%+v, %v", end, err)
	}
	if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Active {
		t.Errorf("%+v, %v", s, err)
	}
}

package activities

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestArchive: which exchanges get into the segment, and which of them later revisits may refer to.
func TestArchive(t *testing.T) {
	for name, c := range map[string]struct {
		status    string // of the response; empty: 200
		edit      func(*crawl.Exchange)
		manifest  bool // there is a segment, if only for its log
		warc      bool
		pages     int
		originals int
	}{
		"a page":        {manifest: true, warc: true, pages: 1, originals: 1},
		"an error page": {status: "404", edit: func(x *crawl.Exchange) { x.Status, x.Outcome.Status = 404, 404 }, manifest: true, warc: true, pages: 1},
		"status 000":    {status: "000", edit: func(x *crawl.Exchange) { x.Status, x.Outcome.Status = 0, 0 }, manifest: true, warc: true, pages: 1},
		"to be retried": {status: "503", edit: func(x *crawl.Exchange) {
			x.Status, x.Outcome.Status, x.Outcome.Kind, x.Outcome.Reason = 503, 503, crawl.OutcomeRetry, "the server is busy"
		}, manifest: true},
		"no answer": {edit: func(x *crawl.Exchange) {
			x.Status, x.HeaderBytes, x.Outcome.Kind, x.Outcome.Reason = 0, 0, crawl.OutcomeFailed, "no route"
		}, manifest: true},
		"by robots.txt":  {edit: func(x *crawl.Exchange) { x.Status, x.HeaderBytes, x.Outcome.Kind = 0, 0, crawl.OutcomeRobots }, manifest: true},
		"a robots.txt":   {edit: func(x *crawl.Exchange) { x.Kind, x.URL = crawl.ExchangeRobots, rigSeed+"robots.txt" }, manifest: true, warc: true},
		"of another one": {edit: func(x *crawl.Exchange) { x.URL = "http://other.example/" }},
	} {
		r := newRig(t)
		r.begin("o", nil)
		in := r.batch()
		_, err := call[OpenResult](r, r.Open, in)
		r.must(err)
		lanes, log, _ := r.spooled(in)
		x, request, response, size := exchange(lanes[0].Targets[0], lanes[0].Claim, "<p>some words")
		if c.edit != nil {
			c.edit(&x)
		}
		if c.status != "" {
			text, err := io.ReadAll(response)
			r.must(err)
			response = strings.NewReader(strings.Replace(string(text), "200", c.status, 1))
		}
		r.must(log.Append(x, request, response, size))
		r.must(log.Close())
		r.must(r.Frontier.Crawl(in.Crawl).Lane(lanes[0].Claim.ID).End(frontier.LaneEnd{Host: time.Now()}))
		out, err := call[ProcessResult](r, r.Process, in)
		r.must(err)
		again, err := call[ProcessResult](r, r.Process, in)
		r.must(err)
		left, err := readResult(r.Spool.Batch(in.Crawl, in.Batch))
		r.must(err)
		got := out.Archived
		if got.Pages != c.pages || (got.Manifest != "") != c.manifest || (got.WARC != "") != c.warc || len(left.Originals) != c.originals || *again.Archived != *got {
			t.Errorf("%s: %+v, %d originals; again %+v", name, got, len(left.Originals), again.Archived)
		}
		if outcomes := len(left.Outcomes); x.Kind == crawl.ExchangePage && x.URL == rigSeed && (outcomes != 1 || left.Outcomes[0].Kind != x.Outcome.Kind) {
			t.Errorf("%s: outcomes %+v", name, left.Outcomes)
		}
		if c.manifest {
			r.check(r.dir)
		}
	}
}

package activities

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Answers that are not HTTP/1 are archived byte for byte, in records that readers of WARC files accept.

func TestOddAnswersAreArchived(t *testing.T) {
	r := newRig(t)
	odd := []struct {
		path, head, body string
		status           int
		truncated        string
		kind             crawl.OutcomeKind
	}{
		{"000", "HTTP/1.1 000 Odd\r\nContent-Type: text/html\r\n\r\n", "<p>page", 0, "", crawl.OutcomeFailed},
		{"99", "HTTP/1.1 99 Odd\r\nContent-Type: text/html\r\n\r\n", "<p>page", 99, "", crawl.OutcomeFailed},
		{"none", "HTTP/1.1 Odd\r\n\r\n", "<p>page", 0, "", crawl.OutcomeFailed},
		{"cr", "", "HTTP/1.1 200 OK\rContent-Type: text/html\r\r<p>page", 200, "disconnect", crawl.OutcomeFailed},
		{"cut", "", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: a", 200, "disconnect", crawl.OutcomeFailed},
		{"icy", "", "ICY 200 OK\r\nicy-name: Radio\r\n\r\n\xff\xfb\x90", 200, "", crawl.OutcomeDone},
	}
	r.begin("one", func(d *crawl.Definition) {
		for _, o := range odd {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + o.path})
		}
	})
	in := r.batch()
	if out, err := call[OpenResult](r, r.Open, in); err != nil || out.URLs != len(odd)+1 {
		t.Fatalf("%+v, %v", out, err)
	}
	log, _, err := r.Spool.Batch(in.Crawl, in.Batch).OpenLog()
	r.must(err)
	want := map[string]string{}
	for _, o := range odd {
		x := crawl.Exchange{
			Kind: crawl.ExchangePage, URL: rigSeed + o.path, Claim: in.Claims[0].ID, IP: rigIP, Started: time.Now(), Status: o.status,
			HeaderBytes: int64(len(o.head)), Truncated: o.truncated, Fault: "odd",
			Outcome: crawl.Outcome{URL: rigSeed + o.path, Kind: o.kind, Status: o.status, Reason: "odd"},
		}
		want[x.URL] = o.head + o.body
		r.must(log.Append(x, []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), strings.NewReader(want[x.URL]), int64(len(want[x.URL]))))
	}
	r.must(log.Append(exchange(crawl.Target{URL: rigSeed}, in.Claims[0], "<p>an even page")))
	r.must(log.Close())
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	r.check(r.dir)
	states := r.states()
	for _, o := range odd {
		if state := states[rigSeed+o.path]; state != string(o.kind) {
			t.Errorf("%s is %s, want %s", o.path, state, o.kind)
		}
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*", "data", "*.warc.gz"))
	r.must(err)
	for _, file := range files {
		r.must(archive.ReadWARC(file, 0, func(rec archive.Captured) (bool, error) {
			if text, there := want[rec.URL]; there && (rec.Kind == "response" || rec.Kind == "resource") {
				block, err := io.ReadAll(rec.Block)
				if err != nil || string(block) != text {
					t.Errorf("%s: %q, %v", rec.URL, block, err)
				}
				delete(want, rec.URL)
			}
			return true, nil
		}))
	}
	if len(want) > 0 {
		t.Errorf("not in the archive: %q", want)
	}
}

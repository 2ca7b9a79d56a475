package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
)

// The working files are lost between manifest and commit: COMMIT and a give-back commit from the segment instead.
func TestCommitWithoutSpool(t *testing.T) {
	for name, commit := range map[string]func(r *rig, in BatchInput) error{
		"commit":    func(r *rig, in BatchInput) error { return r.do(r.Commit, in) },
		"give back": func(r *rig, in BatchInput) error { return r.do(r.GiveBack, in) },
		"run again": func(r *rig, in BatchInput) error {
			if out := r.open(in, linking); !out.Archived {
				t.Errorf("run again, the batch is not known as archived: %+v", out)
			}
			return r.do(r.Commit, in)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.begin("one", nil)
			in := r.batch()
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			r.must(commit(r, in))
			if states := r.states(); states[rigSeed] != "done" || states[rigSeed+"next"] != "waiting" {
				t.Errorf("states after the commit: %v", states)
			}
			if report := r.check(r.dir); report.Pages[rigSeed] != 1 {
				t.Errorf("pages %v", report.Pages)
			}
			if len(r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()) > 0 {
				t.Error("the batch still has claims")
			}
		})
	}
}

// A commit from the segment counts each URL once, also if a response of a failed URL is archived. A page whose name ends in
// robots.txt is a page.
func TestRecoveredOutcomes(t *testing.T) {
	const manual = rigSeed + "docs/robots.txt"
	r := newRig(t)
	r.begin("one", func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: manual}) })
	in := r.batch()
	_, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	b := r.Spool.Batch(in.Crawl, in.Batch)
	log, _, err := b.OpenLog()
	r.must(err)
	for _, url := range []string{rigSeed, manual} {
		x, request, response, size := exchange(crawl.Target{URL: url}, in.Claims[0], url)
		if url == rigSeed {
			x.Outcome.Kind, x.Outcome.Reason = crawl.OutcomeFailed, "cut short"
		}
		r.must(log.Append(x, request, response, size))
	}
	r.must(log.Close())
	r.must(r.do(r.Process, in))
	r.must(b.Remove())
	life, err := r.Frontier.Crawl(in.Crawl).Batch(in.Batch).Life()
	r.must(err)
	left, err := r.recoverResult(t.Context(), in, life)
	r.must(err)
	kinds := map[string]crawl.OutcomeKind{}
	for _, o := range left.Outcomes {
		kinds[o.URL] += o.Kind
	}
	if want := map[string]crawl.OutcomeKind{rigSeed: "failed", manual: "done"}; !maps.Equal(kinds, want) {
		t.Errorf("the outcomes are %v, want %v", kinds, want)
	}
}

// lateStore carries out the first conditional put of a manifest only after it has reported an error, and refuses some later ones.
type lateStore struct {
	archive.Store
	refused int
	late    func() error // carries out the first one
}

var errNoAnswer = errors.New("the store does not answer")

func (s *lateStore) PutIfAbsent(_ context.Context, key string, data []byte) error {
	switch {
	case !strings.Contains(key, "/segments/"):
	case s.late == nil:
		s.late = func() error { return s.Store.PutIfAbsent(context.Background(), key, data) }
		return errNoAnswer
	case s.refused > 0:
		s.refused--
		return errNoAnswer
	}
	return s.Store.PutIfAbsent(context.Background(), key, data)
}

// A manifest that arrives after its batch was given back commits nothing: the URLs are fetched again and archived once.
func TestManifestAfterGiveBack(t *testing.T) {
	for _, again := range []string{"another batch", "the batch is reset"} {
		t.Run(again, func(t *testing.T) {
			r := newRig(t)
			late := &lateStore{refused: 1} // what the give-back tries to archive
			r.through(func(s archive.Store) archive.Store { late.Store = s; return late })
			r.begin("one", nil)
			in := r.batch()
			r.open(in, linking)
			if err := r.do(r.Process, in); err == nil || !strings.Contains(err.Error(), errNoAnswer.Error()) {
				t.Fatalf("archive: %v", err)
			}
			r.must(r.do(r.GiveBack, in))
			if err := late.late(); !errors.Is(err, archive.ErrExists) {
				t.Errorf("the late manifest: %v, not ErrExists", err)
			}
			if again == "another batch" {
				in = r.batch()
			}
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
			report := r.check(r.dir)
			if len(report.Orphans) > 0 {
				t.Errorf("what the first attempt put stays: %q", report.Orphans)
			}
			if report.Pages[rigSeed] != 1 || report.Segments != 1 || report.GivenBack != 1 {
				t.Errorf("pages %v in %d segments, %d were given back", report.Pages, report.Segments, report.GivenBack)
			}
			if state := r.states()[rigSeed]; state != "done" {
				t.Errorf("the page is %s", state)
			}
		})
	}
}

// If another batch's manifest is under the key of a batch's life, the batch does not take it for its own, which would commit pages
// that are not archived. Its URLs go back, or the batch begins another life, and they are archived.
func TestForeignManifest(t *testing.T) {
	for _, when := range []string{"before ARCHIVE", "with the spool lost", "run again"} {
		t.Run(when, func(t *testing.T) {
			r := newRig(t)
			r.begin("one", nil)
			in := r.batch()
			life, err := r.Frontier.Crawl(in.Crawl).Batch(in.Batch).Life()
			r.must(err)
			r.open(in, linking)
			raw, err := json.Marshal(archive.Manifest{Version: archive.ManifestVersion, Crawl: rigCrawl, Batch: in.Batch, Nonce: "fedcba9876543210", Worker: "v"})
			r.must(err)
			store, err := r.Archives.Open(t.Context(), "")
			r.must(err)
			key := archive.Layout{Crawl: rigCrawl}.Manifest(archive.SegmentName(in.Batch, life.Nonce))
			r.must(store.PutIfAbsent(t.Context(), key, raw))
			switch when {
			case "before ARCHIVE":
				err = r.do(r.Process, in)
			case "with the spool lost":
				r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
				err = r.do(r.Commit, in)
			case "run again":
				r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
				if out := r.open(in, linking); out.Archived || out.URLs != 1 {
					t.Errorf("it has no other life: %+v", out)
				}
				again, errLife := r.Frontier.Crawl(in.Crawl).Batch(in.Batch).Life()
				if errLife != nil || again.Nonce == life.Nonce {
					t.Errorf("its life continues: %+v, %v", again, errLife)
				}
			}
			if (err == nil) != (when == "run again") || r.states()[rigSeed] == "done" {
				t.Errorf("%v; the page, which is not archived, is %s", err, r.states()[rigSeed])
			}
			if err != nil {
				r.must(r.do(r.GiveBack, in))
				in = r.batch()
				r.open(in, linking)
			}
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
			r.must(os.Remove(filepath.Join(r.dir, filepath.FromSlash(key)))) // which is not what its name says
			if report := r.check(r.dir); report.Pages[rigSeed] != 1 || r.states()[rigSeed] != "done" {
				t.Errorf("pages %v, the page is %s", report.Pages, r.states()[rigSeed])
			}
		})
	}
}

// A second run may use another archive: pages that the first run has archived are archived completely again, and running batches
// stay with the archive that they were started for.
func TestAnotherArchive(t *testing.T) {
	r := newRig(t)
	second := t.TempDir()
	edit := func(d *crawl.Definition) { d.Archive.Where = second }
	same := func(string) string { return "<p>always the same" }
	run := func() BatchInput {
		in := r.batch()
		r.open(in, same)
		r.must(r.do(r.Process, in))
		return in
	}
	r.begin("one", nil)
	r.must(r.do(r.Commit, run()))
	r.must(r.Frontier.Crawl(rigCrawl).End("one"))

	r.begin("two", nil)
	out := r.batch()
	r.open(out, same) // not archived when the next run begins with another archive
	_, err := r.Frontier.Begin(rigCrawl, "three", 0, r.definition(edit), nil, true)
	r.must(err)
	if begun := r.begin("three", edit); begun.Former != r.dir {
		t.Errorf("the run before went to %q", begun.Former)
	}
	r.Archives.Allow, r.Archives.Default = []string{second}, second // a running batch keeps the archive that it was allowed
	r.must(r.do(r.Process, out))
	r.must(r.do(r.Commit, out))
	if report := r.check(r.dir); report.Pages[rigSeed] != 2 || report.Revisits != 1 {
		t.Errorf("the first archive holds %d captures, %d of them revisits", report.Pages[rigSeed], report.Revisits)
	}

	r.must(r.Frontier.Crawl(rigCrawl).End("three"))
	r.begin("four", edit)
	r.must(r.do(r.Commit, run()))
	if report := r.check(second); report.Pages[rigSeed] != 1 || report.Responses != 1 {
		t.Errorf("the second archive holds %v, %d responses", report.Pages, report.Responses)
	}
}

// A robots.txt that a batch has fetched is fetched again, and archived, once the batch was given back.
func TestGiveBackForgetsRobots(t *testing.T) {
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			asked.Add(1)
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	guard, err := fetch.NewGuard([]string{"127.0.0.0/8"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	names, err := fetch.NewResolver(nil, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.Fetch = fetch.New(fetch.Options{Limits: fetch.DefaultLimits(), Guard: guard, Resolver: names, TempDir: t.TempDir()})
	archive := ""
	ask := func(keep func(x *fetch.Exchange) error) {
		t.Helper()
		_, err := r.Fetch.Run(t.Context(), &fetch.Lane{
			Claim: "c", Addr: netip.MustParseAddr("127.0.0.1"), Politeness: crawl.Politeness{UserAgent: "Muninn"}, Agent: "Muninn", Archive: archive,
			Targets: []crawl.Target{{URL: site.URL + "/a"}}, ValidUntil: func() time.Time { return time.Now().Add(time.Hour) },
			LogIntent: func(crawl.Exchange) error { return nil },
			Emit:      func(_ context.Context, x *fetch.Exchange) error { return keep(x) },
		})
		r.must(err)
	}
	r.begin("one", nil)
	in := r.batch()
	_, err = call[OpenResult](r, r.Open, in) // killed before it asked for a page
	r.must(err)
	archive = r.archiveOf(in)
	log, _, err := r.Spool.Batch(in.Crawl, in.Batch).OpenLog()
	r.must(err)
	ask(func(x *fetch.Exchange) error {
		if x.Kind != crawl.ExchangeRobots {
			return nil
		}
		return log.Append(x.Exchange, x.Request, x.Response, x.Size)
	})
	r.must(log.Close())
	ask(func(*fetch.Exchange) error { return nil })
	if n := asked.Load(); n != 1 {
		t.Fatalf("robots.txt was asked for %d times before, want once", n)
	}
	r.must(r.do(r.GiveBack, in))
	ask(func(*fetch.Exchange) error { return nil })
	if n := asked.Load(); n != 2 {
		t.Errorf("robots.txt was asked for %d times, want once more after it was given back", n)
	}
}

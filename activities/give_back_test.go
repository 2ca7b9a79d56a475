package activities

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// counted is a server that counts requests by path.
type counted struct {
	*httptest.Server
	mu    sync.Mutex
	paths map[string]int
}

func countRequests(t *testing.T) *counted {
	c := &counted{paths: map[string]int{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths[r.URL.Path]++
		_, _ = io.WriteString(w, "<p>a page at "+r.URL.Path)
	}))
	t.Cleanup(c.Close)
	return c
}

// ask fetches what stands at a path.
func (c *counted) ask(url string) string {
	resp, err := http.Get(c.URL + "/" + strings.TrimPrefix(url, rigSeed))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// fetchSome opens a batch and fetches the first of its URLs; then its lane ends.
func (r *rig) fetchSome(in BatchInput, n int, answer func(url string) string) {
	r.t.Helper()
	_, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	lanes, log, _ := r.spooled(in)
	for _, t := range lanes[0].Targets[:n] {
		r.must(log.Append(exchange(t, lanes[0].Claim, answer(t.URL))))
	}
	r.must(log.Close())
	r.must(r.Frontier.Crawl(in.Crawl).Lane(lanes[0].Claim.ID).End(frontier.LaneEnd{Host: time.Now()}))
}

// The pages of a batch that fails or is cancelled are archived and committed before the other URLs go back: the server is asked
// for each page once. The give-back waits for a store that does not answer.
func TestGivenBackIsNotFetchedAgain(t *testing.T) {
	for _, away := range []bool{false, true} {
		r, server := newRig(t), countRequests(t)
		denied := &deniedStore{}
		r.through(func(s archive.Store) archive.Store { denied.Store = s; return archive.Faults(denied) })
		r.begin("one", func(d *crawl.Definition) {
			d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "b"}, crawl.Seed{URL: rigSeed + "c"})
		})
		in := r.batch()
		r.fetchSome(in, 2, server.ask)
		if away {
			denied.closed.Store(true)
			var fault *temporal.ApplicationError
			if err := r.do(r.GiveBack, in); !errors.As(err, &fault) || fault.NonRetryable() || fault.Type() != ErrorStore {
				t.Fatalf("the archive cannot be written, and the give-back ends with %v", err)
			}
			if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Claimed != 3 {
				t.Errorf("%d URLs are held, %v", s.Claimed, err)
			}
			denied.closed.Store(false)
		}
		r.must(r.do(r.GiveBack, in))
		s, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		if s.Totals.Failed != 1 || s.Totals.Pages != 2 || s.Claimed != 0 || s.Waiting != 1 {
			t.Errorf("%+v", s)
		}
		r.must(r.do(r.GiveBack, in)) // its answer was lost
		next := r.batch()
		r.open(next, server.ask)
		r.must(r.do(r.Process, next))
		r.must(r.do(r.Commit, next))
		if want := map[string]int{"/": 1, "/b": 1, "/c": 1}; !maps.Equal(server.paths, want) {
			t.Errorf("the server was asked for %v", server.paths)
		}
		if report := r.check(r.dir); len(report.Pages) != 3 || report.Responses != 3 || report.Segments != 2 {
			t.Errorf("%+v", report)
		}
	}
}

// newSalvaged makes a rig and a batch of two URLs that failed after the first: the first is archived and committed, the second
// has gone back, and its queue rests.
func newSalvaged(t *testing.T) (*rig, BatchInput) {
	r := newRig(t)
	r.Settings.GiveBack = time.Hour
	r.begin("one", func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "b"}) })
	in := r.batch()
	r.fetchSome(in, 1, linking)
	r.must(r.do(r.GiveBack, in))
	return r, in
}

// The URLs that a failed batch has not fetched rest. A reset of the batch fetches them at once.
func TestResetAfterSalvage(t *testing.T) {
	r, in := newSalvaged(t)
	if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Resting != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	out, err := call[OpenResult](r, r.Open, in)
	if err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Resting != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	r.open(r.batch(), linking)
}

// A batch whose segment cannot be made is given back nevertheless.
func TestGiveBackOfWhatCannotBeArchived(t *testing.T) {
	r := newRig(t)
	late := &lateStore{} // which refuses the manifest by a fault that is not known as the store's
	r.through(func(s archive.Store) archive.Store { late.Store = s; return late })
	r.begin("one", nil)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.GiveBack, in))
	if state := r.states()[rigSeed]; state != "waiting" || len(r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()) > 0 {
		t.Errorf("the page is %s", state)
	}
}

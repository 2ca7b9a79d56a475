package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// cutStore counts the manifests that are read, and fails when some are.
type cutStore struct {
	archive.Store
	mu   sync.Mutex
	read int
	most int // 0: without bound
}

var errCut = errors.New("the worker was killed")

func (s *cutStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.Contains(key, "/segments/") {
		s.mu.Lock()
		s.read++
		cut := s.most > 0 && s.read > s.most
		s.mu.Unlock()
		if cut {
			return nil, errCut
		}
	}
	return s.Store.Get(ctx, key)
}

// An attempt to restore a lost frontier continues where the one before was cut off, and does not read the same segments again.
func TestRestoreContinues(t *testing.T) {
	const segments, most = 100, 50
	r := newRig(t)
	store, err := archive.OpenDir(r.dir)
	r.must(err)
	for i := range segments {
		s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: rigCrawl, Batch: fmt.Sprintf("a.example-%d", i), Nonce: "0123456789abcdef", Worker: "w"}, r.Now(),
			func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
		r.must(err)
		x, request, response, _ := exchange(crawl.Target{URL: fmt.Sprintf("%s%d/robots.txt", rigSeed, i)}, ClaimRef{IP: rigIP}, fmt.Sprint(i))
		raw, err := io.ReadAll(response)
		r.must(err)
		part := func(from, to int64) func() io.Reader {
			return func() io.Reader { return strings.NewReader(string(raw[from:to])) }
		}
		_, err = s.Add(archive.Capture{
			Exchange: x, Request: strings.NewReader(string(request)), Response: part(0, int64(len(raw))), Header: part(0, x.HeaderBytes),
			Body: part(x.HeaderBytes, int64(len(raw))),
		})
		r.must(err)
		_, err = s.Commit(t.Context(), store)
		r.must(err)
		s.Close()
	}
	r.must(store.PutIfAbsent(t.Context(), rigCrawl+"/definitions/run-1.json", []byte("{}")))

	cut := &cutStore{most: most}
	r.through(func(s archive.Store) archive.Store { cut.Store = s; return cut })
	if _, err := call[BeginResult](r, r.Begin, BeginInput{Definition: r.definition(nil), Owner: "two"}); err == nil || !strings.Contains(err.Error(), errCut.Error()) {
		t.Fatalf("begin: %v", err)
	}
	done := 0
	for i := range segments {
		if r.Frontier.Crawl(rigCrawl).Batch(fmt.Sprintf("%sa.example-%d-0123456789abcdef", "restore-", i)).Committed() {
			done++
		}
	}
	if done == 0 || done > most {
		t.Fatalf("the first attempt brought in %d segments", done)
	}
	cut.read, cut.most = 0, 0
	r.begin("two", nil)
	if cut.read != segments-done {
		t.Errorf("the second attempt read %d manifests; %d were left", cut.read, segments-done)
	}
	s, err := r.Frontier.Crawl(rigCrawl).Status()
	r.must(err)
	if s.Waiting != segments+1 || s.Run != 2 {
		t.Errorf("%d URLs wait in run %d", s.Waiting, s.Run)
	}
}

// TestFormerSpread: a worker that does not know a crawl finds in the archive whether its former runs were spread.
func TestFormerSpread(t *testing.T) {
	for former, may := range map[string]bool{`{}`: true, `{"spread": true}`: false} {
		r := newRig(t)
		store, err := r.Archives.Open(t.Context(), "")
		r.must(err)
		r.must(store.PutIfAbsent(t.Context(), rigCrawl+"/definitions/run-1.json", []byte(former)))
		_, err = call[BeginResult](r, r.Begin, BeginInput{Definition: r.definition(nil), Owner: "two"})
		if (err == nil) != may || err != nil && !strings.Contains(err.Error(), "another name") {
			t.Errorf("former definition %s: %v", former, err)
		}
	}
}

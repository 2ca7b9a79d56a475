package room_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// stalled is an answer that its reader does not take until done is closed.
type stalled struct {
	*httptest.ResponseRecorder
	begun *sync.WaitGroup
	once  sync.Once
	done  chan struct{}
}

func (s *stalled) Write(b []byte) (int, error) {
	s.once.Do(s.begun.Done)
	<-s.done
	return s.ResponseRecorder.Write(b)
}

// TestSlowReaders: pages are answered while many readers are slow to take raw bytes, and those get what they asked for.
func TestSlowReaders(t *testing.T) {
	r := ravens(t)
	made, h := r.open()
	const many = 100
	for name, slow := range map[string]struct {
		handler http.Handler
		target  string
	}{"bytes": {h, "/raw?url=http://a.example/"}, "replay": {made.ReplayHandler(), "/room/get/2026id_/http://a.example/"}} {
		var begun, ended sync.WaitGroup
		done, answers := make(chan struct{}), make([]*httptest.ResponseRecorder, many)
		for i := range many {
			answers[i] = httptest.NewRecorder()
			begun.Add(1)
			ended.Go(func() {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, slow.target, nil)
				req.Host = "127.0.0.1:8480"
				slow.handler.ServeHTTP(&stalled{ResponseRecorder: answers[i], begun: &begun, done: done}, req)
			})
		}
		all := make(chan struct{})
		go func() { begun.Wait(); close(all) }()
		select {
		case <-all:
			if w := ask(t, h, "/search?q=raven"); w.Code != http.StatusOK {
				t.Errorf("%s: a page: %d", name, w.Code)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: slow readers close the room", name)
		}
		close(done)
		ended.Wait()
		for i, a := range answers {
			if a.Code != http.StatusOK || a.Body.Len() == 0 {
				t.Fatalf("%s: answer %d: %d %s", name, i, a.Code, a.Body)
			}
		}
	}
}

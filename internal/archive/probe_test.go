package archive_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// fakeS3 is a server with one bucket that knows as much of S3 as opening a store needs.
type fakeS3 struct {
	mu      sync.Mutex
	answer  int // to a conditional put of an object that is there
	objects map[string]bool
	puts    int
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case r.Method == http.MethodPut:
		f.puts++
		if r.Header.Get("If-None-Match") == "*" && (f.answer == http.StatusNotImplemented || f.objects[r.URL.Path]) {
			w.WriteHeader(f.answer)
		}
		f.objects[r.URL.Path] = true
	case r.Method == http.MethodDelete:
		delete(f.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	}
}

// A server that ignores conditional puts is refused when the store is opened, with an error that names the settings.
func TestConditionalPutsAreTried(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer int
		there  bool // somebody else tries at the moment, or was killed
		want   error
	}{
		{"kept", http.StatusPreconditionFailed, false, nil},
		{"kept, the object is there", http.StatusPreconditionFailed, true, nil},
		{"ignored", http.StatusOK, false, archive.ErrUnconditional},
		{"not implemented", http.StatusNotImplemented, false, archive.ErrUnconditional},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := &fakeS3{answer: test.answer, objects: map[string]bool{}}
			if test.there {
				fake.objects["/bucket/p/.muninn-probe"] = true
			}
			server := httptest.NewServer(fake)
			defer server.Close()
			conf := archive.S3{Endpoint: server.URL, Region: "us-east-1", AccessKey: "k", SecretKey: "s"}
			_, err := archive.OpenS3(t.Context(), conf, "bucket", "p")
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("opened with %v, want %v", err, test.want)
			}
			if fake.objects["/bucket/p/.muninn-probe"] != test.there && test.answer != http.StatusNotImplemented {
				t.Error("the probe stays in the bucket")
			}
			before := fake.puts
			if _, err := archive.OpenReader(t.Context(), "s3://bucket/p", conf); err != nil || fake.puts != before {
				t.Errorf("a store to read is opened with %d puts, %v", fake.puts-before, err)
			}
		})
	}
}

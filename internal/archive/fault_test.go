package archive_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// A deadline that is reached during a call of a store is a fault of the store; a cancelled call is not.
func TestFaults(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		err   error
		fault bool
	}{
		{"refused", t.Context(), errors.New("403 Forbidden"), true},
		{"not there", t.Context(), archive.ErrNotFound, false},
		{"no answer in time", late, context.DeadlineExceeded, true},
		{"not there, late", late, archive.ErrNotFound, false},
		{"cancelled", cancelled, context.Canceled, false},
	} {
		var fault *archive.StoreError
		if err := archive.AsFault(test.ctx, test.err); errors.As(err, &fault) != test.fault || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want a fault: %v", test.name, err, test.fault)
		}
	}
}

// A request that fails is tried only a few times, so that a store that does not answer is reported soon.
func TestRequestTries(t *testing.T) {
	var gets atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bucket/x" {
			gets.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	store, err := archive.OpenReader(t.Context(), "s3://bucket", archive.S3{Endpoint: server.URL, Region: "us-east-1", AccessKey: "k", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get(t.Context(), "x"); err == nil || errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if n := gets.Load(); n > 3 {
		t.Errorf("the request was made %d times", n)
	}
}

package archive_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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

// TestAway: a service that cannot be reached, or does not serve for the moment, is waited for; wrong settings are not.
func TestAway(t *testing.T) {
	answer := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		serve http.HandlerFunc // nil: nobody listens
		tls   bool             // that the worker speaks
		away  bool
	}{
		"nobody listens":     {nil, false, true},
		"it starts":          {answer(http.StatusServiceUnavailable, "SlowDown"), false, true},
		"keys are refused":   {answer(http.StatusForbidden, "InvalidAccessKeyId"), false, false},
		"there is no bucket": {answer(http.StatusNotFound, "NoSuchBucket"), false, false},
		"it has no TLS":      {answer(http.StatusOK, ""), true, false},
	} {
		endpoint := closed.URL
		if c.serve != nil {
			server := httptest.NewServer(c.serve)
			defer server.Close()
			endpoint = server.URL
		}
		if c.tls {
			endpoint = "https" + strings.TrimPrefix(endpoint, "http")
		}
		_, err := archive.OpenReader(t.Context(), "s3://bucket", archive.S3{Endpoint: endpoint, Region: "us-east-1", AccessKey: "k", SecretKey: "s"})
		if err == nil || archive.Away(err) != c.away {
			t.Errorf("%s: %v: away %t", name, err, archive.Away(err))
		}
	}
}

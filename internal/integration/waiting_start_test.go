package integration

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
)

// TestWorkerWaitsForServices: a worker that starts before its archive and before Temporal waits for them; health says for which. Then it is up.
func TestWorkerWaitsForServices(t *testing.T) {
	server := StartServer(t)
	store, s3 := newS3(t)
	conf := Config(server, Serve(t, bench.New(webworld.Options{Seed: 9}, 1, 5)), t.TempDir())
	conf.Archive, conf.S3 = "s3://"+killBucket+"/waits", s3
	conf.Listen, conf.Temporal.Address = freeAddress(t), freeAddress(t)
	type started struct {
		*worker.Worker
		error
	}
	up := make(chan started, 1)
	go func() {
		w, err := worker.Start(t.Context(), conf, slog.New(slog.DiscardHandler))
		up <- started{w, err}
	}()
	health := func(status int, want string) {
		t.Helper()
		Until(t, soon, "health says "+want, func() string {
			answer, err := http.Get("http://" + conf.Listen + "/health")
			if err != nil {
				return err.Error()
			}
			defer func() { _ = answer.Body.Close() }()
			text, err := io.ReadAll(answer.Body)
			if err == nil && answer.StatusCode == status && strings.Contains(string(text), want) {
				return ""
			}
			return fmt.Sprintf("it says %d %s, %v", answer.StatusCode, text, err)
		})
	}
	health(http.StatusServiceUnavailable, "it waits for the archive "+conf.Archive)
	store.start(t)
	t.Cleanup(func() { store.kill(t) })
	health(http.StatusServiceUnavailable, "it waits for the Temporal service at "+conf.Temporal.Address)
	newLink(t, conf.Temporal.Address, server.Address)
	select {
	case w := <-up:
		if w.error != nil {
			t.Fatal(w.error)
		}
		defer w.Stop()
	case <-time.After(soon):
		t.Fatal("the worker does not start")
	}
	health(http.StatusOK, "ok")
}

package worker

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
)

// TestCheckpointRegularly: a worker keeps its frontier in its archive, until it stops; without a crawl it writes nothing, with 0 it never
// does.
func TestCheckpointRegularly(t *testing.T) {
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{
		conf: Config{Name: "w", Data: t.TempDir()}, log: slog.New(slog.DiscardHandler), front: front, instance: "folder", stopped: make(chan struct{}),
		acts: &activities.Activities{Now: time.Now, Archives: &activities.Archives{Default: store.String()}},
	}
	w.checkpointRegularly() // returns at once
	newest := func() (checkpoint.Manifest, error) { return checkpoint.Newest(t.Context(), store, "w") }
	if w.checkpoint(t.Context()); func() bool { _, err := newest(); return err == nil }() {
		t.Error("there is a checkpoint of no crawl")
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: "http://a.example/"}}
	if _, err := front.Begin("c", "owner", 0, d, []string{"http://a.example/"}, false); err != nil {
		t.Fatal(err)
	}
	w.conf.Checkpoint = time.Millisecond
	done := make(chan struct{})
	go func() {
		w.checkpointRegularly()
		close(done)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		m, err := newest()
		if err == nil && m.Instance == "folder" && m.Generation > 2 { // not the first
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%+v, %v", m, err)
		case <-time.After(time.Millisecond):
		}
	}
	close(w.stopped)
	<-done
}

// TestCheckpointShortOfRoom: while a disk is short of room nothing is written, and the error says so.
func TestCheckpointShortOfRoom(t *testing.T) {
	w := &Worker{acts: &activities.Activities{
		Archives: &activities.Archives{Default: t.TempDir()}, Disk: &disk.Watch{Data: t.TempDir(), Floor: 1000, Free: func(string) (int64, error) { return 1, nil }},
	}}
	if _, err := w.makeCheckpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "left; no claims until") {
		t.Error(err)
	}
}

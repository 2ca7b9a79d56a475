package starter

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestRebuildCommand rebuilds a frontier from a checkpoint; what is missing or in the way is named.
func TestRebuildCommand(t *testing.T) {
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: "http://a.example/"}}
	if _, err := front.Begin("c", "owner", 0, d, []string{"http://a.example/"}, false); err != nil {
		t.Fatal(err)
	}
	if err := front.Crawl("c").URLs().Offer("seeds", []crawl.Discovery{{URL: "http://a.example/", Path: "S", Score: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.Make(context.Background(), store, front, checkpoint.Worker{Name: "w", Instance: "folder"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{store.String(), "--data", data}, "--name is missing"},
		{[]string{store.String(), "--name", "x", "--data", data}, "no checkpoint of worker \"x\""},
		{[]string{filepath.Join(store.String(), "no"), "--name", "w", "--data", data}, "there is no folder"},
		{[]string{store.String(), "--name", "w", "--data", data}, "segments=0"},
		{[]string{store.String(), "--name", "w", "--data", data}, "there is a frontier already"},
	} {
		cmd := root()
		var out strings.Builder
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append([]string{"frontier", "rebuild"}, c.args...))
		if err := cmd.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%q: %s", c.args, out.String())
		}
	}
}

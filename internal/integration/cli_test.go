package integration

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

func TestSmoke(t *testing.T) {
	server := StartServer(t)
	world := Serve(t, webworld.NewBench(webworld.Options{Seed: 1}, 4, 25))
	dir := t.TempDir()
	StartWorker(t, Config(server, world, dir))
	d := Definition("small", world)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, 30*time.Second)
	t.Logf("%+v", result.Totals)
	Once(t, Check(t, filepath.Join(dir, "archive")), world)
}

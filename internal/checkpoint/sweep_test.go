package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// TestSweepGone: of workers that are gone all checkpoints are deleted that are not the newest of a partition, with their objects.
func TestSweepGone(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	type made struct {
		worker  string
		hours   int            // ago
		tenures map[int]uint64 // its partitions
		bound   bool
		stays   bool
	}
	for name, list := range map[string][]made{
		"its partition has no newer one":            {{"gone", 40, map[int]uint64{1: 5}, false, true}, {"w", 1, map[int]uint64{2: 5}, false, true}},
		"the owner has made one since":              {{"gone", 40, map[int]uint64{1: 5}, false, false}, {"w", 1, map[int]uint64{1: 6}, false, true}},
		"one of its partitions has no newer one":    {{"gone", 40, map[int]uint64{1: 5, 2: 5}, false, true}, {"w", 1, map[int]uint64{1: 6}, false, true}},
		"only the older one has been replaced":      {{"gone", 41, map[int]uint64{1: 5}, false, false}, {"gone", 40, map[int]uint64{1: 5}, false, true}},
		"it has a later one of an earlier tenure":   {{"v", 50, map[int]uint64{1: 6}, false, true}, {"gone", 40, map[int]uint64{1: 5}, false, false}},
		"it may be alive, and the ring is cut off":  {{"gone", 40, map[int]uint64{1: 5}, false, true}, {"gone", 2, nil, false, true}, {"w", 1, map[int]uint64{1: 6}, false, true}},
		"it had a crawl of its own":                 {{"gone", 40, map[int]uint64{1: 5}, true, true}, {"w", 1, map[int]uint64{1: 6}, false, true}},
		"it is in the ring":                         {{"w", 40, map[int]uint64{1: 5}, false, true}, {"v", 1, map[int]uint64{1: 6}, false, true}},
		"both are gone, and one has the newest one": {{"gone", 40, map[int]uint64{1: 5}, false, false}, {"dead", 39, map[int]uint64{1: 7}, false, true}},
	} {
		store, err := archive.OpenDir(t.TempDir())
		must(t, err)
		want := map[string]bool{}
		for _, m := range list {
			at := now.Add(-time.Duration(m.hours) * time.Hour)
			of := Manifest{Version: Version, Worker: m.worker, Taken: at, Tenures: m.tenures, SpreadOnly: !m.bound, Partitions: map[int]Object{}}
			of.Crawls.Key = archive.Frontiers{}.CheckpointPart(-1, at, m.worker)
			for p := range m.tenures {
				of.Partitions[p] = Object{Key: archive.Frontiers{}.CheckpointPart(p, at, m.worker)}
			}
			raw, err := json.Marshal(of)
			must(t, err)
			must(t, store.Put(t.Context(), of.key(), bytes.NewReader(raw), int64(len(raw))))
			want[of.key()] = m.stays
			for _, o := range append(slices.Collect(maps.Values(of.Partitions)), of.Crawls) {
				must(t, store.Put(t.Context(), o.Key, strings.NewReader("x"), 1))
				want[o.Key] = m.stays
			}
		}
		deleted, err := SweepGone(t.Context(), store, func(w string) bool { return w == "w" || w == "v" }, now)
		must(t, err)
		manifests := 0
		for key, stays := range want {
			_, err := archive.ReadAll(t.Context(), store, key, 1<<20)
			if (err == nil) != stays {
				t.Errorf("%s: %s is there: %v, want %v", name, key, err == nil, stays)
			}
			if !stays && (archive.Frontiers{}).IsManifest(key) {
				manifests++
			}
		}
		if deleted != manifests {
			t.Errorf("%s: %d are deleted, %d are said to be", name, manifests, deleted)
		}
	}
}

// TestMovedPartitionKeepsItsCheckpoint: a worker that has handed a partition over keeps its checkpoint of it until the new owner has made one.
func TestMovedPartitionKeepsItsCheckpoint(t *testing.T) {
	r := newRig(t)
	d, err := r.Crawl("c").Plan()
	must(t, err)
	d.Definition.Name, d.Definition.Spread = "spread", true
	_, err = r.Begin("spread", "owner", 1, d.Definition, nil, false)
	must(t, err)
	r.offer("http://a.example/")
	make := func(worker string, tenures map[int]uint64) string {
		t.Helper()
		r.now = r.now.Add(time.Hour)
		made, err := Make(t.Context(), r.store, r.Frontier, Worker{Name: worker, Instance: "folder", Epoch: 7, Tenures: func() map[int]uint64 { return tenures }}, r.now)
		must(t, err)
		return made.Key
	}
	there := func(want ...string) {
		t.Helper()
		got := slices.DeleteFunc(r.keys(), func(key string) bool { return !(archive.Frontiers{}).IsManifest(key) })
		if slices.SortFunc(want, cmp.Compare[string]); !slices.Equal(got, want) {
			t.Errorf("there are\n%s\nwant\n%s", fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	first := make("w", map[int]uint64{1: 5, 2: 5})
	second := make("w", map[int]uint64{1: 5})
	third := make("w", map[int]uint64{1: 5})
	fourth := make("w", map[int]uint64{1: 5})
	there(first, third, fourth)
	of := make("v", map[int]uint64{2: 6})
	fifth := make("w", map[int]uint64{1: 5})
	there(fourth, fifth, of)
	_ = second
}

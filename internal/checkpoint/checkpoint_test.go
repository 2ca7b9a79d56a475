package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/partfile"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func opened(t testing.TB, dir string) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(dir, frontier.Options{NoSync: true})
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// rig is a worker with a frontier and an archive.
type rig struct {
	*frontier.Frontier
	t     testing.TB
	dir   string // of the frontier
	store archive.Store
	now   time.Time
	n     int
}

func newRig(t testing.TB) *rig {
	t.Helper()
	store, err := archive.OpenDir(t.TempDir())
	must(t, err)
	r := &rig{dir: t.TempDir(), t: t, store: store, now: time.Now()}
	r.Frontier = opened(t, r.dir)
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Scope.Within = "c", []crawl.Seed{{URL: "http://a.example/"}}, crawl.WithinWeb
	_, err = r.Begin("c", "owner", 0, d, nil, false)
	must(t, err)
	return r
}

func (r *rig) offer(urls ...string) {
	r.t.Helper()
	var list []crawl.Discovery
	for _, u := range urls {
		list = append(list, crawl.Discovery{URL: u, Path: "SL", Via: "http://a.example/", Score: 0.5})
	}
	r.n++
	must(r.t, r.Crawl("c").URLs().Offer(fmt.Sprint("offer-", r.n), list))
}

func (r *rig) checkpoint() Made {
	r.t.Helper()
	r.now = r.now.Add(time.Hour)
	made, err := Make(r.t.Context(), r.store, r.Frontier, Worker{Name: "w", Instance: "folder", Epoch: 7}, r.now)
	must(r.t, err)
	return made
}

func (r *rig) keys() (list []string) {
	r.t.Helper()
	must(r.t, r.store.List(r.t.Context(), "", func(o archive.Object) error {
		list = append(list, o.Key)
		return nil
	}))
	return list
}

// objects are all partitions of a frontier, and the rest, as objects.
func objects(t testing.TB, f *frontier.Frontier) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, f.Export(func(e *frontier.Export) error {
		for p := range frontier.Partition(frontier.Partitions) + 1 {
			if _, err := partfile.Write(&out, partfile.Header{Partition: p}, e); err != nil {
				return err
			}
		}
		return nil
	}))
	return out.Bytes()
}

// TestCheckpoints: a checkpoint writes what has changed since the one before, and leaves two of the worker; a frontier that is loaded from the
// newest is the same as the one that it was made of.
func TestCheckpoints(t *testing.T) {
	r := newRig(t)
	r.offer("http://a.example/1", "http://b.example/1", "http://c.example/1")
	if made := r.checkpoint(); made.Parts != 4 {
		t.Errorf("the first has %d objects, %d entries", made.Parts, made.Entries)
	}
	if made := r.checkpoint(); made.Parts != 1 {
		t.Errorf("nothing has changed, and %d objects are written", made.Parts)
	}
	r.offer("http://b.example/2")
	if made := r.checkpoint(); made.Parts != 2 {
		t.Errorf("one PLD has changed, and %d objects are written", made.Parts)
	}
	r.offer("http://c.example/2")
	want := objects(t, r.Frontier)
	if made := r.checkpoint(); made.Parts != 2 {
		t.Errorf("one PLD has changed, and %d objects are written", made.Parts)
	}
	m, err := Newest(t.Context(), r.store, "w")
	must(t, err)
	if m.Epoch != 7 || len(m.Partitions) != 3 || !m.Taken.Equal(r.now) {
		t.Errorf("%+v", m)
	}
	// two checkpoints: of each the manifest and what belongs to no partition, and 3 + 1 partitions
	if list := r.keys(); len(list) != 2+2+4 {
		t.Errorf("%d objects are left: %q", len(list), list)
	}
	r.offer("http://d.example/1") // is in no checkpoint
	into := opened(t, t.TempDir())
	must(t, Load(t.Context(), r.store, m, into, nil))
	if !bytes.Equal(objects(t, into), want) {
		t.Error("the frontier differs from that which the checkpoint was made of")
	}
	if _, err := Newest(t.Context(), r.store, "another"); !errors.Is(err, ErrNone) {
		t.Errorf("of another worker: %v", err)
	}
}

// TestOtherFolder: another folder, which counts otherwise, takes nothing over from a checkpoint of the same name.
func TestOtherFolder(t *testing.T) {
	r := newRig(t)
	r.offer("http://a.example/1", "http://b.example/1")
	r.checkpoint()
	r.now = r.now.Add(time.Hour)
	made, err := Make(t.Context(), r.store, r.Frontier, Worker{Name: "w", Instance: "another folder", Epoch: 7}, r.now)
	if err != nil || made.Parts != 3 {
		t.Errorf("%d objects, %v", made.Parts, err)
	}
}

// TestRestoredFolder: a folder that was restored from a copy has been written less often than the newest checkpoint of it. Nothing of
// that checkpoint is taken over, and it is not mixed with what the folder has. Nor is it when checkpoints have failed meanwhile: then the
// folder has counted further than the one that it is a copy of.
func TestRestoredFolder(t *testing.T) {
	for _, failed := range []int{0, 1, 3, 4, 5} {
		t.Run(fmt.Sprint(failed, " checkpoints fail"), func(t *testing.T) { restoredFolder(t, failed) })
	}
}

func restoredFolder(t *testing.T, failed int) {
	r := newRig(t)
	r.offer("http://a.example/1", "http://b.example/1")
	r.checkpoint()
	must(t, r.Frontier.Close())
	restored := t.TempDir()
	must(t, os.CopyFS(restored, os.DirFS(r.dir)))
	r.Frontier = opened(t, r.dir)
	for n := range 3 {
		r.offer(fmt.Sprintf("http://b.example/after the copy %d", n))
		r.checkpoint()
	}
	must(t, r.Frontier.Close())
	r.Frontier = opened(t, restored)
	r.offer("http://c.example/")
	for range failed {
		r.now = r.now.Add(time.Hour)
		if _, err := Make(t.Context(), &cutPuts{r.store, 0}, r.Frontier, Worker{Name: "w", Instance: "folder", Epoch: 7}, r.now); !errors.Is(err, errCut) {
			t.Fatalf("%v", err)
		}
	}
	for n := range 5 {
		r.offer(fmt.Sprintf("http://c.example/%d", n))
		want := objects(t, r.Frontier)
		r.checkpoint()
		m, err := Newest(t.Context(), r.store, "w")
		must(t, err)
		into := opened(t, t.TempDir())
		if must(t, Load(t.Context(), r.store, m, into, nil)); !bytes.Equal(objects(t, into), want) {
			t.Fatalf("checkpoint %d since the folder was restored is mixed with those before", n+1)
		}
	}
}

// TestClockSetBack: the newest checkpoint is the one that was made last.
func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	r.checkpoint()
	r.checkpoint()
	r.now = r.now.Add(-24 * time.Hour)
	key := r.checkpoint().Key
	if list := r.keys(); !slices.Contains(list, key) {
		t.Errorf("%s is not among %q", key, list)
	}
	m, err := Newest(t.Context(), r.store, "w")
	must(t, err)
	if got := (archive.Frontiers{}).Checkpoint(m.Taken, "w"); got != key {
		t.Errorf("%s is the newest, not %s", got, key)
	}
}

// cutPuts fails after a number of puts.
type cutPuts struct {
	archive.Store
	left int
}

func (s *cutPuts) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if s.left--; s.left < 0 {
		return errCut
	}
	return s.Store.Put(ctx, key, r, size)
}

var errCut = errors.New("the worker was killed")

// TestCheckpointCutOff: a checkpoint that is cut off after any number of objects leaves the former one whole, and what it has left is
// deleted by the next.
func TestCheckpointCutOff(t *testing.T) {
	for left := range 5 {
		r := newRig(t)
		r.offer("http://a.example/1", "http://b.example/1", "http://c.example/1")
		r.checkpoint()
		want := objects(t, r.Frontier)
		r.offer("http://a.example/2", "http://b.example/2", "http://c.example/2")
		r.now = r.now.Add(time.Hour)
		if _, err := Make(t.Context(), &cutPuts{r.store, left}, r.Frontier, Worker{Name: "w", Instance: "folder", Epoch: 7}, r.now); !errors.Is(err, errCut) {
			t.Fatalf("%v", err)
		}
		if list := r.keys(); left < 4 && len(list) != 1+4 { // the manifest itself may be there, or not
			t.Errorf("cut off after %d objects it leaves some: %q", left, list)
		}
		m, err := Newest(t.Context(), r.store, "w")
		must(t, err)
		into := opened(t, t.TempDir())
		must(t, Load(t.Context(), r.store, m, into, nil))
		if !bytes.Equal(objects(t, into), want) {
			t.Errorf("cut off after %d objects, the former checkpoint has something else", left)
		}
		if made := r.checkpoint(); made.Parts != 4 {
			t.Errorf("after one that was cut off %d objects are written", made.Parts)
		}
		if list := r.keys(); len(list) != 2*(1+4) {
			t.Errorf("%d objects are left: %q", len(list), list)
		}
	}
}

package storetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

func putIfAbsent(t *testing.T, s archive.Store) {
	if err := s.PutIfAbsent(t.Context(), "c/segments/b.json", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := s.PutIfAbsent(t.Context(), "c/segments/b.json", []byte("second")); !errors.Is(err, archive.ErrExists) {
		t.Errorf("%v, not ErrExists", err)
	}
	if got := get(t, s, "c/segments/b.json"); got != "first" {
		t.Errorf("%q stands", got)
	}
	put(t, s, "c/put", "x")
	if err := s.PutIfAbsent(t.Context(), "c/put", []byte("y")); !errors.Is(err, archive.ErrExists) {
		t.Errorf("after a put: %v, not ErrExists", err)
	}
	if err := s.PutIfAbsent(t.Context(), "c/nothing", nil); err != nil {
		t.Errorf("an empty object: %v", err)
	}
	if err := s.PutIfAbsent(t.Context(), "c/nothing", nil); !errors.Is(err, archive.ErrExists) {
		t.Errorf("an empty object counts as none: %v", err)
	}
}

func putIfAbsentRace(t *testing.T, s archive.Store) {
	for round := range 10 {
		key := text("c/segments/%d.json", round)
		var wg sync.WaitGroup
		var won atomic.Int32
		var winner atomic.Value
		start := make(chan struct{})
		for i := range 16 {
			wg.Go(func() {
				<-start
				mine := text("%d %s", i, strings.Repeat("x", 100*i))
				err := s.PutIfAbsent(t.Context(), key, []byte(mine))
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(mine)
				case !errors.Is(err, archive.ErrExists):
					t.Errorf("put if absent: %v", err)
				}
			})
		}
		close(start)
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d of 16 have won", won.Load())
		}
		if got := get(t, s, key); got != winner.Load() {
			t.Fatal("what stands is not what the winner put")
		}
	}
}

func putsAtOnce(t *testing.T, s archive.Store) {
	var wg sync.WaitGroup
	var want []string
	for i := range 24 {
		key := text("c/%d/deep/%02d", i%3, i)
		want = append(want, key)
		wg.Go(func() {
			if err := s.Put(t.Context(), key, strings.NewReader(key), int64(len(key))); err != nil {
				t.Errorf("put %s: %v", key, err)
			}
		})
	}
	wg.Wait()
	slices.Sort(want)
	if found := keys(t, s, "c/"); !slices.Equal(found, want) {
		t.Errorf("listed %q", found)
	}
}

func wrongSize(t *testing.T, s archive.Store) {
	for _, announced := range []int64{4, 6, 5 + 1<<20} {
		key := text("c/size-%d", announced)
		// Neither io.Seeker nor io.WriterTo: nobody can know the size beforehand.
		err := s.Put(t.Context(), key, struct{ io.Reader }{strings.NewReader("12345")}, announced)
		if err == nil {
			t.Errorf("5 bytes were taken for %d", announced)
		}
		absent(t, s, key)
	}
}

var errBroken = errors.New("the reader broke")

func brokenReader(t *testing.T, s archive.Store) {
	r := io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) { return 0, errBroken }))
	if err := s.Put(t.Context(), "c/broken", r, 8); err == nil {
		t.Error("a broken reader was taken")
	}
	absent(t, s, "c/broken")
	put(t, s, "c/broken", "complete")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func cancelled(t *testing.T, s archive.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "c/before", strings.NewReader("data"), 4); err == nil {
		t.Error("a put was done after its context had ended")
	}
	if err := s.Put(ctx, "c/empty", strings.NewReader(""), 0); err == nil {
		t.Error("an empty put was done after its context had ended")
	}
	if err := s.PutIfAbsent(ctx, "c/if", []byte("data")); err == nil {
		t.Error("a conditional put was done after its context had ended")
	}
	if err := s.List(ctx, "", func(archive.Object) error { return nil }); err == nil {
		t.Error("a listing was done after its context had ended")
	}
	for _, key := range []string{"c/before", "c/empty", "c/if"} {
		absent(t, s, key)
	}

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	r := io.MultiReader(&pattern{left: 1 << 20}, readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	}), &pattern{left: 31 << 20})
	if err := s.Put(ctx, "c/amid", r, 32<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("a put whose context ends in the middle of it: %v", err)
	}
	absent(t, s, "c/amid")
}

// neverInPart looks at the store while an object is half written.
func neverInPart(t *testing.T, s archive.Store) {
	reached, release := make(chan struct{}), make(chan struct{})
	r := io.MultiReader(&pattern{left: 1 << 20}, readerFunc(func([]byte) (int, error) {
		select {
		case <-reached:
		default:
			close(reached)
		}
		<-release
		return 0, io.EOF
	}), &pattern{left: 1 << 20})
	done := make(chan error, 1)
	go func() { done <- s.Put(t.Context(), "c/data/half", r, 2<<20) }()
	select {
	case <-reached:
	case err := <-done:
		t.Fatalf("the put ended before its data did: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the put did not read half of its data in 20 s")
	}
	absent(t, s, "c/data/half")
	if found := keys(t, s, ""); len(found) != 0 {
		t.Errorf("listed %q while nothing was there", found)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, "c/data/half"); len(got) != 2<<20 {
		t.Errorf("%d bytes stand", len(got))
	}
}

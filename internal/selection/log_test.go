package selection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// TestTwoWriters: of writers that append at the same time none loses an entry, each gets its own numbers, and all read the same.
func TestTwoWriters(t *testing.T) {
	store := newStore(t)
	newLog(t, store)
	const writers, each = 4, 25
	numbers := make([][]uint64, writers)
	var running sync.WaitGroup
	for w := range writers {
		l, err := Open(t.Context(), store, "ravens")
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			for i := range each {
				n, err := l.Append(t.Context(), Entry{Who: fmt.Sprint("writer ", w), Decisions: []Decision{{URL: fmt.Sprintf("https://example.org/%d/%d", w, i), Verdict: Keep}}})
				if err != nil {
					t.Error(err)
					return
				}
				numbers[w] = append(numbers[w], n)
			}
		})
	}
	running.Wait()
	l, err := Open(t.Context(), store, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	if l.Version() != 1+writers*each {
		t.Fatalf("%d entries, want %d", l.Version(), 1+writers*each)
	}
	for w, list := range numbers {
		for i, n := range list {
			want := fmt.Sprintf("https://example.org/%d/%d", w, i)
			if e := l.Entry(n); e.Who != fmt.Sprint("writer ", w) || e.Decisions[0].URL != want {
				t.Errorf("entry %d is %+v, want %s of writer %d", n, e, want, w)
			}
			if i > 0 && n <= list[i-1] {
				t.Errorf("writer %d: entry %d after %d", w, n, list[i-1])
			}
		}
	}
}

// TestCreateTwice: of two that make a selection at the same time one does.
func TestCreateTwice(t *testing.T) {
	store := newStore(t)
	var running sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		running.Go(func() { _, errs[i] = Create(t.Context(), store, "ravens", fmt.Sprint(i), "", Creation{}) })
	}
	running.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), ErrThere) {
		t.Errorf("%v; %v", errs[0], errs[1])
	}
	if names, err := Names(t.Context(), store); err != nil || len(names) != 1 || names[0] != "ravens" {
		t.Errorf("%q, %v", names, err)
	}
}

// TestNothingIsChanged: appending leaves each object as it is, and puts one more.
func TestNothingIsChanged(t *testing.T) {
	store := newStore(t)
	l := newLog(t, store)
	before := map[string]string{}
	for i := range 5 {
		put(t, l, ofURL(Keep, "https://example.org/"))
		now := objects(t, store)
		if len(now) != i+2 {
			t.Errorf("%d objects after %d entries", len(now), i+2)
		}
		for key, text := range before {
			if now[key] != text {
				t.Errorf("%s was %q and is %q", key, text, now[key])
			}
		}
		before = now
	}
}

func objects(t *testing.T, store archive.Store) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := store.List(t.Context(), "", func(o archive.Object) error {
		raw, err := archive.ReadAll(t.Context(), store, o.Key, 1<<20)
		found[o.Key] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNames: hostile names reach no key.
func TestNames(t *testing.T) {
	store := newStore(t)
	for _, name := range []string{"", ".", "..", "a/b", "../x", "a\nb", "_x", strings.Repeat("n", 300)} {
		if _, err := Create(t.Context(), store, name, "ann", "", Creation{}); !errors.Is(err, ErrName) {
			t.Errorf("create %.20q: %v", name, err)
		}
		if _, err := Open(t.Context(), store, name); !errors.Is(err, ErrName) {
			t.Errorf("open %.20q: %v", name, err)
		}
	}
	if list := objects(t, store); len(list) > 0 {
		t.Errorf("%q", list)
	}
	if _, err := Open(t.Context(), store, "none"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestDamage: an entry that is missing, that is another thing, or that is in the wrong place is an error that names it.
func TestDamage(t *testing.T) {
	keys := archive.Selections{}
	for name, c := range map[string]struct {
		spoil func(archive.Store) error
		says  string
	}{
		"missing": {func(s archive.Store) error { return s.Delete(t.Context(), keys.Entry("ravens", 2)) }, "entry 2"},
		"no entry": {func(s archive.Store) error {
			return s.PutIfAbsent(t.Context(), keys.Entry("ravens", 4), []byte(`{"form":1}`))
		}, "entry 4"},
		"a second creation": {func(s archive.Store) error {
			return s.PutIfAbsent(t.Context(), keys.Entry("ravens", 4), []byte(`{"form":1,"id":"0123456789abcdef","who":"x","when":"2026-01-02T03:04:05Z","create":{}}`))
		}, "entry 4"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			l := newLog(t, store)
			put(t, l, ofURL(Keep, "https://example.org/"))
			put(t, l, ofURL(Drop, "https://example.org/"))
			if err := c.spoil(store); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), store, "ravens"); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// lossy is a store whose answer to a put is lost: it says that there is an object already, as a client does that asks again.
type lossy struct{ archive.Store }

func (l lossy) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if err := l.Store.PutIfAbsent(ctx, key, data); err != nil {
		return err
	}
	return archive.ErrExists
}

// TestLostAnswer: an entry whose put was answered as if it were another's is known as the writer's own, and stands once.
func TestLostAnswer(t *testing.T) {
	store := newStore(t)
	newLog(t, store)
	l, err := Open(t.Context(), lossy{store}, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	if n := put(t, l, ofURL(Keep, "https://example.org/")); n != 2 {
		t.Errorf("entry %d", n)
	}
	if list := objects(t, store); len(list) != 2 {
		t.Errorf("%d objects", len(list))
	}
}

// listless is a store whose listing lacks the newest entry though it has it.
type listless struct{ archive.Store }

func (l listless) List(ctx context.Context, prefix string, fn func(archive.Object) error) error {
	var last *archive.Object
	err := l.Store.List(ctx, prefix, func(o archive.Object) error {
		if last != nil {
			if err := fn(*last); err != nil {
				return err
			}
		}
		last = &o
		return nil
	})
	return err
}

// TestLateListing: a number that is taken is not taken again, also where the listing does not have it yet.
func TestLateListing(t *testing.T) {
	store := newStore(t)
	first := newLog(t, store)
	put(t, first, ofURL(Keep, "https://example.org/1"))
	late, err := Open(t.Context(), listless{store}, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	if n := put(t, late, ofURL(Keep, "https://example.org/2")); n != 3 || late.Version() != 3 {
		t.Errorf("entry %d, version %d", n, late.Version())
	}
}

// failing is a store that cannot be written.
type failing struct{ archive.Store }

func (failing) PutIfAbsent(context.Context, string, []byte) error { return io.ErrClosedPipe }

func TestStoreFails(t *testing.T) {
	store := newStore(t)
	newLog(t, store)
	l, err := Open(t.Context(), failing{store}, "ravens")
	if err != nil {
		t.Fatal(err)
	}
	e := ofURL(Keep, "https://example.org/")
	e.Who = "ann"
	if _, err := l.Append(t.Context(), e); !errors.Is(err, io.ErrClosedPipe) || l.Version() != 1 {
		t.Errorf("%v, version %d", err, l.Version())
	}
}

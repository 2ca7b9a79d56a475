// Package storetest is the conformance suite of archive.Store: what every implementation must do, as
// tests that any of them can run.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Options say how far the suite goes.
type Options struct {
	// Large is the size in bytes of an object that is greater than a part of a multipart upload; 0
	// leaves that test out.
	Large int64
}

// Run runs the suite; open gives an empty store each time. It stands for all that crawls rely on.
func Run(t *testing.T, open func(t *testing.T) archive.Store, opts Options) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, archive.Store)
	}{
		{"PutAndGet", putAndGet},
		{"PutAgain", putAgain},
		{"NotFound", notFound},
		{"GetRange", getRange},
		{"PutIfAbsent", putIfAbsent},
		{"PutIfAbsentRace", putIfAbsentRace},
		{"PutsAtOnce", putsAtOnce},
		{"List", list},
		{"ListStops", listStops},
		{"Delete", deleting},
		{"OddKeys", oddKeys},
		{"FolderIsNoObject", folders},
		{"Unfinished", unfinished},
		{"WrongSize", wrongSize},
		{"BrokenReader", brokenReader},
		{"Cancelled", cancelled},
		{"NeverInPart", neverInPart},
		{"ReadAll", readAll},
		{"UnknownSize", unknownSize},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("Large", func(t *testing.T) {
		if opts.Large == 0 {
			t.Skip("no large object is asked for")
		}
		large(t, open(t), opts.Large)
	})
}

func put(t *testing.T, s archive.Store, key, data string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(data), int64(len(data))); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

func get(t *testing.T, s archive.Store, key string) string {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	raw, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	return string(raw)
}

func keys(t *testing.T, s archive.Store, prefix string) []string {
	t.Helper()
	found := []string{}
	err := s.List(t.Context(), prefix, func(o archive.Object) error {
		found = append(found, o.Key)
		return nil
	})
	if err != nil {
		t.Fatalf("list %q: %v", prefix, err)
	}
	return found
}

// absent fails the test if a key can be seen in any way.
func absent(t *testing.T, s archive.Store, key string) {
	t.Helper()
	if r, err := s.Get(t.Context(), key); !errors.Is(err, archive.ErrNotFound) {
		if err == nil {
			_ = r.Close()
		}
		t.Errorf("get %s: %v, not ErrNotFound", key, err)
	}
	if found := keys(t, s, ""); slices.Contains(found, key) {
		t.Errorf("%s is listed", key)
	}
}

func putAndGet(t *testing.T, s archive.Store) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for key, data := range map[string]string{"a": "one", "c/data/b-1.warc.gz": "\x00\xff\r\n", "c/empty": "", "c/mebibyte": big} {
		put(t, s, key, data)
		if got := get(t, s, key); got != data {
			t.Errorf("%s: %d bytes came back of %d, or others", key, len(got), len(data))
		}
	}
	if s.String() == "" {
		t.Error("the store does not say where it is")
	}
}

func putAgain(t *testing.T, s archive.Store) {
	for range 3 {
		put(t, s, "c/again", "the same")
	}
	if got := get(t, s, "c/again"); got != "the same" {
		t.Errorf("%q came back", got)
	}
	if found := keys(t, s, ""); !slices.Equal(found, []string{"c/again"}) {
		t.Errorf("listed %q", found)
	}
}

func notFound(t *testing.T, s archive.Store) {
	put(t, s, "c/a", "x")
	for _, key := range []string{"b", "c/b", "c/a/b", "c/a.json", "d/e/f/g"} {
		if _, err := s.Get(t.Context(), key); !errors.Is(err, archive.ErrNotFound) {
			t.Errorf("get %s: %v, not ErrNotFound", key, err)
		}
	}
}

func deleting(t *testing.T, s archive.Store) {
	put(t, s, "c/a", "x")
	put(t, s, "c/b", "y")
	for range 2 {
		if err := s.Delete(t.Context(), "c/a"); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	if err := s.Delete(t.Context(), "never/was/there"); err != nil {
		t.Errorf("delete what is not there: %v", err)
	}
	absent(t, s, "c/a")
	if got := get(t, s, "c/b"); got != "y" {
		t.Errorf("the neighbour is %q", got)
	}
	if err := s.PutIfAbsent(t.Context(), "c/a", []byte("again")); err != nil {
		t.Errorf("put if absent after delete: %v", err)
	}
	put(t, s, "c/read", "all of it") // what is open is read, although it is deleted meanwhile
	r, err := s.Get(t.Context(), "c/read")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if err := s.Delete(t.Context(), "c/read"); err != nil {
		t.Fatal(err)
	}
	if raw, err := io.ReadAll(r); string(raw) != "all of it" || err != nil {
		t.Errorf("an open object has %q after it was deleted, %v", raw, err)
	}
}

func readAll(t *testing.T, s archive.Store) {
	put(t, s, "k", "12345")
	if raw, err := archive.ReadAll(t.Context(), s, "k", 5); err != nil || string(raw) != "12345" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, err := archive.ReadAll(t.Context(), s, "k", 4); err == nil {
		t.Error("more bytes than the limit were read")
	}
	if _, err := archive.ReadAll(t.Context(), s, "none", 4); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v, not ErrNotFound", err)
	}
}

// large puts an object in parts and reads it back in pieces of another size.
func large(t *testing.T, s archive.Store, size int64) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.Put(ctx, "c/large", &pattern{left: size}, size); err != nil {
		t.Fatal(err)
	}
	r, err := s.Get(ctx, "c/large")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	got, want := make([]byte, 1<<20), make([]byte, 1<<20)
	expect := &pattern{left: size}
	for at := int64(0); at < size; at += int64(len(got)) {
		n := min(int64(len(got)), size-at)
		_, errGot := io.ReadFull(r, got[:n])
		_, errWant := io.ReadFull(expect, want[:n])
		if err := errors.Join(errGot, errWant); err != nil {
			t.Fatalf("at byte %d: %v", at, err)
		}
		if !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("other bytes come back in the mebibyte from %d", at)
		}
	}
	if n, _ := r.Read(got[:1]); n != 0 {
		t.Error("more bytes come back than were put")
	}
}

// pattern yields bytes that depend on their position.
type pattern struct{ at, left int64 }

func (p *pattern) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), p.left)
	for i := range b[:n] {
		at := p.at + int64(i)
		b[i] = byte(at) ^ byte(at>>8) ^ byte(at>>17)
	}
	p.at, p.left = p.at+n, p.left-n
	return int(n), nil
}

func text(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// unknownSize puts what is made meanwhile, with parts of any number; what breaks leaves nothing.
func unknownSize(t *testing.T, s archive.Store) {
	for _, size := range []int{0, 1, 1 << 20, 33 << 20} {
		data := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		if err := s.Put(t.Context(), "c/streamed", io.MultiReader(strings.NewReader(data[:size/2]), strings.NewReader(data[size/2:])), archive.UnknownSize); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if got := get(t, s, "c/streamed"); got != data {
			t.Errorf("of %d bytes there are %d", size, len(got))
		}
	}
	for _, size := range []int64{1, 20 << 20} {
		r := io.MultiReader(io.LimitReader(zeroes{}, size), iotest.ErrReader(errEnough))
		if err := s.Put(t.Context(), "c/broken", r, archive.UnknownSize); !errors.Is(err, errEnough) {
			t.Errorf("broken off after %d bytes: %v", size, err)
		}
		absent(t, s, "c/broken")
	}
}

// zeroes never end.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

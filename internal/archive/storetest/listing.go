package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

func list(t *testing.T, s archive.Store) {
	if found := keys(t, s, ""); len(found) != 0 {
		t.Fatalf("an empty store lists %q", found)
	}
	all := []string{
		"a", "a-b", "a.b", "ab/c", "c/data/1", "c/data/10", "c/data/2", "c/segments/1.json", "c/segments/2.json",
		"c-d/segments/1.json", "c.json", "C/x", "c/segments-old/1.json",
	}
	for i, key := range all {
		put(t, s, key, strings.Repeat("x", i))
	}
	slices.Sort(all)
	for _, prefix := range []string{"", "a", "a/", "c", "c/", "c/data/1", "c/segments/", "c/segments", "c/seg", "c/data/1/", "nothing", "nothing/at/all/", "c/data/3"} {
		want := []string{}
		for _, key := range all {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		if found := keys(t, s, prefix); !slices.Equal(found, want) {
			t.Errorf("prefix %q lists %q, not %q", prefix, found, want)
		}
	}
	err := s.List(t.Context(), "c/data/10", func(o archive.Object) error {
		if o.Size != 5 {
			t.Errorf("size %d, not 5", o.Size)
		}
		if age := time.Since(o.Changed); age < -time.Minute || age > time.Hour {
			t.Errorf("changed %v ago", age)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

var errEnough = errors.New("enough")

func listStops(t *testing.T, s archive.Store) {
	for i := range 5 {
		put(t, s, text("c/%d", i), "x")
	}
	n := 0
	err := s.List(t.Context(), "c/", func(archive.Object) error {
		if n++; n == 2 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || n != 2 {
		t.Errorf("%d calls, %v", n, err)
	}
}

// oddKeys are such as the names of crawls, PLDs and claims can make.
func oddKeys(t *testing.T, s archive.Store) {
	odd := []string{
		"my crawl/data/x y", "a+b/data/c+d", "c/xn--bcher-kva.example-17-0123.warc.gz", "c/192.0.2.1-5.json", "c/[2001:db8::1]-5.json",
		"c/ä-ö.json", "c/100%25-%2F.json", "c/a&b=c?d#e", "c/-dash", "c/.hidden", "c/..dots", "c/~tilde", "c/" + strings.Repeat("n", 200), "c/quote'\"q",
	}
	for _, key := range odd {
		put(t, s, key, "of "+key)
	}
	for _, key := range odd {
		if got := get(t, s, key); got != "of "+key {
			t.Errorf("%q holds %q", key, got)
		}
		if err := s.PutIfAbsent(t.Context(), key, []byte("second")); !errors.Is(err, archive.ErrExists) {
			t.Errorf("%q: %v, not ErrExists", key, err)
		}
	}
	slices.Sort(odd)
	if found := keys(t, s, ""); !slices.Equal(found, odd) {
		t.Errorf("listed %q\n not %q", found, odd)
	}
	for _, key := range odd {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %q: %v", key, err)
		}
	}
	if found := keys(t, s, ""); len(found) != 0 {
		t.Errorf("left after deletion: %q", found)
	}
}

func folders(t *testing.T, s archive.Store) {
	put(t, s, "c/data/x", "y")
	for _, key := range []string{"c", "c/data"} {
		absent(t, s, key)
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if got := get(t, s, "c/data/x"); got != "y" {
		t.Errorf("%q", got)
	}
}

// unfinished looks for what puts have left: nothing, unless they were killed.
func unfinished(t *testing.T, s archive.Store) {
	put(t, s, "c/data/x", "y")
	for _, remove := range []bool{false, true} {
		if list, err := s.Unfinished(t.Context(), time.Now().Add(time.Hour), remove, func(string) bool { return true }); err != nil || len(list) > 0 {
			t.Errorf("unfinished: %q, %v", list, err)
		}
	}
	if got := get(t, s, "c/data/x"); got != "y" {
		t.Errorf("%q", got)
	}
}

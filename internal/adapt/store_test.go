package adapt

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func stored(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// taught adds a rule that is in force.
func taught(t testing.TB, s *Store, host, name string) {
	t.Helper()
	if err := s.Update(host, func(site *Site) bool {
		for i := range EnoughPages {
			site.Add(ravenRule(name), url(i), day)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

// TestStoreReopened: a store that is opened again has what was learned, including the counts.
func TestStoreReopened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "learned")
	first := stored(t, dir)
	for _, host := range []string{"a.test", "b.test", "[2001:db8::1]", "xn--rksmrgs-5wao1o.test", ".."} {
		taught(t, first, host, "raven")
	}
	if err := first.Update("a.test", func(s *Site) bool { s.Attempts = 7; return true }); err != nil {
		t.Fatal(err)
	}
	second := stored(t, dir)
	for _, host := range []string{"a.test", "b.test", "[2001:db8::1]", "xn--rksmrgs-5wao1o.test", ".."} {
		got, want := second.Rules(host, "phpBB"), first.Rules(host, "phpBB")
		if len(got) != 1 || !got[0].InForce() || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
	if err := second.Update("a.test", func(s *Site) bool {
		if s.Host != "a.test" || s.Attempts != 7 {
			t.Errorf("%+v", s)
		}
		return false
	}); err != nil {
		t.Error(err)
	}
	if got := second.Rules("c.test", "phpBB"); got != nil {
		t.Errorf("of a host that is not known: %+v", got)
	}
	outside, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*"))
	if err != nil || len(outside) != 1 {
		t.Errorf("files outside of the folder: %q %v", outside, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files that were begun are left: %q %v", left, err)
	}
}

// TestStoreUnchanged: a change that fn does not report is not written, but is in force while the store is open.
func TestStoreUnchanged(t *testing.T) {
	dir := t.TempDir()
	s := stored(t, dir)
	if err := s.Update("a.test", func(site *Site) bool { site.Add(ravenRule("a"), url(1), day); return false }); err != nil {
		t.Fatal(err)
	}
	if got := s.Rules("a.test", "phpBB"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files were written", len(files))
	}
}

// TestStoreBroken: a broken file is learned again, and does no harm to other hosts.
func TestStoreBroken(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        "",
		"no JSON":        "raven",
		"cut":            `{"host":"a.test","rules":[{"application":"phpBB"`,
		"another type":   `{"host":7}`,
		"a list":         `[1,2]`,
		"null":           "null",
		"empty":          "{}",
		"no rules":       `{"host":"a.test","rules":null}`,
		"a null rule":    `{"host":"a.test","rules":[null]}`,
		"zeros":          strings.Repeat("\x00", 100),
		"of another":     `{"host":"b.test","rules":[]}`,
		"rule of no use": `{"host":"a.test","rules":[{"application":"phpBB","each":"///","verified":-5,"failed":99}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.test.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := stored(t, dir)
			s.Rules("a.test", "phpBB")
			taught(t, s, "a.test", "raven")
			taught(t, s, "b.test", "crow")
			got := stored(t, dir).Rules("a.test", "phpBB")
			if len(got) == 0 || got[0].Each != ravenRule("raven").Each {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestStoreTrouble: if the folder cannot be written, the error is reported and what was learned stays in force.
func TestStoreTrouble(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(filepath.Join(file, "learned")); err == nil {
		t.Error("a folder in a file is opened")
	}
	s := stored(t, filepath.Join(dir, "learned"))
	if err := os.RemoveAll(filepath.Join(dir, "learned")); err != nil {
		t.Fatal(err)
	}
	if err := s.Update("a.test", func(site *Site) bool { site.Add(ravenRule("a"), url(1), day); return true }); err == nil || !strings.Contains(err.Error(), "a.test") {
		t.Errorf("the trouble is %v", err)
	}
	if got := s.Rules("a.test", "phpBB"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestStoreBounded: a bounded number of hosts is held in memory; others are read again.
func TestStoreBounded(t *testing.T) {
	dir := t.TempDir()
	s := stored(t, dir)
	taught(t, s, "a.test", "raven")
	for i := range MaxSites + 100 {
		if err := s.Update(fmt.Sprintf("h%d.test", i), func(*Site) bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	if s.sites.Len() > MaxSites {
		t.Errorf("%d sites are held", s.sites.Len())
	}
	s.sites.Remove("a.test") // as if the cache had evicted it
	if got := s.Rules("a.test", "phpBB"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestStoreSites(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s := stored(t, dir)
		for _, host := range []string{"a.test", "b.test"} {
			taught(t, s, host, host)
		}
		got := map[string]int{}
		if dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		bad, err := s.Sites(func(site *Site) error { got[site.Host] = len(site.Rules); return nil })
		if err != nil || len(bad) != min(len(dir), 1) {
			t.Error(bad, err)
		}
		if !reflect.DeepEqual(got, map[string]int{"a.test": 1, "b.test": 1}) {
			t.Errorf("%v", got)
		}
		if _, err := s.Sites(func(*Site) error { return os.ErrClosed }); err != os.ErrClosed {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestStoreConcurrently: with many writers at once, for the same and for other hosts, no rule is lost.
func TestStoreConcurrently(t *testing.T) {
	dir := t.TempDir()
	s := stored(t, dir)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 25 {
				host := fmt.Sprintf("h%d.test", i%3)
				rule := ravenRule(fmt.Sprint("r", i%5))
				if err := s.Update(host, func(site *Site) bool {
					site.Add(rule, url(worker*100+i), day)
					return i%8 == 0 || i > 20
				}); err != nil {
					t.Error(err)
				}
				for _, r := range s.Rules(host, "phpBB") {
					if len(r.Evidence) == 0 || len(r.Properties) != 2 || r.Verified == 0 {
						t.Errorf("%+v", r)
					}
				}
				if err := s.Update(host, func(site *Site) bool { site.Note(&rule, i%4 != 0, url(i), day); return false }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 3 {
		host := fmt.Sprintf("h%d.test", i)
		if got, want := len(stored(t, dir).Rules(host, "phpBB")), len(s.Rules(host, "phpBB")); got != want || got == 0 {
			t.Errorf("%s: %d rules are kept, %d are held", host, got, want)
		}
	}
}

// TestFileNames: each host has its own file, inside the folder.
func TestFileNames(t *testing.T) {
	seen := map[string]string{}
	for _, host := range []string{"a.test", "www.a.test", "a-b.test", "127.0.0.1", "[2001:db8::1]", "[2001:db8::2]", "xn--bcher-kva.test", "a_b.test", "..", ""} {
		name := (&Site{Host: host}).File("")
		if strings.ContainsAny(name, `/\:`) || strings.HasPrefix(name, ".") {
			t.Errorf("%q has the file %q", host, name)
		}
		if other, twice := seen[name]; twice && name != "" {
			t.Errorf("%q and %q have the file %q", host, other, name)
		}
		seen[name] = host
	}
}

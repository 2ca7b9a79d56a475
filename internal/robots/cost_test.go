package robots

import (
	"fmt"
	"strings"
	"testing"
)

// hostile is a file of the largest size that is read, full of rules with wildcards.
func hostile() []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < MaxBytes-20; i++ {
		fmt.Fprintf(&b, "Allow: *%x*a\n", i)
	}
	return []byte(b.String())
}

// plain is such a file with plain paths.
func plain() []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < MaxBytes-40; i++ {
		fmt.Fprintf(&b, "Disallow: /folder/%x/\n", i)
	}
	return []byte(b.String())
}

func BenchmarkLargest(b *testing.B) {
	long := "/" + strings.Repeat("folder/0/12345/", 130)
	for name, file := range map[string][]byte{"wildcards": hostile(), "plain": plain()} {
		b.Run(name+"/parse", func(b *testing.B) {
			for b.Loop() {
				Parse(file, "Muninn")
			}
		})
		rules := Parse(file, "Muninn")
		for _, uri := range []string{"/folder/1234/page.html", long} {
			b.Run(fmt.Sprintf("%s/allowed %d", name, len(uri)), func(b *testing.B) {
				for b.Loop() {
					rules.Allowed(uri)
				}
			})
		}
	}
}

// TestSizeInMemory: the rules of the largest file take little more memory than its text.
func TestSizeInMemory(t *testing.T) {
	for name, file := range map[string][]byte{"wildcards": hostile(), "plain": plain()} {
		size := Parse(file, "Muninn").Size()
		t.Logf("%s: %d rules, %d KiB held", name, strings.Count(string(file), "\n")-1, size>>10)
		if size > 2*MaxBytes {
			t.Errorf("%s: %d bytes held of %d", name, size, len(file))
		}
	}
}

// TestMaxGlobs: beyond the bound on wildcards, disallowed paths stay disallowed.
func TestMaxGlobs(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range MaxGlobs {
		fmt.Fprintf(&b, "Disallow: /no*%d$\n", i)
	}
	b.WriteString("Allow: /no*late\nDisallow: /late*x\nDisallow: /exact$\nDisallow: /plain\nAllow: /plain/yes\n")
	rules := Parse([]byte(b.String()), "Muninn")
	for path, want := range map[string]bool{
		"/no17": false, "/no": true, "/notlate": true, "/late/x": false, "/exact": false, "/plain": false, "/plain/yes": true, "/other": true,
	} {
		if got := rules.Allowed(path); got != want {
			t.Errorf("%s allowed: %v", path, got)
		}
	}
}

// slow is RFC 9309 §2.2.2 and §2.2.3 taken literally: it tries every rule at every position.
func slow(groups []group, path string) bool {
	allow, priority := true, -1
	for _, g := range groups {
		for _, l := range g.lines {
			p, end, ok := parsePattern(l.path)
			length := len(p)
			if end {
				length++
			}
			if ok && matchSlowly(p, path, end) && (length > priority || length == priority && l.allow) {
				allow, priority = l.allow, length
			}
		}
	}
	return allow
}

func matchSlowly(pattern, path string, end bool) bool {
	switch {
	case pattern == "":
		return !end || path == ""
	case pattern[0] == wildcard:
		for i := range len(path) + 1 {
			if matchSlowly(pattern[1:], path[i:], end) {
				return true
			}
		}
		return false
	}
	return path != "" && path[0] == pattern[0] && matchSlowly(pattern[1:], path[1:], end)
}

// FuzzAllowed compares the rules with slow.
func FuzzAllowed(f *testing.F) {
	f.Add("/a*b$", "/a", "/a/b", "/", "*b", "/axb", byte(5))
	f.Add("/a/b", "/a", "/a/b/c", "/a/bb", "/a/*", "/a/b/d", byte(9))
	f.Add("/*", "/", "/a**", "/aa", "/$", "/", byte(3))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, path string, allow byte) {
		if len(path) > 30 {
			return
		}
		g := group{}
		for i, p := range []string{a, b, c, d, e} {
			if strings.Count(p, "*") > 4 {
				return
			}
			g.lines = append(g.lines, line{p, allow>>i&1 == 1})
		}
		at := normalPath("/" + path)
		if got, want := newSet([]group{g}).allowed(at), slow([]group{g}, at); got != want {
			t.Fatalf("%+v for %q: %v, want %v", g.lines, at, got, want)
		}
	})
}

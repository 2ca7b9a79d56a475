package urls

import (
	"strings"
	"testing"
)

// slow resolves by the parser alone.
func slow(r Resolver, ref string) string {
	base, err := parser.Parse(r.text)
	if err != nil {
		return ""
	}
	u, err := base.Parse(strings.TrimSpace(ref))
	if err != nil {
		return ""
	}
	c, err := canonical(u)
	if err != nil {
		return ""
	}
	return c.String()
}

// agree compares quick with the parser; taken reports that quick took the reference.
func agree(t *testing.T, base, ref string) (taken bool) {
	t.Helper()
	r, err := NewResolver(base)
	if err != nil {
		return false
	}
	if r.base == nil {
		b, err := parser.Parse(base)
		if err != nil {
			t.Fatalf("%q is taken as a base: %v", base, err)
		}
		if want, err := canonical(b); err != nil || want != r.plain {
			t.Fatalf("the base %q is %+v, by the parser %+v, %v", base, r.plain, want, err)
		}
	}
	r.text = base
	u, ok := r.quick(ref)
	if !ok {
		return false
	}
	want := slow(r, ref)
	if u.String() != want {
		t.Fatalf("%q on %q: quickly %q, by the parser %q", ref, base, u, want)
	}
	again, err := Trusted(want)
	if err != nil || again != u {
		t.Fatalf("%q on %q: the parts are %+v, want %+v (%v)", ref, base, u, again, err)
	}
	return true
}

var quickBases = []string{
	"http://a.example/", "https://a.example:8443/b/c?d=/e/f", "http://a.example/b/%2e%2E/c%41/d", "http://[::1]:81/x/", "http://192.0.2.1/a/b",
	"http://bücher.example/ä/ö", "http://a.example./b", "ftp://a.example/b/", "http://a.example/b;c/d:e/f", "http://a.example?x/y", "http://a.example/.hidden/x",
}

func TestQuick(t *testing.T) {
	refs := map[string]bool{ // whether quick should take it on http://a.example/
		"/": true, "/a/b": true, "a": true, "a/b.html?x=1&y=2": true, "http://b.example/": true, "https://b.example:8080/a?b": true,
		"/a:b": true, "/a?b:c": true, "a?b:c": true, "a:b": false, "./a": true, "../a": true, "../../a?b=../c": true, "./": true, "..": false, ".": false, ".a": false, "./.a": false, ".//a": false, "./a/../b": false, "/a/../b": false, "/a/.b": false, "//b.example/": true, "//B.example/": false, "///a": false, "?a": true, "?": false,
		"/a?": false, "/%41": false, "/%2e%2E/a": false, "/%D0%9F?q=%20": true, "/%d0": false, "/%2": false, "/a%2F": true, "http://a%2F/": false, "/a b": false, "/a#b": true, "#b": false, "a?b#c d": true, "http://b.example#x": true, "HTTP://b.example/": false, "http://B.example/": false,
		"http://b.example": true, "http://b.example?a": false, "//b.example": true, "http://b.example:80/": false, "http://b.example:080/": false, "http://1.2.3.4/": false, "http://1.0x2/": false,
		"http://xn--a/": false, "http://a..b/": false, "http://a-.b/": false, "http://u@b.example/": false, "http:/a": false, "/a\\b": false,
		"/a?b'c": false, "/a?b?c": false, "/a|b": false, "/é": false, "/a?s=0123456789abcdef0123456789abcdef": true, "/a?SID=0123456789abcdef0123456789abcdef&b": true, "/a?topic=0123456789abcdef0123456789abcdef": true, "/a?b&phpsessid=0123456789abcdef0123456789abcdef": true, "javascript:alert(1)": false, "": false,
	}
	for ref, want := range refs {
		if got := agree(t, quickBases[0], ref); got != want {
			t.Errorf("%q: taken %v, want %v", ref, got, want)
		}
		for _, base := range quickBases[1:] {
			agree(t, base, ref)
		}
	}
}

func FuzzQuick(f *testing.F) {
	for _, base := range quickBases {
		for _, ref := range []string{"/a/b?c=d", "a/b", "http://b.example:81/c", "..", "a:b/c", "//x/y", "/.a", "?q", "x?y=z&sid=1", "./a", "../../a", "//x", "/%D0%9f", "a#b", "?s=0123456789abcdef0123456789abcdef&JSESSIONID=0123456789abcdef0123456789abcdef"} {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, base, ref string) { agree(t, base, ref) })
}

func BenchmarkResolve(b *testing.B) {
	r, err := NewResolver("http://a.example/b/c")
	if err != nil {
		b.Fatal(err)
	}
	for _, ref := range []string{"/wiki/Raven_(bird)", "http://b.example:8080/x/y.html", "/a%20b"} {
		b.Run(ref, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

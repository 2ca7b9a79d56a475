package urls

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"http://example.org", "http://example.org/"},
		{"  HTTP://Example.ORG/A  ", "http://example.org/A"},
		{"http://example.org:80/", "http://example.org/"},
		{"https://example.org:443/", "https://example.org/"},
		{"http://example.org:443/", "http://example.org:443/"},
		{"http://example.org:/", "http://example.org/"},
		{"http://example.org./", "http://example.org/"},
		{"http://user:secret@example.org/", "http://example.org/"},
		{"http://example.org/a#b", "http://example.org/a"},
		{"http://example.org/#!/a", "http://example.org/"},
		{"http://example.org/?", "http://example.org/"},
		{"http://example.org?q", "http://example.org/?q"},
		{"http://example.org/?a=b?c", "http://example.org/?a=b?c"},
		{"http://example.org/a/./b/../c", "http://example.org/a/c"},
		{"http://example.org/%2e%2E/a", "http://example.org/a"},
		{"http://example.org/../../a", "http://example.org/a"},
		{"http://example.org//a//b", "http://example.org//a//b"},
		{`http:\\example.org\a`, "http://example.org/a"},
		{"http:example.org/a", "http://example.org/a"},
		{"ht\ntp://exa\tmple.org/\na", "http://example.org/a"},
		{"http://example.org/a b", "http://example.org/a%20b"},
		{"http://example.org/%7euser/%41%2d%2e%5f", "http://example.org/~user/A-._"},
		{"http://example.org/%2f%3f%23%c3%a9", "http://example.org/%2F%3F%23%C3%A9"},
		{"http://example.org/é?é", "http://example.org/%C3%A9?%C3%A9"},
		{"http://example.org/100%", "http://example.org/100%25"},
		{"http://example.org/%zz?%1", "http://example.org/%25zz?%251"},
		{"http://example.org/%%41", "http://example.org/%25A"},
		{"http://example.org/%4%31?%4%31", "http://example.org/%2541?%2541"},
		{"http://example.org/?q=%41&r=a+b", "http://example.org/?q=A&r=a+b"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/"},
		{"http://☃.net/", "http://xn--n3h.net/"},
		{"http://ＧＯ.com/", "http://go.com/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://3279880203/", "http://195.127.0.11/"},
		{"http://1.2.3.4./", "http://1.2.3.4/"},
		{"http://[2001:DB8:0:0::1]:8080/", "http://[2001:db8::1]:8080/"},
		{"http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"},
	} {
		u, err := Parse(c.in)
		if err != nil || u.String() != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, u, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	long := "http://example.org/" + strings.Repeat("a", MaxLength-len("http://example.org/"))
	if _, err := Parse(long); err != nil {
		t.Errorf("a URL of %d bytes is refused: %v", len(long), err)
	}
	for _, c := range []struct {
		in   string
		want error // nil: any
	}{
		{"", nil}, {"example.org/a", nil}, {"/a", nil}, {"http://", nil}, {"http://a b/", nil},
		{"http://[::1/", nil}, {"http://example.org:99999/", nil}, {"http://1.2.3.256/", nil},
		{"http://%00/", nil}, {"http://a%2Fb/", nil},
		{"ftp://example.org/", ErrScheme}, {"mailto:a@example.org", ErrScheme}, {"javascript:void(0)", ErrScheme},
		{"data:text/html,a", ErrScheme}, {"file:///etc/passwd", ErrScheme},
		{"http://./", ErrNoHost}, {"http://../", ErrNoHost}, {"http://0x7f.1../", ErrNoHost},
		{long + "a", ErrTooLong}, {long + "é", ErrTooLong}, {"http://example.org/#" + strings.Repeat("a", 4*MaxLength), ErrTooLong},
	} {
		u, err := Parse(c.in)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("Parse(%.60q) = %.60q, %v; want %v", c.in, u, err, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		in, scheme, host, authority, origin, requestURI, pld string
		port                                                 int
	}{
		{"http://www.example.org", "http", "www.example.org", "www.example.org", "http://www.example.org", "/", "example.org", 80},
		{"https://a.example.co.uk/b?c", "https", "a.example.co.uk", "a.example.co.uk", "https://a.example.co.uk", "/b?c", "example.co.uk", 443},
		{"https://a.b:8443/?q", "https", "a.b", "a.b:8443", "https://a.b:8443", "/?q", "a.b", 8443},
		{"http://[::1]:81/x", "http", "[::1]", "[::1]:81", "http://[::1]:81", "/x", "[::1]", 81},
		{"http://127.0.0.1/", "http", "127.0.0.1", "127.0.0.1", "http://127.0.0.1", "/", "127.0.0.1", 80},
	} {
		u, err := Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		got := []any{u.Scheme(), u.Host(), u.Authority(), u.Origin(), u.RequestURI(), u.PLD(), u.Port()}
		want := []any{c.scheme, c.host, c.authority, c.origin, c.requestURI, c.pld, c.port}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: part %d is %v, want %v", c.in, i, got[i], want[i])
			}
		}
		if u.Origin()+u.RequestURI() != u.String() {
			t.Errorf("%s: origin and request URI are not the whole", u)
		}
	}
}

func TestPLD(t *testing.T) {
	for _, c := range []struct{ host, want string }{
		{"example.org", "example.org"},
		{"a.b.example.org", "example.org"},
		{"www.bbc.co.uk", "bbc.co.uk"},
		{"a.b.kawasaki.jp", "a.b.kawasaki.jp"},       // the rule *.kawasaki.jp
		{"www.city.kawasaki.jp", "city.kawasaki.jp"}, // and its exception
		{"xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"},
		{"com", "com"}, // a public suffix is its own
		{"co.uk", "co.uk"},
		{"ravens.blogspot.com", "ravens.blogspot.com"}, // private suffixes separate sites of different owners
		{"a.ravens.blogspot.com", "ravens.blogspot.com"},
		{"blogspot.com", "blogspot.com"},
		{"ravens.github.io", "ravens.github.io"},
		{"localhost", "localhost"}, // nothing is known of the suffix
		{"a.b.internal-name", "a.b.internal-name"},
		{"1.2.3.4", "1.2.3.4"},
		{"[2001:db8::1]", "[2001:db8::1]"},
		{"", ""},
	} {
		if got := PLD(c.host); got != c.want {
			t.Errorf("PLD(%q) = %q, want %q", c.host, got, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	for host, want := range map[string]string{
		"1.2.3.4": "1.2.3.4", "[::1]": "::1", "example.org": "", "1.2.3": "", "1.2.3.4.example.org": "",
	} {
		a, ok := Address(host)
		if ok != (want != "") || ok && a.String() != want {
			t.Errorf("Address(%q) = %v, %v; want %q", host, a, ok, want)
		}
	}
}

func TestResolver(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"http://example.org/a/b?c#d", "", "http://example.org/a/b?c"},
		{"http://example.org/a/b?c", "#top", "http://example.org/a/b?c"},
		{"http://example.org/a/b?c", "?d", "http://example.org/a/b?d"},
		{"http://example.org/a/b", "c", "http://example.org/a/c"},
		{"http://example.org/a/b/", "c", "http://example.org/a/b/c"},
		{"http://example.org/a/b", "../../../c", "http://example.org/c"},
		{"http://example.org/a/b", "/c d", "http://example.org/c%20d"},
		{"http://example.org/a/b", " //other.example/c\n", "http://other.example/c"},
		{"https://example.org/a/b", "//other.example", "https://other.example/"},
		{"https://example.org/a/b", "http:c", "http://c/"},
		{"http://example.org/a/b", "http:c", "http://example.org/a/c"},
		{"http://example.org/a/b", `\c`, "http://example.org/c"},
		{"http://user:secret@example.org/", "a", "http://example.org/a"},
		{"http://example.org/", "mailto:a@example.org", ""},
		{"http://example.org/", "javascript:void(0)", ""},
		{"http://example.org/", "http://[", ""},
		{"http://example.org/", "/" + strings.Repeat("a", MaxLength), ""},
		{"http://example.org/", strings.Repeat("a", 4*MaxLength+1), ""},
	} {
		r, err := NewResolver(c.base)
		if err != nil {
			t.Fatal(err)
		}
		u, err := r.Resolve(c.ref)
		if u.String() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s + %.60q = %q, %v; want %q", c.base, c.ref, u, err, c.want)
		}
	}
	if _, err := NewResolver("no/base"); err == nil {
		t.Error("a relative base is taken")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"http://example.org", "http://EXAMPLE.org:80/a/../b?c#d", "http://1.2../", "http://0x7f.1../", "http://[::1]:81/%2",
		"http://bücher.example/%e9?%", "http://a/%%41%2", "http://a/?%2%35", "http:\\\\a\\b", "http://ß.de./%2e%2E/%252e", "https://www.example.org:8443/a/b.html?x=1", "http://u@example.org/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if plain, errPlain := parseWhole(raw); plain != u || (err == nil) != (errPlain == nil) {
			t.Fatalf("%q is %+v, %v; by the parser alone %+v, %v", raw, u, err, plain, errPlain)
		}
		if err != nil {
			return
		}
		again, err := Parse(u.String())
		if err != nil || again != u {
			t.Fatalf("%q becomes %q, which becomes %q (%v)", raw, u, again, err)
		}
		if len(u.String()) > MaxLength || u.Host() == "" || u.RequestURI()[0] != '/' || u.Port() < 0 || u.Port() > 65535 {
			t.Fatalf("%q becomes %#v", raw, u)
		}
		for _, c := range u.String() + u.SURT() + u.Key() {
			if c <= ' ' || c >= 0x7f {
				t.Fatalf("%q has a form with %q in it: %q %q %q", raw, c, u, u.SURT(), u.Key())
			}
		}
		if !strings.HasSuffix(u.Host(), u.PLD()) {
			t.Fatalf("%q: the PLD %q does not end the host", raw, u.PLD())
		}
	})
}

func TestHostOf(t *testing.T) {
	for _, raw := range []string{
		"http://a.example", "https://User:pw@A.example:8443/x:y?u=http://b.example/", "http://192.0.2.1:80/", "http://[2001:db8::1]/",
		"http://[2001:db8::1]:8080/a]:b", "http://bücher.example/ä?q", "http://a.example?x", "https://a.example:443/",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := HostOf(u.String()); got != u.Host() {
			t.Errorf("%s: %q, not %q", u, got, u.Host())
		}
	}
}

package urls

import "testing"

func parse(t *testing.T, raw string) URL {
	t.Helper()
	u, err := Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return u
}

func TestSURT(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"http://example.org", "org,example,)/"},
		{"https://www.example.org/A/?q", "org,example,www,)/A/?q"},
		{"http://example.org:8080/a", "org,example,:8080)/a"},
		{"http://localhost/", "localhost,)/"},
		{"http://10.1.2.3:81/", "10.1.2.3:81)/"},
		{"http://[2001:db8::1]:81/a", "[2001:db8::1]:81)/a"},
	} {
		if got := parse(t, c.in).SURT(); got != c.want {
			t.Errorf("%s has the SURT %q, want %q", c.in, got, c.want)
		}
	}
}

// TestKey compares with surt.surt of Python, which pywb and cdxj-indexer use.
func TestKey(t *testing.T) {
	const id = "0123456789abcdefghijklmnopqrstuv"
	const aspx = "0123456789abcdefghijklmn"
	for _, c := range []struct{ in, want string }{
		{"http://www.example.org/", "org,example)/"},
		{"https://www12.example.org/Goo/", "org,example)/goo"},
		{"http://www2go.example.org/", "org,example,www2go)/"},
		{"http://www.www.example.org/", "org,example,www)/"},
		{"http://example.org:8080/", "org,example:8080)/"},
		{"https://example.org:443/a/b/", "org,example)/a/b"},
		{"http://192.0.2.1/info/", "1,2,0,192)/info"},
		{"http://[::1]:81/", "::1:81)/"},
		{"http://example.org//a///b//", "org,example)/a/b"},
		{"http://example.org/a%2Fb/c/", "org,example)/a/b/c"},
		{"http://example.org/a%2F..%2Fc", "org,example)/c"},
		{"http://example.org/%28a%29,%3Ab%20c", "org,example)/(a),:b%20c"},
		{"http://example.org/%2525252e%23%25", "org,example)/.%23%25"},
		{"http://example.org/é%C3%A9%E9", "org,example)/%c3%a9%c3%a9%e9"},
		{"http://example.org/?", "org,example)/"},
		{"http://example.org/?b&a", "org,example)/?a&b"},
		{"http://example.org/?a=2&b&A=1", "org,example)/?a=1&a=2&b"},
		{"http://example.org/?a-b=1&a=2&a", "org,example)/?a&a=2&a-b=1"},
		{"http://example.org/?a=1&", "org,example)/?&a=1"},
		{"http://example.org/?r=http%3A//b.example/&q=x%20y", "org,example)/?q=x%20y&r=http://b.example/"},
		{"http://example.org/?q=%2526r=1", "org,example)/?q=&r=1"},

		{"http://example.org/?PHPSESSID=" + id + "&x=y", "org,example)/?x=y"},
		{"http://example.org/?x=y&jsessionid=" + id, "org,example)/?&x=y"},
		{"http://example.org/?jsessionid=" + id + "0", "org,example)/?jsessionid=" + id + "0"},
		{"http://example.org/?sid=" + id, "org,example)/"},
		{"http://example.org/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&x=y", "org,example)/?x=y"},
		{"http://example.org/?x=y&CFID=1&CFTOKEN=2-A&z", "org,example)/?x=y&z"},
		{"http://example.org/?CFTOKEN=2&CFID=1", "org,example)/?cfid=1&cftoken=2"},
		{"http://example.org/(S(" + aspx + "))/m.aspx", "org,example)/m.aspx"},
		{"http://example.org/d/(" + aspx + ")/m.aspx?p=1", "org,example)/d/m.aspx?p=1"},
		{"http://example.org/(a(" + aspx + ")S(" + aspx + "))/m.aspx", "org,example)/m.aspx"},
		{"http://example.org/(" + aspx + ")/m.html", "org,example)/(" + aspx + ")/m.html"},
		{"http://example.org/a;jsessionid=" + id, "org,example)/a;jsessionid=" + id}, // in the path they stay
	} {
		if got := parse(t, c.in).Key(); got != c.want {
			t.Errorf("%s\n has the key %q\n      want %q", c.in, got, c.want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"%": "%", "%2": "%2", "%25": "%", "%25%": "%%", "%2525": "%", "%252525": "%", "%25%32%35": "%",
		"%!A%21%21%25": "%!A!!%", "%%32%35": "%", "%2541": "A", "%zz%41": "%zzA", "%%%25%32%35asd%%": "%%%asd%%",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

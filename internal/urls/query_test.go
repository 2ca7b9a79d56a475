package urls

import (
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// TestQueryEncoding: what browsers ask for, by the URL standard (§4.4) and the encoding standard.
func TestQueryEncoding(t *testing.T) {
	for _, c := range []struct{ encoding, ref, want string }{
		{"shift_jis", "?q=これ", "http://a.test/d/p?q=%82%B1%82%EA"},
		{"windows-1251", "?q=Эт", "http://a.test/d/p?q=%DD%F2"},
		{"windows-1252", "?q=á|b", "http://a.test/d/p?q=%E1|b"},
		{"gbk", "?q=中文&p=2", "http://a.test/d/p?q=%D6%D0%CE%C4&p=2"},
		{"big5", "?q=中文", "http://a.test/d/p?q=%A4%A4%A4%E5"},
		{"euc-kr", "?q=¡", "http://a.test/d/p?q=%A2%AE"},
		{"euc-jp", "?q=−", "http://a.test/d/p?q=%A1%DD"},
		{"shift_jis", "?q=−", "http://a.test/d/p?q=%81|"}, // its second byte is ASCII
		{"iso-2022-jp", "?q=−", "http://a.test/d/p?q=%1B$B!]%1B(B"},
		{"windows-1252", "?q=☺é", "http://a.test/d/p?q=%26%239786%3B%E9"}, // not in the encoding
		{"windows-1251", "/путь?q=Эт#Эт", "http://a.test/%D0%BF%D1%83%D1%82%D1%8C?q=%DD%F2"},
		{"windows-1251", "x#?q=Эт", "http://a.test/d/x"}, // no query
		{"windows-1251", "http://b.test/?Эт", "http://b.test/?%DD%F2"},
		{"windows-1251", "?q=%41%d1%8D", "http://a.test/d/p?q=A%D1%8D"}, // escaped before
		{"utf-8", "?q=Эт", "http://a.test/d/p?q=%D0%AD%D1%82"},
		{"utf-16le", "?q=Эт", "http://a.test/d/p?q=%D0%AD%D1%82"},
		{"iso-2022-kr", "?q=Эт", "http://a.test/d/p?q=%D0%AD%D1%82"}, // replacement
	} {
		r, err := NewResolver("http://a.test/d/p")
		if err != nil {
			t.Fatal(err)
		}
		in, err := htmlindex.Get(c.encoding)
		if err != nil {
			t.Fatal(err)
		}
		u, err := r.In(in).Resolve(c.ref)
		if err != nil || u.String() != c.want {
			t.Errorf("%s in %s is %s, %v; want %s", c.ref, c.encoding, u, err, c.want)
		}
		if again, err := Parse(u.String()); err != nil || again != u {
			t.Errorf("%s is %s when it is parsed again, %v", u, again, err)
		}
	}
}

// TestEscapeBytes: a header has no encoding.
func TestEscapeBytes(t *testing.T) {
	for raw, want := range map[string]string{"/plain?a=b#c": "/plain?a=b#c", "/ziel-\xe4": "/ziel-%E4", "/ziel-ä": "/ziel-%C3%A4", "": ""} {
		if got := EscapeBytes(raw); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
}

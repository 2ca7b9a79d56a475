package urls

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A wrong seed is refused when it is given, not when it is fetched.
func TestParseSeed(t *testing.T) {
	long := func(n int) string { return "http://example.org/" + strings.Repeat("a", n-len("http://example.org/")) }
	for raw, want := range map[string]string{
		"https://example.org/a": "", "http://example.org:8080/": "",
		"http://u:p@example.org/": ErrUser.Error(), "http:u@example.org": ErrUser.Error(),
		"http://example.org:22/": "port 22 is", "https://example.org:6667/": "port 6667 is", "ftp://example.org/": ErrScheme.Error(),
		long(MaxPage): "", long(MaxPage + 1): ErrLong.Error(), long(MaxLength + 1): ErrTooLong.Error(),
	} {
		_, err := ParseSeed(raw)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	if _, err := ParseSeed("http://example.org:25/"); !errors.As(err, new(*PortError)) {
		t.Error(err)
	}
	if !slices.IsSorted(badPorts) || len(badPorts) < 80 {
		t.Errorf("the list of %d ports is not in order, or not whole", len(badPorts))
	}
}

func TestReadList(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	for _, c := range []struct{ name, text, want, fails string }{
		{"lines", "\n# a comment\n http://a.example/ \r\nhttp://b.example/#top # why\n", "[{3 http://a.example/} {4 http://b.example/#top}]", ""},
		{"empty", "", "[]", ""},
		{"no end", "http://a.example/", "[{1 http://a.example/}]", ""},
		{"a long line", "http://a.example/\n" + long + "\nhttp://b.example/\n", "[]", "urls.txt, line 2 has more than 65536 bytes"},
		{"a long last line", "http://a.example/\n\n" + long, "[]", "urls.txt, line 3 has more than 65536 bytes"},
		{"as many as may be", strings.Repeat("\n", MaxLines), "[]", ""},
		{"too many", "no URL\n" + strings.Repeat("\n", MaxLines), "[]", "urls.txt has more than 1000000 lines"},
	} {
		got, err := ReadList("urls.txt", strings.NewReader(c.text))
		if fmt.Sprint(got) != c.want || c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %.200v, %v", c.name, got, err)
		}
	}
	if _, err := ReadList("urls.txt", broken{}); err == nil || !strings.Contains(err.Error(), "urls.txt, line 1 cannot be read: broken") {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

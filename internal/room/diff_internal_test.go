package room

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/derive"
)

func marks(list []Line) string {
	var b strings.Builder
	for _, l := range list {
		b.WriteString(map[Change]string{Kept: " ", Added: "+", Removed: "-", skipped: "~"}[l.Change] + l.Text + "\n")
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a", "a", " a\n"},
		{"", "a\nb", "+a\n+b\n"},
		{"a\nb", "", "-a\n-b\n"},
		{"a\nb\nc", "a\nx\nc", " a\n-b\n+x\n c\n"},
		{"a\nb\nc\nd", "b\nd\ne", "-a\n b\n-c\n d\n+e\n"},
		{"a\na\na", "a\na", " a\n a\n-a\n"},
	} {
		if got, cut := diff(c.before, c.after); marks(got) != c.want || cut {
			t.Errorf("%q, %q: %q, want %q", c.before, c.after, marks(got), c.want)
		}
	}
}

// TestDiffRestores: without what was added a comparison is the first text, and without what was removed the second one.
func TestDiffRestores(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		list := make([]string, random.IntN(n))
		for i := range list {
			list[i] = string(rune('a' + random.IntN(5)))
		}
		return strings.Join(list, "\n")
	}
	for range 500 {
		before, after := text(30), text(30)
		list, _ := diff(before, after)
		var was, now []string
		for _, l := range list {
			if l.Change != Added {
				was = append(was, l.Text)
			}
			if l.Change != Removed {
				now = append(now, l.Text)
			}
		}
		if strings.Join(was, "\n") != before || strings.Join(now, "\n") != after {
			t.Fatalf("%q, %q: %q", before, after, marks(list))
		}
	}
}

// TestDiffBounded: texts of many lines that have nothing in common are compared in bounded time.
func TestDiffBounded(t *testing.T) {
	t.Parallel()
	text := func(of string) string {
		var b strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&b, "%s %d\n", of, i)
		}
		return b.String()
	}
	begun := time.Now()
	list, cut := diff(text("a"), text("b"))
	if !cut || len(list) != 2*maxLines || time.Since(begun) > 5*time.Second {
		t.Errorf("%d lines, %v, in %v", len(list), cut, time.Since(begun))
	}
	list, _ = diff("x\n"+text("a"), "x\n"+text("a")+"y")
	if slices.ContainsFunc(list, func(l Line) bool { return l.Change == Removed }) {
		t.Error("a text that was added to lacks lines")
	}
}

func TestNearby(t *testing.T) {
	t.Parallel()
	list, _ := diff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9")
	if got, want := marks(nearby(list, 2)), "~\n 3\n 4\n-5\n+x\n 6\n 7\n~\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCompareObjects(t *testing.T) {
	t.Parallel()
	post := func(n int, author, text string) derive.Object {
		return derive.Object{N: n, Type: "post", Author: author, Text: text}
	}
	got, err := compareObjects(t.Context(), []derive.Object{post(0, "a", "one"), post(1, "b", "two"), post(2, "b", "three")}, []derive.Object{post(0, "b", "two"), post(1, "b", "3"), post(2, "c", "new")})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, c := range got {
		text = append(text, fmt.Sprintf("%s %s %s", c.Change, c.Object.Author, c.Object.Text))
	}
	if want := []string{"kept b 3", "added c new", "removed a one"}; !slices.Equal(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
}

// TestCompareObjectsBounded: all web objects of two captures together take the time of one, and none when nobody waits.
func TestCompareObjectsBounded(t *testing.T) {
	t.Parallel()
	var forward, back strings.Builder
	const n = 1_999
	for i := range n {
		fmt.Fprintf(&forward, "%d\n", i)
		fmt.Fprintf(&back, "%d\n", n-1-i)
	}
	var before, after []derive.Object
	for i := range 3 * maxObjectsCompared {
		o := derive.Object{N: i, Title: fmt.Sprint(i), Text: forward.String()}
		before = append(before, o)
		o.Text = back.String()
		after = append(after, o)
	}
	got, err := compareObjects(t.Context(), before, after)
	if err != nil || len(got) != maxObjectsCompared {
		t.Fatalf("%d objects, %v", len(got), err)
	}
	ordered := 0 // those whose lines were compared in their order: one of them is kept
	for _, c := range got {
		if slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Change == Removed }) {
			ordered++
		}
	}
	if ordered != 1 {
		t.Errorf("the order of lines of %d objects was looked at, want 1", ordered)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := compareObjects(ctx, before, after); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("nobody waits: %d objects, %v", len(got), err)
	}
}

// TestPlain: what controls the text around it is taken out, and words of all scripts stay.
func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ravens":                          "ravens",
		"שלום \u200fעולם":                 "שלום \u200fעולם",
		"می\u200cخواهم":                   "می\u200cخواهم",
		"a\u202eb\u202cc\u2066d\u2069":    "abcd",
		"a\x00b\x1bc\td\r\ne\u0085f":      "abc d \nef",
		"zero\u200bwidth\ufeff\u00adsoft": "zerowidthsoft",
		"\xff":                            "",
		"a\u2028b":                        "ab",
		"👩\u200d🚀":                        "👩\u200d🚀",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLive: only addresses of HTTP lead out.
func TestLive(t *testing.T) {
	t.Parallel()
	for address, leads := range map[string]bool{
		"http://a.example/": true, "https://a.example:8443/x?y": true, "HTTPS://a.example/": true, "javascript:alert(1)": false, "JavaScript:alert(1)//http://x": false, "data:text/html,x": false, "//a.example/": false,
		"ftp://a.example/": false, "http://user:pass@a.example/": false, "http:///x": false, "": false, "http://a.example/\u202e": false, " http://a.example/": false, "http://a.example/\n": false,
	} {
		if got := live(address) != ""; got != leads {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// BenchmarkDoor: what rules cost a capture.
func BenchmarkDoor(b *testing.B) {
	rules, err := ReadRules([]byte("rules: [{crawl: c, host: x.example, access: closed}, {crawl: c, embargo: 30d}, {site: b.example, access: closed}]"))
	if err != nil {
		b.Fatal(err)
	}
	admits := NewDoor(rules, nil, nil, time.Now).Now()
	e := Entry{Crawl: "c"}
	e.URL, e.Date = "http://a.example/some/page", time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for b.Loop() {
		admits(&e)
	}
}

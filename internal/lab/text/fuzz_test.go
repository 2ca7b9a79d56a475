package text

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/page"
)

// FuzzRead: whatever a file of gold holds, each line that is read has what the others rely on.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"file":"a","use":"choosing","kind":"forum","body":["//p"],"without":["*"],"sum":"0","words":1,"title":["a"],"author":[],"date":"2019-05-13"}`))
	f.Add([]byte(`{"file":"a","use":"judging","kind":"form","body":[]}` + "\n# x\n{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := Read(bytes.NewReader(raw), "gold")
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%d lines and %v", len(list), err)
		}
		for i := range list {
			if err := list[i].check(); err != nil {
				t.Errorf("line %d: %v", i, err)
			}
		}
	})
}

// FuzzBody: whatever page and expression, a body is found that has words, or there is an error.
func FuzzBody(f *testing.F) {
	f.Add([]byte(article), "//*[@id='text']", "aside")
	f.Add([]byte("<p>a<p>b<table>c<td>d"), "//p | //td/..", "*")
	f.Fuzz(func(t *testing.T, source []byte, body, without string) {
		d := page.Parse(page.Input{URL: noURL, MIME: "text/html", Body: source}, page.DefaultLimits())
		if d.Root == nil {
			t.Skip("the page has no tree")
		}
		b, err := bodyOf(d.Root, &Gold{Body: []string{body}, Without: []string{without}})
		if err == nil && (len(Tokens(b.Text)) == 0 || b.Sum == "" || !utf8.ValidString(b.Text)) {
			t.Errorf("%q selects %q", body, b.Text)
		}
	})
}

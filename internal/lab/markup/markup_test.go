package markup

import (
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	d, err := Parse([]byte(`<p class="a">one<p class="b" title="x">two<a href="/1" src="2">three</a>`))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Remove(".a, .none"); n != 1 || err != nil {
		t.Errorf("removed %d elements, %v", n, err)
	}
	if n, err := d.Remove(""); n != 0 || err != nil {
		t.Errorf("no selector removed %d elements, %v", n, err)
	}
	if err := d.RemoveAttribute("[title]", "title"); err != nil {
		t.Error(err)
	}
	d.Rewrite([]string{"href", "src"}, func(old string) string { return "<" + old })
	const want = `<html><head></head><body><p class="b">two<a href="&lt;/1" src="&lt;2">three</a></p></body></html>`
	if got, err := d.HTML(); string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if _, err := d.Remove("nav["); err == nil || !strings.Contains(err.Error(), `"nav["`) {
		t.Errorf("the error of a broken selector does not name it: %v", err)
	}
}

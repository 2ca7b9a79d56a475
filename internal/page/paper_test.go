package page

import (
	"errors"
	"strings"
	"testing"
)

// TestPaper: the links of a PDF file stand by the text of their pages; what was read before a fault counts.
func TestPaper(t *testing.T) {
	broken := errors.New("broken")
	read := func(file []byte, textBytes int) (Paper, error) {
		if textBytes != int(DefaultLimits().TextBytes) {
			t.Errorf("%d bytes of text are asked for", textBytes)
		}
		return Paper{Title: " On\n ravens ", Pages: []string{"One\nraven.", "", "Two."}, Links: []PaperLink{
			{URL: "http://a.test/1", Annotation: true}, {URL: "2", Page: 1, Annotation: true}, {URL: "http://a.test/3", Page: 2}, {URL: "javascript:4", Page: 2}, {URL: "http://a.test/5", Page: 3},
		}}, broken
	}
	for _, test := range []struct{ mime, body, want string }{
		{"application/pdf", "x", "L /1||One raven.\nL /dir/2||-\nL /3||Two."},
		{"", "\r\n%PDF-1.7\n", "L /1||One raven.\nL /dir/2||-\nL /3||Two."},
		{"application/octet-stream", "%PDF-1.7\n", "L /1||One raven.\nL /dir/2||-\nL /3||Two."},
		{"application/octet-stream", "PDF", ""},
	} {
		d := Parse(Input{URL: "http://a.test/dir/a.pdf", MIME: test.mime, Body: []byte(test.body), PDF: read}, DefaultLimits())
		if got := links(d); got != test.want {
			t.Errorf("%q, %q:\n%s\nwant\n%s", test.mime, test.body, got, test.want)
		}
		if test.want != "" && (d.Title != "On ravens" || strings.Join(d.Blocks, "/") != "One raven./Two." || !errors.Is(d.Fault, broken) || d.MIME != "application/pdf") {
			t.Errorf("%+v, %v", d.Page, d.Fault)
		}
	}
	if d := Parse(Input{URL: "http://a.test/", MIME: "application/pdf", Body: []byte("%PDF-")}, DefaultLimits()); len(d.Blocks) > 0 || d.Fault != nil {
		t.Errorf("without a reader: %+v", d)
	}
}

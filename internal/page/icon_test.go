package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestImpliedIcon: a page that names no icon needs that of its host, as in browsers; a frame, a sheet or a drawing does not.
func TestImpliedIcon(t *testing.T) {
	const at = "http://a.test:81/b/c"
	for name, c := range map[string]struct {
		mime, body string
		part       bool
		want       bool
	}{
		"none":                      {mime: "text/html", body: "<base href='http://b.test/'><p>x", want: true},
		"XHTML":                     {mime: "application/xhtml+xml", body: "<html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", want: true},
		"named":                     {mime: "text/html", body: "<LINK REL='Shortcut ICON' href=i.png><p>x"},
		"named in the body":         {mime: "text/html", body: "<body><p>x<link rel=icon href=i.png>"},
		"none is wanted":            {mime: "text/html", body: "<link rel=icon href='data:,'><p>x"},
		"named without an address":  {mime: "text/html", body: "<link rel=icon href=''><p>x", want: true},
		"of another kind":           {mime: "text/html", body: "<link rel=apple-touch-icon href=i.png><link rel=mask-icon href=i.svg><p>x", want: true},
		"named by a document in it": {mime: "text/html", body: `<iframe srcdoc="<link rel=icon href=i.png>"></iframe>`, want: true},
		"a frame":                   {mime: "text/html", body: "<p>x", part: true},
		"a sheet":                   {mime: "text/css", body: "p{}"},
		"a drawing":                 {mime: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg'/>"},
		"a text":                    {mime: "text/plain", body: "x"},
		"nested too deep":           {mime: "text/html", body: strings.Repeat("<div>", 2000), want: true},
		"nested too deep, named":    {mime: "text/html", body: "<link rel=icon href=i.png>" + strings.Repeat("<div>", 2000)},
		"embedded besides":          {mime: "text/html", body: "<img src=/favicon.ico>", want: true},
	} {
		d := Parse(Input{URL: at, MIME: c.mime, Body: []byte(c.body), Icon: !c.part}, DefaultLimits())
		found := 0
		for _, l := range d.Links {
			if strings.HasSuffix(l.URL, "favicon.ico") {
				found++
				if l.URL != "http://a.test:81/favicon.ico" || l.Hop != crawl.HopEmbed || l.Block != -1 && l.Context == crawl.ContextIcon {
					t.Errorf("%s: %+v", name, l)
				}
			}
		}
		if found != map[bool]int{true: 1}[c.want] {
			t.Errorf("%s: %d links to the icon of the host", name, found)
		}
	}
	with, without := Parse(Input{URL: at, MIME: "text/html", Body: []byte("<p>x<a href=y>y</a>"), Icon: true}, DefaultLimits()), Parse(Input{URL: at, MIME: "text/html", Body: []byte("<p>x<a href=y>y</a>")}, DefaultLimits())
	if last := len(with.Links) - 1; !slices.Equal(with.Links[:last], without.Links) || with.Links[last].Context != crawl.ContextIcon {
		t.Errorf("%+v, without the icon %+v", with.Links, without.Links)
	}
}

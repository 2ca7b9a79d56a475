package traps

import (
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestShapeOfSessions: a session makes no page suspicious, nor of another pattern than it has without.
func TestShapeOfSessions(t *testing.T) {
	shape := func(raw string) Shape {
		u, err := urls.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return ShapeOf(u)
	}
	plain := shape("http://f.example/t.php?t=1")
	for _, raw := range []string{"http://f.example/t.php?t=1&sid=0123456789abcdef0123456789abcdef", "http://f.example/t.php?PHPSESSID=0a1b2c3d4e5f6g7h8i9j0klm&t=1"} {
		if got := shape(raw); !reflect.DeepEqual(got, plain) {
			t.Errorf("%s has the shape %+v, without its session %+v", raw, got, plain)
		}
	}
	if !shape("http://f.example/t.php?t=1&x=0123456789abcdef0123456789abcdef").Invented {
		t.Error("another word of hexadecimal digits is not seen as invented")
	}
}

// TestPrintWithoutIcon: an icon that a page does not name says nothing of it, so that the prints of earlier versions are those of today.
func TestPrintWithoutIcon(t *testing.T) {
	icon := crawl.Outlink{URL: "http://a.example/favicon.ico", Hop: crawl.HopEmbed, Context: crawl.ContextIcon, Block: -1}
	image := crawl.Outlink{URL: "http://a.example/x.png", Hop: crawl.HopEmbed, Context: "img/@src"}
	p := &crawl.Page{MIME: "text/html", Blocks: []string{"ravens"}, Links: []crawl.Outlink{image}}
	with := &crawl.Page{MIME: "text/html", Blocks: []string{"ravens"}, Links: []crawl.Outlink{image, icon}}
	if got, want := PrintOf(with), PrintOf(p); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, without the icon %+v", got, want)
	}
	if got := PrintOf(&crawl.Page{MIME: "text/html", Links: []crawl.Outlink{icon}}); got != nil {
		t.Errorf("an empty page has the print %+v", got)
	}
}

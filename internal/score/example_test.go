package score

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// TestExampleTexts: an example in HTML counts with the text that it shows; its title also counts separately.
func TestExampleTexts(t *testing.T) {
	about := crawl.Topic{Examples: []crawl.Example{
		{Text: " \n<!doctype html><title>Ravens</title><script>hidden()</script><p class=secret>A crow <b>nests</b>"},
		{URL: "http://a.example/"}, {Text: "a < b, plainly"},
	}}
	list := exampleTexts(about)
	if len(list) != 2 || list[0].title != "Ravens" || list[0].text != "Ravens\nRavens\nA crow nests" || list[1].title != "" || list[1].text != "a < b, plainly" {
		t.Fatalf("%+v", list)
	}
	s := scorer(t, about, crawl.Weights{Document: 1}, nil)
	if v := s.vector("en").terms; v["raven"] == 0 || v["crow"] == 0 || v["secret"]+v["hidden"]+v["script"] != 0 {
		t.Errorf("the topic is %v", v)
	}
	views := order.DecodeViews(s.Examples(nil))
	if len(views) != 2 || len(views[0][1]) != 1 || len(views[0][0]) != 3 || len(views[1][1]) != 0 || len(views[0][2]) != 0 {
		t.Errorf("an order is shown %+v", views)
	}
}

// TestExampleLinks: of an example that is given by its text, an order is shown the links whose URLs are known: absolute ones, or all if it names its base.
func TestExampleLinks(t *testing.T) {
	about := crawl.Topic{Examples: []crawl.Example{
		{Text: `<p>A <a href="http://a.example/x">raven</a> and <a href="/y">a crow</a></p>`},
		{Text: `<base href="http://a.example/birds/"><p>A <a href="../x">raven</a> and <a href="/y">a crow</a></p>`},
		{Text: "a raven and a crow"},
	}}
	views := order.DecodeViews(scorer(t, about, crawl.Weights{Document: 1}, nil).Examples(nil))
	if len(views) != 3 || len(views[0][3]) != 1 || len(views[1][3]) != 2 || len(views[2][3]) != 0 {
		t.Fatalf("an order is shown %+v", views)
	}
	if want := order.Targets("", []string{"http://a.example/x"}); views[0][3][0].ID != want[0].ID {
		t.Errorf("%v, want %v", views[0][3], want)
	}
}

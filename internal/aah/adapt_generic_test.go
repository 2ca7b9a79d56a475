package aah

import (
	"fmt"
	"strings"
	"testing"
)

// TestRecrawlGeneric: extraction adapts to a page of an unknown application, too, by its former content.
func TestRecrawlGeneric(t *testing.T) {
	h := shippedLearner(t)
	h.limits = patient()
	for i := range 4 {
		url := fmt.Sprintf("http://news.test/story-%d", i)
		text := strings.Repeat(fmt.Sprintf("Raven %d flew over the wall and said what it saw there. ", i), 5)
		was := read(h, url, fmt.Sprintf(`<article class="h-entry"><h1 class="p-name">Story %d</h1><div class="e-content"><p>%s</p></div></article>`, i, text), Input{})
		if was.Application != "generic" || len(was.Objects) != 1 || was.Prints == nil {
			t.Fatalf("%q: %+v", was.Application, was.Objects)
		}
		now := read(h, url, fmt.Sprintf(`<div class="menu"><a href="/">Home</a></div><div class="story"><h2 class="head">Story %d</h2><div class="words"><p>%s</p></div></div><div class="foot">%s</div>`,
			i, text, strings.Repeat("All rights are reserved by those who keep the ravens. ", 5)), Input{Before: was.Prints})
		if len(now.Objects) != 1 || now.Objects[0].Properties.Get("body") != was.Objects[0].Properties.Get("body") || now.Objects[0].Rule != "learned" {
			t.Errorf("%d: %+v", i, now.Objects)
		}
	}
}

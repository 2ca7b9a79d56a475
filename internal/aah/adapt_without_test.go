package aah

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

const editedWiki = `<application xmlns="` + kb.Namespace + `" name="Edited" category="wiki"><detect generator="edited"/>
<level name="article" terminal="true"><match url="/wiki/"/>
<object type="article" each="//div[@id='text']"><property name="body" xpath="self::*" without=".//*[self::span or self::em][a[contains(@href, 'action=edit')]]"/></object>
</level></application>`

// edited writes a page of a wiki whose headings have links for those who edit it.
func edited(page int, id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<meta name="generator" content="edited"><title>Page %d</title><h1>Page %d</h1><div %s>`, page, page, id)
	for i := range 4 {
		fmt.Fprintf(&b, `<h2>Part %d <span>[<a href="/w?action=edit&section=%d">edit</a>]</span></h2><p>The ravens and the jays of wall %d have been here for %d years, and write every day of what they have seen from it in all weathers, with nobody to read it.</p>`, i, i, page, i)
	}
	return b.String() + `</div><ul><li><a href="/a">Home</a></li><li><a href="/b">Log in</a></li></ul>`
}

// TestWithoutAfterRedesign: where the element of the text has another name, what the shipped rules leave out of it is still left out, whether the text
// is found by the form of the page alone or by a rule that was made by it.
func TestWithoutAfterRedesign(t *testing.T) {
	for name, h := range map[string]*Helper{"form": New(base(t, editedWiki), DefaultLimits()), "rule": learner(t, DefaultLimits())} {
		h.SetBase(base(t, editedWiki))
		for page := range 4 {
			url := fmt.Sprintf("http://a.test/wiki/%d", page)
			want := bodies(read(New(base(t, editedWiki), DefaultLimits()), url, edited(page, `id="text"`), Input{}))
			got := bodies(read(h, url, edited(page, `class="prose-wrap"`), Input{}))
			if len(want) != 1 || strings.Contains(want[0], "[") || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: page %d: %.200q, want %.200q", name, page, got, want)
			}
		}
	}
}

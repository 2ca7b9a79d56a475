package adapt

import (
	"slices"
	"strings"
	"testing"
)

// byLinks are the properties of a rule that finds containers and texts by classes, and authors and links by the targets of
// links.
var byLinks = []PropertyRule{
	{Name: "author", XPath: ".//a[contains(@href, '/u/')]"}, {Name: "permalink", XPath: ".//a[contains(@href, '#p')]/@href"},
	{Name: "body", XPath: ".//div[has-class('text')]"}, {Name: "body", XPath: "."},
}

// TestParts: posts are found by their links if everything else has other names.
func TestParts(t *testing.T) {
	for name, each := range map[string]string{
		"divs":           `<div class="m"><a href="/u/{author}">{author}</a><em><a href="/t#p{n}">{date}</a></em><div class="b">{body}</div></div>`,
		"deep":           `<div class="o"><div class="i"><span><a href="/u/{author}">{author}</a></span></div><div class="x"><a href="/t#p{n}">#</a><section class="b">{body}</section></div></div>`,
		"classes change": `<section class="m{n}99"><a href="/u/{author}">{author}</a><a href="/t#p{n}">#</a><div class="b">{body}</div></section>`,
		"rows":           `<table><tr><td><a href="/u/{author}">{author}</a><td><a href="/t#p{n}">#</a><div class="b">{body}</div></table>`,
		"the old text":   `<li><a href="/u/{author}">{author}</a><a href="/t#p{n}">#</a><div class="text">{body}</div><p>signed {author}</p></li>`,
	} {
		t.Run(name, func(t *testing.T) {
			e := opened(t, paged(`<p>Welcome <a href="/u/me">me</a></p>`, each, some))
			rule, ok := Parts(e, "post", byLinks, nil, ample)
			if !ok {
				t.Fatal("nothing is found")
			}
			// the rule holds on another page of the template
			other := slices.Clone(some)
			slices.Reverse(other)
			e = opened(t, paged("", strings.ReplaceAll(each, "{n}", "7{n}"), other))
			objects := extracted(t, e, rule)
			if len(objects) != len(other) {
				t.Fatalf("%+v extracts %d objects, want %d", rule, len(objects), len(other))
			}
			for i, o := range objects {
				got := map[string]string{}
				for _, p := range o.Parts {
					got[p.Name] = strings.Join(strings.Fields(e.Tree.Value(p.At)), " ")
				}
				if got["body"] != other[i].body || got["author"] != other[i].author || !strings.Contains(got["permalink"], "#p7") {
					t.Errorf("%d: %q by %+v", i, got, rule)
				}
			}
		})
	}
}

// TestPartsOfOtherPages: no rule is made where parts do not repeat, or have no text written by people.
func TestPartsOfOtherPages(t *testing.T) {
	for name, page := range map[string]string{
		"one":         paged("", `<div><a href="/u/{author}">{author}</a><a href="/t#p{n}">#</a><div>{body}</div></div>`, some[:1]),
		"a menu":      `<ul>` + strings.Repeat(`<li><a href="/u/x">x</a></li>`, 9) + `</ul>` + strings.Repeat(prose, 9),
		"no parts":    paged("", strings.ReplaceAll(old, "text", "t"), some),
		"nothing":     "",
		"one element": strings.Repeat(`<a href="/u/x">x</a><a href="#p1">#</a>`, 5) + strings.Repeat(prose, 9),
	} {
		if rule, ok := Parts(opened(t, page), "post", byLinks, nil, ample); ok {
			t.Errorf("%s: %+v", name, rule)
		}
	}
	e := opened(t, paged("", `<div><a href="/u/{author}">{author}</a><a href="/t#p{n}">#</a><div>{body}</div></div>`, some))
	if rule, ok := Parts(e, "post", byLinks, nil, 0); ok {
		t.Errorf("without time %+v is made", rule)
	}
	for _, parts := range [][]PropertyRule{nil, {{Name: "author", XPath: "///"}}, {{Name: "author", XPath: "/html/head/title"}}, {{Name: "author", XPath: "ancestor::a"}}, {{Name: "body", XPath: "."}}} {
		if rule, ok := Parts(e, "post", parts, nil, ample); ok {
			t.Errorf("%+v makes %+v", parts, rule)
		}
	}
}

// TestWithoutFromPrints: a part that did not belong to a text before is left out again, even under another name.
func TestWithoutFromPrints(t *testing.T) {
	const was = `<div class="post" id="p{n}"><b class="who">{author}</b><div class="text">{body}<span class="edit">[edit this]</span><p class="sig">Yours, {author} of the ravens</p></div></div>`
	const is = `<div class="m"><b>{author}</b><section>{body}<i class="e9 x">[edit this]</i><aside>Yours, {author} of the ravens</aside></section></div>`
	before := opened(t, paged("", was, some))
	objects := extracted(t, before, oldRule)
	for i := range objects {
		for j := range objects[i].Parts {
			if p := &objects[i].Parts[j]; p.Name == "body" {
				for id := p.At.ID + 1; id < before.Tree.End(p.At); id++ {
					if n := before.Tree.At(id); n.Data == "span" || n.Data == "p" {
						r := p.At
						r.ID = id
						p.Out = append(p.Out, r)
					}
				}
			}
		}
	}
	prints := PrintsOf(before.Tree, objects)
	if out := prints[0].Properties[len(prints[0].Properties)-1].Out; len(out) != 2 {
		t.Fatalf("%+v", prints[0])
	}
	e := opened(t, paged("", is, some))
	rules, _ := Learn(e, prints, ample)
	if len(rules) != 1 {
		t.Fatalf("learned %+v", rules)
	}
	without := ""
	for _, p := range rules[0].Properties {
		if p.Name == "body" {
			without = p.Without
		} else if p.Without != "" {
			t.Errorf("%+v", p)
		}
	}
	taken := extracted(t, e, Rule{Each: rules[0].Each, Properties: []PropertyRule{{Name: "out", XPath: without}}})
	all := 0
	for _, o := range taken {
		all += len(o.Parts)
	}
	if without == "" || all != len(some) || !strings.Contains(without, " | ") {
		t.Errorf("%q takes out %d parts", without, all)
	}
}

package aah

import (
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestComposed: a property is composed of two nodes if both are there; an object with a body that has nothing of its own is none.
func TestComposed(t *testing.T) {
	const rules = `<application xmlns="` + kb.Namespace + `" name="Rook" category="forum"><detect xpath="//div[@id='rooks']"/>
<level name="thread" terminal="true"><match url="."/><object type="post" each="//div[has-class('post')]">
<property name="permalink" xpath=".//a/@href" as="url"/>
<property name="permalink" xpath="/html/head/link[@rel='canonical']/@href" match="^([^#]*)" between="#p" append="@id" append-match="^msg([0-9]+)$" as="url"/>
<property name="title" xpath="//h1"/><property name="body" xpath="p"/></object></level></application>`
	const page = `<link rel="canonical" href="/t/7?x=1#end"><div id="rooks"><h1>Rooks</h1>
<div class="post" id="msg1"><p>In elms.</p></div><div class="post" id="msg2"><a href="/own">#</a><p>In oaks.</p></div><div class="post" id="other"><p>In pines.</p></div><div class="post"></div><div class="post" id="msg5"></div></div>`
	d := read(New(base(t, rules), DefaultLimits()), "http://a.test/t/7", page, Input{})
	var got []string
	for _, o := range d.Objects {
		got = append(got, o.Properties.Get("permalink")+" "+o.Properties.Get("body"))
	}
	want := []string{"http://a.test/t/7?x=1#p1 In elms.", "http://a.test/own In oaks.", " In pines.", "http://a.test/t/7?x=1#p5 "}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("post %d: %q, want %q", i, got[i], want[i])
		}
	}
}

package aah

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// synthetic makes a base of n applications with marks, levels, objects and links as real ones have.
func synthetic(t testing.TB, n int) *kb.Base {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	word := func() string {
		var b strings.Builder
		for range 3 + random.IntN(2) {
			b.WriteByte("bdfgklmnprstvz"[random.IntN(14)])
			b.WriteByte("aeiou"[random.IntN(5)])
		}
		return b.String()
	}
	files := fstest.MapFS{}
	for i := range n {
		name := fmt.Sprintf("%s%d", word(), i)
		files[fmt.Sprintf("a%d.xml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, `<application xmlns="%s" name="%s" category="forum">
<detect generator="%s"/><detect xpath="//script[contains(@src, '/%s/%s.js')]"/><detect xpath="//body[has-class('%s-page')]"/>
<detect text="/themes/%s/" confidence="0.7"/><detect url="/%s\.php\?" confidence="0.4"/><detect header="X-%s: %s"/><detect cookie="%s_session"/>
<level name="login"><match url="/%s-login"/></level>
<level name="thread" terminal="true"><match xpath="//div[has-class('%s-thread')]"/><object type="post" each="//div[has-class('%s-post')]">
<property name="author" xpath=".//a[has-class('%s-author')]"/><property name="body" xpath=".//div[has-class('%s-text')]"/></object>
<follow xpath="//div[has-class('%s-pager')]//a" level="thread" priority="0.9" paging="true"/></level>
<level name="list of threads"><match xpath="//a[has-class('%s-topic')]"/><follow xpath="//a[has-class('%s-topic')]" level="thread"/></level>
<drop url="/%s/(reply|login)\.php|[?&amp;]%s_sort="/></application>`, kb.Namespace, name,
			name, name, word(), name, name, name, word(), name, name, name, name, name, name, name, name, word(), name, name, name)}
	}
	b, err := kb.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func somePage() []byte {
	var b strings.Builder
	b.WriteString(`<html><head><meta name="generator" content="Other 1.0"><title>Ravens</title></head><body class="main page-view"><ul class="menu">`)
	for i := range 56 {
		fmt.Fprintf(&b, `<li class="menu-item item-%d"><a href="/section/%d?page=2">Section %d of the site</a></li>`, i, i, i)
	}
	b.WriteString(`</ul><div class="content">`)
	for b.Len() < 34_000 {
		b.WriteString(`<div class="paragraph text-block"><p>The raven sits on the wall of the old tower, and says nothing of what it saw on the way from the hills.</p></div>`)
	}
	b.WriteString(`</div></body></html>`)
	return []byte(b.String())
}

// TestManyApplications: among three thousand applications the right one is found, and few marks are evaluated.
func TestManyApplications(t *testing.T) {
	b := synthetic(t, 3000)
	if n := len(b.Marks.Unbound()); n > 0 {
		t.Errorf("%d marks are asked for on every page", n)
	}
	app := b.Applications[1234]
	h := New(b, DefaultLimits())
	d := page.Parse(page.Input{URL: "http://a.test/x", MIME: "text/html", Body: []byte(`<body class="` + app.Name + `-page"><div class="` + app.Name + `-thread">x</div>`)}, page.DefaultLimits())
	if found := h.Apply(d, Input{}); found.Application != app.Name || found.Level != "thread" {
		t.Errorf("%q %q, want %q", found.Application, found.Level, app.Name)
	}
}

// BenchmarkApplications is the cost of a page of an unknown application, with 30 applications and with 3,000.
func BenchmarkApplications(b *testing.B) {
	body := somePage()
	for _, n := range []int{30, 3000} {
		h := New(synthetic(b, n), DefaultLimits())
		d := page.Parse(page.Input{URL: "http://a.test/x", MIME: "text/html", Body: body}, page.DefaultLimits())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				h.Apply(d, Input{})
			}
		})
	}
}

package kb

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestInheritance: a site adds rules to a version, a version to its application, an application to its category. More
// specific rules are tried first.
func TestInheritance(t *testing.T) {
	files := fstest.MapFS{
		"categories/forum.xml": {Data: []byte(`<category xmlns="` + Namespace + `" name="forum">
<level name="thread" terminal="true"><follow url="of-category" level="thread"/></level><level name="login"><match url="/login"/></level>
<level name="search"/><drop url="of-category"/></category>`)},
		"applications/raven.xml": {Data: []byte(`<application xmlns="` + Namespace + `" name="Raven" category="forum">
<detect text="raven"/>
<level name="search"><match url="/search"/></level>
<level name="thread"><match url="/t/"/><object type="post" each="//div"><property name="body" xpath="."/></object></level>
<drop url="of-application"/>
<version name="1"><detect text="raven 1"/><level name="thread"><object type="post" each="//p"><property name="body" xpath="."/></object></level><drop url="of-version-1"/></version>
<version name="2"><detect text="raven 2"/><level name="front"><match url="/$"/></level><drop url="of-version-2"/></version>
</application>`)},
		"sites/a.xml": {Data: []byte(`<site xmlns="` + Namespace + `" application="Raven" hosts="a.test b.test" version="2">
<level name="thread"><object type="post" each="//li"><property name="body" xpath="."/></object></level><drop url="of-site"/></site>`)},
	}
	base, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	raven := base.Application("Raven")
	tests := []struct{ version, host, levels, objects, drops string }{
		{"", "x.test", "search thread front login", "//div //p", "application version-1 version-2 category"},
		{"1", "x.test", "search thread front login", "//p //div", "version-1 application version-2 category"},
		{"2", "x.test", "search thread front login", "//div //p", "version-2 application version-1 category"},
		{"1", "b.test", "search thread front login", "//li //div //p", "site version-2 application version-1 category"},
	}
	for _, test := range tests {
		p := base.Profile(raven, test.version, test.host)
		var levels, objects, drops []string
		for _, l := range p.Levels {
			levels = append(levels, l.Name)
		}
		thread := p.Level("thread")
		if !thread.Terminal || len(thread.Follow) != 1 {
			t.Errorf("the thread does not inherit from the category: %+v", thread)
		}
		for _, o := range thread.Objects {
			objects = append(objects, o.Each.String())
		}
		for _, c := range p.Drop {
			drops = append(drops, strings.TrimPrefix(c.URL.String(), "of-"))
		}
		for _, x := range [][2]string{{strings.Join(levels, " "), test.levels}, {strings.Join(objects, " "), test.objects}, {strings.Join(drops, " "), test.drops}} {
			if x[0] != x[1] {
				t.Errorf("version %q on %s: %q, want %q", test.version, test.host, x[0], x[1])
			}
		}
	}
	if len(base.Unreachable()) > 0 {
		t.Error(base.Unreachable())
	}
}

func TestUnreachable(t *testing.T) {
	base, err := Load(fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven"/>
<detect text="raven"/>
<level name="post"><match url="/p/"/><object type="post" each="//p"><property name="body" xpath="."/>
<property name="body" xpath="."/></object></level>
<level name="article"><match url="/a/"/>
<match url="/p/"/></level>
<drop url="x"/>
<drop url="x"/>`))}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(base.Unreachable(), "\n")
	for _, line := range []string{"a.xml:3: can never speak: a.xml:2", "a.xml:5:", "a.xml:7:", "a.xml:9:"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not reported; got\n%s", line, got)
		}
	}
}

// TestMarks: only marks whose words occur in a page are evaluated.
func TestMarks(t *testing.T) {
	base, err := Load(fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven-script"/>
<detect generator="raven"/><detect header="X-Raven: hugin"/><detect cookie="ravensession"/>
<detect url="^https?://[^/]+/raven/[0-9]+"/><detect xpath="//div[@id='raven-main' and contains(@class, 'ra')]"/><detect url="^[a-z]"/><detect xpath="//div[@id='rav']"/>`))}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(base.Marks.Unbound()); n != 1 || base.Marks.Len() != 8 { // an id that is not there costs nothing
		t.Fatalf("%d of %d marks are unbound, want 1 of 8", n, base.Marks.Len())
	}
	for _, test := range []struct {
		where int
		text  string
		want  int // marks, with the two that are always asked for
	}{{InPage, "nothing", 2}, {InPage, "… raven-script …", 3}, {InPage, `<div id="raven-main">`, 3}, {InGenerator, "raven 2.0", 3}, {InHead, "x-raven: hugin", 3}, {InHead, "set-cookie: ravensession=1", 3}, {InURL, "http://a.test/raven/7", 3}} {
		var seen Seen
		base.Marks.Look(test.where, []byte(test.text), &seen)
		n := 0
		base.Marks.Candidates(&seen, func(Mark) bool { n++; return true })
		if n != test.want {
			t.Errorf("%q: %d marks, want %d", test.text, n, test.want)
		}
	}
}

package kb

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestShipped(t *testing.T) {
	base, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i, a := range base.Applications {
		names[a.Name] = true
		if len(a.Examples) == 0 {
			t.Errorf("%s has no example", a.Name)
		}
		if a.Category == "generic" && i != len(base.Applications)-1 {
			t.Errorf("%s is asked before others", a.Name)
		}
		terminal := false
		for _, l := range base.Profile(a, "", "").Levels {
			terminal = terminal || l.Terminal && len(l.Objects) > 0
		}
		if !terminal {
			t.Errorf("%s has no terminal level with objects", a.Name)
		}
	}
	for _, name := range []string{"WordPress", "MediaWiki", "phpBB", "generic"} {
		if !names[name] {
			t.Errorf("%s is not in the base", name)
		}
	}
}

// file wraps the inside of an application; its first line is line 2.
func app(inside string) string {
	return `<application xmlns="` + Namespace + `" name="Raven" category="blog">` + "\n" + inside + "\n</application>"
}

const level = `<level name="post" terminal="true"><match url="/post/"/></level>` + "\n"

func TestGoodFiles(t *testing.T) {
	for name, text := range map[string]string{
		"least":            app(`<detect text="raven"/>`),
		"scripts":          strings.Replace(app(`<detect text="raven"/>`), "category", `scripts="true" category`, 1),
		"generic":          strings.Replace(app(level), "blog", "generic", 1),
		"declaration, BOM": "\ufeff<?xml version='1.0' encoding='UTF-8'?>\n<!-- c -->" + app(`<detect text="raven"/>`) + "<!-- end -->\n",
		"all": app(`<detect generator="Raven"/><detect xpath="//body[count(.//a) &gt; 3]"/>` + level +
			`<level name="list" terminal="0"><match xpath="//ul | //ol"/><object type="item" each="(//li)[1]"><property name="title" xpath="@id"/><property name="published" xpath=".//time/@datetime" as="dateTime"/></object><follow url="p=" level="post" priority="1"/></level>` +
			`<follow xpath="//a[@rel='next']" level="list" priority="0.1"/><drop xpath="//a[@class='x']"/><drop url="login"/>`),
	} {
		if _, err := parse("raven.xml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	const detect = `<detect text="raven"/>` + "\n"
	tests := []struct{ name, text, want string }{
		{"nothing", "", "raven.xml:1: holds no element"},
		{"broken XML", app("<detect text='raven'>"), "raven.xml:3: element <detect> closed by </application>"},
		{"ends early", `<application xmlns="` + Namespace + `" name="a" category="blog">` + "\n", "raven.xml:2: unexpected EOF"},
		{"unknown entity", app("&raven;"), "raven.xml:2: invalid character entity"},
		{"two roots", app(detect) + "\n" + app(detect), "comes after the end"},
		{"text behind", app(detect) + " raven", "text \"raven\" is where only elements are allowed"},
		{"text inside", app(detect + "raven"), "text \"raven\" is where only elements are allowed"},
		{"wrong namespace", strings.Replace(app(detect), "/kb/1", "/kb/9", 1), "raven.xml:1: element application is not in the namespace"},
		{"no namespace", `<application name="a" category="blog"/>`, "is not in the namespace"},
		{"wrong root", strings.ReplaceAll(app(detect), "application", "app"), "must hold one element application, category or site, not app"},
		{"unknown element", app(detect + "<detekt/>"), "raven.xml:3: element detekt is not known in application; known: detect, level, follow, drop, normalize, version, example"},
		{"unknown in level", app(detect + `<level name="post"><match url="a"/><detect url="a"/></level>`), "element detect is not known in level"},
		{"unknown in object", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><prop/></object></level>`), "element prop is not known in object"},
		{"element in detect", app(`<detect text="a"><detect text="b"/></detect>`), "is not known in detect, which holds no elements"},
		{"element in property", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="title" xpath="."><b/></property></object></level>`), "is not known in property"},
		{"unknown attribute", app(`<detect text="a" case="no"/>`), "raven.xml:2: element detect has unknown attribute case"},
		{"missing name", `<application xmlns="` + Namespace + `" category="blog">` + detect + `</application>`, "lacks attribute name"},
		{"missing each", app(detect + `<level name="post"><match url="a"/><object type="post"><property name="title" xpath="."/></object></level>`), "element object lacks attribute each"},
		{"unknown category", strings.Replace(app(detect), "blog", "zoo", 1), `category "zoo" is not known`},
		{"no detect", app(level), "no detect element"},
		{"empty test", app(`<detect/>`), "says nothing: it must have one at least of url, xpath"},
		{"marks that never suffice", app(`<detect text="raven" confidence="0.2"/><detect text="crow" confidence="0.2"/>`), "would never be recognised: all its marks together have confidence 0.36"},
		{"normalize to a group that is not there", app(detect + `<normalize url="/x/(.*)" to="/y/$2"/>`), "names group 2, but url has 1"},
		{"site of a URL", `<site xmlns="` + Namespace + `" application="Raven" hosts="http://a.test/"/>`, "is not a host name"},
		{"confidence alone", app(`<detect confidence="1"/>`), "says nothing"},
		{"confidence too high", app(`<detect text="raven" confidence="1.5"/>`), "confidence \"1.5\" must be a number above 0 and at most 1"},
		{"empty text", app(`<detect text=""/>`), "attribute text of element detect is empty"},
		{"empty url", app(`<detect url=" "/>`), "attribute url of element detect is empty"},
		{"empty xpath", app(`<detect xpath=""/>`), "xpath"},
		{"drop by text", app(detect + `<drop text="a"/>`), "element drop has unknown attribute text"},
		{"level that is not known", app(detect + `<level name="zoo"><match url="a"/></level>`), "level \"zoo\" is not known"},
		{"object that is not known", app(detect + `<level name="post"><match url="a"/><object type="zoo" each="//a"><property name="title" xpath="."/></object></level>`), "object type \"zoo\" is not known"},
		{"property that is not known", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="zoo" xpath="."/></object></level>`), "property \"zoo\" is not known"},
		{"append-match without group", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="title" xpath="." append="@id" append-match="x"/></object></level>`), "append-match has no group"},
		{"between without append", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="title" xpath="." between="#"/></object></level>`), "attribute append is missing"},
		{"own without xpath", app(`<detect text="raven" own="true"/>`), "it is about what xpath selects"},
		{"own alone", app(`<detect own="true"/>`), "says nothing: it must have one at least of url, xpath, generator, text, header, cookie"},
		{"match without group", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="title" xpath="." match="x"/></object></level>`), "has no group"},
		{"version twice", app(detect + `<version name="1"/><version name="1"/>`), "version \"1\" is there twice"},
		{"example of no version", app(detect + `<example url="http://a.test/" version="9"><page>x</page></example>`), "version \"9\" is not known"},
		{"example without page", app(detect + `<example url="http://a.test/"/>`), "lacks an element page"},
		{"has with two", app(detect + `<example url="http://a.test/"><page>x</page><has link="a" dropped="b"/></example>`), "exactly one of object, link and dropped"},
		{"normalize with both", app(detect + `<normalize parameter="a" url="b"/>`), "must have parameter"},
		{"category with marks", `<category xmlns="` + Namespace + `" name="blog">` + detect + `</category>`, "never recognised"},
		{"site without hosts", `<site xmlns="` + Namespace + `" application="Raven"/>`, "lacks attribute hosts"},
		{"level twice", app(detect + level + level), `level "post" is there twice`},
		{"terminal", app(detect + `<level name="post" terminal="yes"><match url="a"/></level>`), `terminal is "yes"`},
		{"scripts", strings.Replace(app(detect), "category", `scripts="yes" category`, 1), `scripts is "yes"`},
		{"unknown level of a link", app(detect + `<follow url="a" level="b"/>`), `level "b" is not known`},
		{"follow without", app(detect + `<follow priority="0.5"/>`), "url or xpath, or both"},
		{"priority too high", app(detect + `<follow url="a" priority="2"/>`), "above 0 and at most 1"},
		{"priority zero", app(detect + `<follow url="a" priority="0"/>`), "above 0 and at most 1"},
		{"priority NaN", app(detect + `<follow url="a" priority="NaN"/>`), "above 0 and at most 1"},
		{"broken regexp", app(`<detect url="a("/>`), "raven.xml:2: attribute url is not a regular expression"},
		{"broken XPath", app(`<detect xpath="//a["/>`), "raven.xml:2: attribute xpath is not an XPath expression"},
		{"unknown function", app(`<detect xpath="//a[raven()]"/>`), "is not an XPath expression"},
		{"unknown as", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"><property name="title" xpath="." as="zoo"/></object></level>`), "known: dateTime, url, number"},
		{"object without property", app(detect + `<level name="post"><match url="a"/><object type="post" each="//a"/></level>`), "has no property"},
		{"too large", app(strings.Repeat(" ", MaxFile)), "is larger than"},
	}
	for _, expr := range []string{"count(//a)", "count(//a) > 3", "(count(//a))", "1", "'a'", "string(//a)", "not(//a)", "//a or //b", "//a and //b", "//a = 'x'", "1 + 1", "concat('a', 'b')", "boolean(//a)", "position()", "true()", "-1"} {
		tests = append(tests, struct{ name, text, want string }{"XPath " + expr, app(`<detect xpath="` + strings.ReplaceAll(expr, ">", "&gt;") + `"/>`), "raven.xml:2: attribute xpath"})
	}
	for _, test := range tests {
		_, err := parse("raven.xml", []byte(test.text))
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "raven.xml:") {
			t.Errorf("%s: %v\nwant %q", test.name, err, test.want)
		}
	}
}

// TestReadmeExample: the example of the README is a good file.
func TestReadmeExample(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(raw), "```xml\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("README.md holds no example")
	}
	if _, err := parse("example.xml", []byte(strings.TrimSpace(example))); err != nil {
		t.Error(err)
	}
}

func TestLoad(t *testing.T) {
	one := &fstest.MapFile{Data: []byte(app(`<detect text="a"/>`))}
	bad := &fstest.MapFile{Data: []byte(app(`<detect/>`))}
	tests := []struct {
		name  string
		files fs.FS
		want  []string
	}{
		{"empty folder", fstest.MapFS{}, []string{"has no .xml file"}},
		{"no XML", fstest.MapFS{"README.md": one}, []string{"has no .xml file"}},
		{"one name twice", fstest.MapFS{"a.xml": one, "b.xml": one}, []string{`b.xml:1: application "Raven" is in a.xml already`}},
		{"a link to a level that is not there", fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven"/>` + "\n" + `<follow url="a" level="thread"/>`))}}, []string{`a.xml:3: leads to level "thread", which neither`}},
		{"a level that no page has", fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven"/><level name="post"/>`))}}, []string{`a.xml:2: level "post" has no match element`}},
		{"a site of nothing", fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven"/>`))}, "s.xml": {Data: []byte(`<site xmlns="` + Namespace + `" application="Crow" hosts="a.test"/>`)}}, []string{`s.xml:1: application "Crow" is not in the base`}},
		{"a site of no version", fstest.MapFS{"a.xml": {Data: []byte(app(`<detect text="raven"/>`))}, "s.xml": {Data: []byte(`<site xmlns="` + Namespace + `" application="Raven" hosts="a.test" version="3"/>`)}}, []string{`application "Raven" has no version "3"`}},

		{"all faults at once", fstest.MapFS{"a.xml": bad, "b.xml": bad, "c.xml": one}, []string{"a.xml:2:", "b.xml:2:"}},
		{"a folder with the name of a file", fstest.MapFS{"a.xml/b": one}, []string{"has no .xml file"}},
	}
	for _, test := range tests {
		_, err := Load(test.files)
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", test.name, err, want)
			}
		}
	}
}

// FuzzParse: no file makes the loader panic, and a file that is accepted is loaded completely.
func FuzzParse(f *testing.F) {
	names, err := fs.Glob(shipped, "applications/*.xml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		raw, err := shipped.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(app(`<detect xpath="//a[position() &lt; last()]"/>` + level)))
	f.Add([]byte(app(`<detect xpath="reverse(//a)"/><detect xpath="//a[matches(., '(')]"/>`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := parse("f.xml", raw)
		if err != nil {
			if faults := (Faults)(nil); !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		app := parsed.application
		if app == nil {
			return
		}
		marks := len(app.Detect)
		for _, v := range app.Versions {
			marks += len(v.Detect)
		}
		if app.Name == "" || marks == 0 && app.Category != "generic" {
			t.Fatalf("%+v", app)
		}
		for _, l := range app.Levels {
			for _, o := range l.Objects {
				if o.Each == nil || len(o.Properties) == 0 {
					t.Fatalf("%+v", o)
				}
			}
		}
		for _, c := range append(app.Detect, app.Drop...) {
			if c.URL == nil && c.XPath == nil && c.text() == "\x00\x00\x00\x00" {
				t.Fatalf("%s: an empty condition", c.Rule)
			}
		}
	})
}

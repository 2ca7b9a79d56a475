package adapt

import (
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/kb"
)

// TestLeaveOutShipped: the text of a rule made by the form of a page leaves out what the shipped rules of its type leave out, unless it says itself what
// is left out; other properties, and rules of other types, stay as they are.
func TestLeaveOutShipped(t *testing.T) {
	base, err := kb.Load(fstest.MapFS{"raven.xml": {Data: []byte(`<application xmlns="` + kb.Namespace + `" name="Raven" category="wiki"><detect text="raven-board"/>
<level name="article" terminal="true"><match url="/a/"/><object type="article" each="//body"><property name="title" xpath=".//h1" without=".//i"/><property name="body" xpath=".//article" without=".//nav"/></object></level></application>`)}})
	if err != nil {
		t.Fatal(err)
	}
	a := &adaptation{State: &State{}}
	a.Level = base.Applications[0].Levels[0]
	for _, c := range []struct{ kind, name, without, want string }{
		{"article", "body", "", ".//nav"}, {"article", "body", ".//aside", ".//aside"}, {"article", "title", "", ""}, {"post", "body", "", ""},
	} {
		l := Rule{Type: c.kind, Properties: []PropertyRule{{Name: c.name, Without: c.without}}}
		if a.leaveOutShipped(&l); l.Properties[0].Without != c.want {
			t.Errorf("%+v: %q is left out", c, l.Properties[0].Without)
		}
	}
}

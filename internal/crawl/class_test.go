package crawl

import "testing"

// TestClassOf: the class of a URL is by the last letter of its hop path, redirects not counted.
func TestClassOf(t *testing.T) {
	for path, want := range map[string]Class{
		"": ClassPage, "S": ClassPage, "SLR": ClassPage, "SLE": ClassRequisite, "SLERR": ClassRequisite, "SLX": ClassSpeculative, "12+LXR": ClassSpeculative, "SEL": ClassPage,
	} {
		if got := ClassOf(path); got != want {
			t.Errorf("%q: %d", path, got)
		}
		o := PageOutcome{}
		if o.SetClass(want); o.Class() != want {
			t.Errorf("%q: %+v", path, o)
		}
	}
}

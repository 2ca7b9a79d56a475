package extract

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReadJSON: the faults that hand-made templates have do not hide what a page says of itself.
func TestReadJSON(t *testing.T) {
	for script, want := range map[string]string{
		`{"a": "b"}`:                                          `[{"a":"b"}]`,
		"{\"a\": \"two\nlines\tand a tab\"}":                  `[{"a":"two lines and a tab"}]`,
		`{"a": "b",}`:                                         `[{"a":"b"}]`,
		`{"a": ["b", "c", ],, "d": 1}`:                        `[{"a":["b","c"],"d":1}]`,
		`<!-- {"a": "b"} -->`:                                 `[{"a":"b"}]`,
		"//<![CDATA[\n{\"a\": \"b\"}\n//]]>":                  `[{"a":"b"}]`,
		"/*<![CDATA[*/{\"a\": \"b\"}/*]]>*/":                  `[{"a":"b"}]`,
		`{"a": "b"};`:                                         `[{"a":"b"}]`,
		`{"a": "b"} {"c": "d"}`:                               `[{"a":"b"},{"c":"d"}]`,
		`{"a": "the \'raven\' C:\x"}`:                         `[{"a":"the 'raven' C:x"}]`,
		`{"a": "the "raven", and more", "c": 1}`:              `[{"a":"the \"raven\", and more","c":1}]`,
		`{&quot;a&quot;: &quot;b&quot;}`:                      `[{"a":"b"}]`,
		"{\"a\": \"b\", // what follows\n\"c\": 1 /* one */}": `[{"a":"b","c":1}]`,
		"\ufeff{\"a\": \"http://b/\",}":                       `[{"a":"http://b/"}]`,
		`{"a": "b", "c": {"d"`:                                `null`,
		`no JSON`:                                             `null`,
	} {
		got, err := json.Marshal(readJSON(script))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

func FuzzRepaired(f *testing.F) {
	for _, s := range []string{`{"a": "b",}`, "<!-- {} -->", `{"a": "the "raven"", "b": /* c */ 1,,}`, `{"a\`, "{\"a\": \"\x00\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if out := repaired(s); len(out) > 2*len(s) && !strings.Contains(s, "&") {
			t.Errorf("%d bytes of %d", len(out), len(s))
		}
	})
}

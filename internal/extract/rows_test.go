package extract

import "testing"

// TestWithoutTags: what is no tag, because it has no end, stays once.
func TestWithoutTags(t *testing.T) {
	for text, want := range map[string]string{"<p>a  b</p>": "a b", "<p>a b <c": "a b <c", "a <b> c": "a <b> c", "<": "<", "<p>": ""} {
		if got := withoutTags(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

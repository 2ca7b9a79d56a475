package dates

import "testing"

func TestIsWeekday(t *testing.T) {
	for word, want := range map[string]bool{"Friday": true, "samstag": true, "sáb": true, "понедельник": true, "may": false, "raven": false, "": false} {
		if IsWeekday(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

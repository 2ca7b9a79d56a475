package crawl

import (
	"strings"
	"testing"
	"time"
)

// A definition without any pause gives a warning, in each way of writing.
func TestWarnings(t *testing.T) {
	second := Duration(time.Second)
	for _, c := range []struct {
		minimum, maximum Duration
		factor           float64
		warns            bool
	}{
		{0, 0, 0, true}, {0, 0, 2, true}, {0, second, 0, true}, {0, second, 2, false}, {second, second, 0, false}, {second, second, 2, false},
	} {
		d := DefaultDefinition()
		d.Politeness.MinDelay, d.Politeness.MaxDelay, d.Politeness.Factor = c.minimum, c.maximum, c.factor
		if got := d.Warnings(); (len(got) > 0) != c.warns || c.warns && !strings.HasPrefix(got.Error(), "politeness leaves no pause") {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := DefaultDefinition().Warnings(); len(got) > 0 {
		t.Errorf("the defaults: %v", got)
	}
}

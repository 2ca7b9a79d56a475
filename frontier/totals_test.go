package frontier

import (
	"reflect"
	"testing"
)

// TestTotals: a sum has each number of what was added, and a difference, too: also of a field that is added later.
func TestTotals(t *testing.T) {
	var a Totals
	of := reflect.ValueOf(&a).Elem()
	for i := range of.NumField() {
		of.Field(i).SetInt(int64(i) + 1)
	}
	sum := a
	sum.Add(a)
	for i := range of.NumField() {
		if got := reflect.ValueOf(sum).Field(i).Int(); got != 2*(int64(i)+1) {
			t.Errorf("the sum has %d of %s", got, of.Type().Field(i).Name)
		}
	}
	sum.Subtract(a)
	sum.Subtract(a)
	if sum != (Totals{}) {
		t.Errorf("without what was added it has %+v", sum)
	}
}

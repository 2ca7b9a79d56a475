package frontier

import (
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
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

// TestTotalsOfIcons: that a host has no icon is an answer, which is archived as other requisites are: it is no error, and no requisite is missing because of it. Another
// requisite that is not there is an error, and so is an icon that is not answered for another reason.
func TestTotalsOfIcons(t *testing.T) {
	count := func(url string, status int, kind crawl.OutcomeKind, class crawl.Class) Totals {
		sum := Totals{Requisites: 1}
		sum.Count(crawl.Outcome{URL: url, Kind: kind, Status: status}, class)
		return sum
	}
	for _, status := range []int{404, 410} {
		if sum := count("http://a.example:81/favicon.ico", status, crawl.OutcomeDone, crawl.ClassRequisite); sum.Errors != 0 || sum.RequisiteShare() != 1 {
			t.Errorf("%d: %+v", status, sum)
		}
	}
	for _, c := range []struct {
		url    string
		status int
		kind   crawl.OutcomeKind
		class  crawl.Class
	}{
		{"http://a.example/favicon.ico", 403, crawl.OutcomeDone, crawl.ClassRequisite}, {"http://a.example/favicon.ico", 0, crawl.OutcomeFailed, crawl.ClassRequisite},
		{"http://a.example/favicon.ico", 404, crawl.OutcomeDone, crawl.ClassPage}, {"http://a.example/b/favicon.ico", 404, crawl.OutcomeDone, crawl.ClassRequisite},
	} {
		if sum := count(c.url, c.status, c.kind, c.class); sum.Errors != 1 {
			t.Errorf("%+v: %+v", c, sum)
		}
	}
}

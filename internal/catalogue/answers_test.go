package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// answered is an index of answers of one name, an address a second.
type answered int

func (a answered) ReadAnswers(_ context.Context, _ catalogue.AnswerQuery, after catalogue.AnswerPosition, n int) (page []catalogue.Answer, err error) {
	next := int(max(after.Time+1, 0))
	for i := next; i < min(next+n, int(a)); i++ {
		page = append(page, catalogue.Answer{Name: "a.example", Address: netip.MustParseAddr("192.0.2.1"), Date: time.Unix(int64(i), 0)})
	}
	return page, nil
}

// TestAnswerBounds: answers that do not fit, or that are not admitted, count for the bound of a query in a row, and not for its limit.
func TestAnswerBounds(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	from := func(seconds int64) func(*catalogue.Answer) bool {
		return func(a *catalogue.Answer) bool { return a.Date.Unix() >= seconds }
	}
	for i, c := range []struct {
		q    catalogue.AnswerQuery
		want int
		err  error
	}{
		{catalogue.AnswerQuery{}, 2000, nil},
		{catalogue.AnswerQuery{Admits: from(1500)}, 500, nil},
		{catalogue.AnswerQuery{Admits: from(1500), Limit: 10}, 10, nil},
		{catalogue.AnswerQuery{Admits: from(1500), MaxScan: 1501}, 500, nil},
		{catalogue.AnswerQuery{Admits: from(1500), MaxScan: 1500}, 0, catalogue.ErrScan},
		{catalogue.AnswerQuery{From: at(1500), MaxScan: 1500}, 0, catalogue.ErrScan},
		{catalogue.AnswerQuery{To: at(9), MaxScan: 100}, 10, catalogue.ErrScan},
		{catalogue.AnswerQuery{Admits: func(a *catalogue.Answer) bool { return a.Date.Unix()%100 == 0 }, MaxScan: 100}, 20, nil},
	} {
		n := 0
		err := catalogue.ScanAnswers(t.Context(), answered(2000), c.q, func(catalogue.Answer) error { n++; return nil })
		if n != c.want || fmt.Sprint(err) != fmt.Sprint(c.err) {
			t.Errorf("%d: %d answers, %v, want %d, %v", i, n, err, c.want, c.err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := catalogue.ScanAnswers(ctx, answered(10), catalogue.AnswerQuery{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

package catalogue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// endless is an index of one URL with more captures than anybody reads.
type endless struct{ pages int }

func (x *endless) Shards(Span) []int { return []int{0} }

func (x *endless) Page(_ context.Context, _ int, w Window, n int) (page []Row, next Position, more bool, err error) {
	x.pages++
	for i := range n {
		e := entry
		e.Key, e.Date = w.From, entry.Date.Add(time.Duration(x.pages*fullPage+i)*time.Second)
		page = append(page, Row{Entry: e})
	}
	return page, page[n-1].Position(), true, nil
}

// TestScanEnds: a scan whose captures do not fit ends when nobody waits, with the next capture, and when its time is over.
func TestScanEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	none := Filter{fits: func(string) bool { looked++; cancel(); return false }}
	if err := Scan(ctx, &endless{}, Query{URL: "http://a.example/", MaxScan: 100, Filters: []Filter{none}}, nil); !errors.Is(err, context.Canceled) || looked != 1 {
		t.Errorf("nobody waits: %v after %d captures", err, looked)
	}
	none.fits = func(string) bool { time.Sleep(2 * time.Millisecond); return false }
	x := &endless{}
	if err := Scan(t.Context(), x, Query{URL: "http://a.example/", MaxScan: 5 * fullPage, MaxTime: 20 * time.Millisecond, Filters: []Filter{none}}, nil); !errors.Is(err, ErrScan) || x.pages > 1 {
		t.Errorf("a filter that takes long: %v after %d pages", err, x.pages)
	}
}

// TestScanWaits: the time that the receiver of captures takes is not that of the scan.
func TestScanWaits(t *testing.T) {
	t.Parallel()
	n := 0
	err := Scan(t.Context(), &endless{}, Query{URL: "http://a.example/", MaxTime: 2 * time.Second, Limit: 3}, func(Entry) error {
		n++
		time.Sleep(time.Second)
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d captures, %v", n, err)
	}
}

// TestFiltersTogether: the regular expressions of a query are bounded together, by themselves and with those that other filters have.
func TestFiltersTogether(t *testing.T) {
	t.Parallel()
	filters := func(texts ...string) (q Query, err error) {
		q.URL = "http://a.example/"
		for _, text := range texts {
			f, err := ParseFilter(text)
			if err != nil {
				return q, err
			}
			q.Filters = append(q.Filters, f)
		}
		return q, q.check()
	}
	many := "~url:" + strings.Repeat("a", 200)
	for _, c := range []struct {
		texts []string
		fine  bool
	}{
		{[]string{many, many}, true}, {[]string{many, many, many}, false}, {[]string{"!~url:.*(?:a.?){600}Z"}, false},
		{[]string{"~url:.*\\.php$", "!~mime:image/.*", "~timestamp:2026", many, "url:" + strings.Repeat("a", 900)}, true},
	} {
		_, err := filters(c.texts...)
		var wrong *QueryError
		if (err == nil) != c.fine || err != nil && (!errors.As(err, &wrong) || wrong.Field != "filter") {
			t.Errorf("%.60q: %v", c.texts, err)
		}
	}
}

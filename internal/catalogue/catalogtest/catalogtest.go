package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// Run runs the suite; open gives an empty catalogue each time, which is closed with the test.
func Run(t *testing.T, open func(t *testing.T) catalogue.Catalogue) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, catalogue.Catalogue)
	}{
		{"Fields", fields},
		{"AddTwice", addTwice},
		{"AddNothing", addNothing},
		{"MatchTypes", matchTypes},
		{"Model", model},
		{"Pages", pages},
		{"ClosestOfMany", closestOfMany},
		{"ByDigest", byDigest},
		{"LongURLs", longURLs},
		{"HostileTexts", hostileTexts},
		{"WrongQueries", wrongQueries},
		{"Ends", ends},
		{"MaxScan", maxScan},
		{"Answers", answers},
		{"AtOnce", atOnce},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// at is a capture of a URL, so many seconds after the epoch.
func at(url string, after int) catalogue.Entry {
	return catalogue.Entry{Indexed: archive.Indexed{
		URL: url, Date: epoch.Add(time.Duration(after) * time.Second), Status: 200, Digest: "sha1:" + strings.ToUpper(fmt.Sprintf("%032x", after)), MIME: "text/html",
		Length: 100, Offset: int64(1000 + after), Score: -1,
	}}
}

func named(crawl, name string) catalogue.SegmentName {
	return catalogue.SegmentName{Crawl: archive.CrawlAt{Prefix: "p", Name: crawl}, Name: name}
}

// segmentOf is a segment with captures.
func segmentOf(name string, entries ...catalogue.Entry) catalogue.Segment {
	n := named("ravens", name)
	return catalogue.Segment{SegmentName: n, Run: 2, WARC: "p/ravens/data/" + name + "-0011223344556677.warc.gz", Entries: entries}
}

func add(t testing.TB, c catalogue.Catalogue, segments ...catalogue.Segment) {
	t.Helper()
	if err := c.AddSegments(t.Context(), segments...); err != nil {
		t.Fatal(err)
	}
}

// query is the answer to a query.
func query(t testing.TB, c catalogue.Catalogue, q catalogue.Query) (list []catalogue.Entry) {
	t.Helper()
	err := c.Query(t.Context(), q, func(e catalogue.Entry) error {
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return list
}

// short are captures as "URL+seconds after the epoch".
func short(list []catalogue.Entry) (out []string) {
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s+%d", e.URL, int(e.Date.Sub(epoch).Seconds())))
	}
	return out
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// fields: every field of a capture comes back as it was added, with the names of its segment.
func fields(t *testing.T, c catalogue.Catalogue) {
	first := at("https://a.example/Path?b=2&a=1", 0)
	first.Score, first.Application, first.Title, first.Language = 0.1234, "wordpress", "Ä title", "de"
	again := at("https://a.example/Path?b=2&a=1", 60)
	again.Revisit, again.MIME, again.Status, again.Digest = true, "warc/revisit", 0, first.Digest
	again.Original = catalogue.Original{URL: "https://a.example/other", Date: epoch.Add(-time.Hour)}
	odd := at("http://b.example/", 5)
	odd.Date = odd.Date.Add(300 * time.Millisecond).In(time.FixedZone("east", 3600))
	s := segmentOf("a.example-1@w.1", again, first, odd)
	add(t, c, s)
	for i, want := range []catalogue.Entry{first, again} {
		want.Key, want.Crawl, want.Run, want.Segment, want.WARC = "example,a)/path?a=1&b=2", s.Crawl, 2, s.Name, s.WARC
		got := query(t, c, catalogue.Query{URL: "https://a.example/Path?a=1&b=2"})
		if len(got) != 2 || got[i] != want {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	if got := query(t, c, catalogue.Query{URL: "b.example"}); len(got) != 1 || !got[0].Date.Equal(epoch.Add(5*time.Second)) || got[0].Date.Location() != time.UTC {
		t.Errorf("the date is %v", got)
	}
	there, err := c.Segment(t.Context(), s.SegmentName)
	if s.Entries = nil; err != nil || there.SegmentName != s.SegmentName || there.Run != s.Run || there.WARC != s.WARC {
		t.Errorf("segment %+v, %v", there, err)
	}
}

// addTwice: a segment is added once; what is added under its name later changes nothing.
func addTwice(t *testing.T, c catalogue.Catalogue) {
	s := segmentOf("s1", at("http://a.example/", 0))
	other := segmentOf("s1", at("http://a.example/other", 1))
	if has, err := c.HasSegment(t.Context(), s.SegmentName); has || err != nil {
		t.Errorf("before: %v, %v", has, err)
	}
	if _, err := c.Segment(t.Context(), s.SegmentName); !errors.Is(err, catalogue.ErrNoSegment) {
		t.Errorf("before: %v", err)
	}
	add(t, c, s, s)
	add(t, c, other, s)
	if has, err := c.HasSegment(t.Context(), s.SegmentName); !has || err != nil {
		t.Errorf("after: %v, %v", has, err)
	}
	elsewhere := s
	elsewhere.Crawl.Name = "crows"
	add(t, c, elsewhere)
	got := query(t, c, catalogue.Query{Match: catalogue.Range})
	same(t, "all", short(got), []string{"http://a.example/+0", "http://a.example/+0"})
	if len(got) == 2 && got[0].Crawl == got[1].Crawl {
		t.Errorf("both are of %v", got[0].Crawl)
	}
}

// addNothing: a segment without a response is there, and its answers.
func addNothing(t *testing.T, c catalogue.Catalogue) {
	add(t, c)
	s := segmentOf("empty")
	s.WARC = ""
	add(t, c, s)
	if has, err := c.HasSegment(t.Context(), s.SegmentName); !has || err != nil {
		t.Errorf("%v, %v", has, err)
	}
	if got := query(t, c, catalogue.Query{Match: catalogue.Range}); got != nil {
		t.Errorf("%+v", got)
	}
	bad := segmentOf("bad", at("http://a.example/", 0), at("mailto:x", 0))
	if err := c.AddSegments(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "mailto:x") {
		t.Errorf("a URL without a key: %v", err)
	}
	if got := query(t, c, catalogue.Query{Match: catalogue.Range}); got != nil {
		t.Errorf("after an error: %+v", got)
	}
}

// byDigest: captures with a digest, over all hosts.
func byDigest(t *testing.T, c catalogue.Catalogue) {
	var entries []catalogue.Entry
	var want []string
	for i := range 60 {
		e := at(fmt.Sprintf("http://h%02d.example/", i), i)
		if i%3 == 0 {
			e.Digest = "sha1:SAME"
			want = append(want, short([]catalogue.Entry{e})...)
		}
		entries = append(entries, e)
	}
	add(t, c, segmentOf("s", entries...))
	same(t, "all", short(query(t, c, catalogue.Query{Digest: "sha1:SAME"})), want)
	back := slices.Clone(want)
	slices.Reverse(back)
	same(t, "in reverse", short(query(t, c, catalogue.Query{Digest: "sha1:SAME", Sort: catalogue.Reverse, Limit: 5})), back[:5])
	same(t, "of a host", short(query(t, c, catalogue.Query{Digest: "sha1:SAME", URL: "h06.example", Match: catalogue.Host})), want[2:3])
	same(t, "of a URL", short(query(t, c, catalogue.Query{Digest: "sha1:SAME", URL: "h06.example"})), want[2:3])
	same(t, "another", short(query(t, c, catalogue.Query{Digest: "sha1:OTHER"})), nil)
	last := query(t, c, catalogue.Query{Digest: "sha1:SAME", Limit: 7})[6]
	same(t, "next page", short(query(t, c, catalogue.Query{Digest: "sha1:SAME", After: last.Cursor()})), want[7:])
}

// closestOfMany: the nearest captures of a URL that has many, without reading all.
func closestOfMany(t *testing.T, c catalogue.Catalogue) {
	var entries []catalogue.Entry
	for i := range 3000 {
		entries = append(entries, at("http://a.example/robots.txt", i*10))
	}
	add(t, c, segmentOf("s", entries...), segmentOf("other", at("http://a.example/", 15004)))
	q := catalogue.Query{URL: "a.example/robots.txt", Sort: catalogue.Closest, Closest: epoch.Add(15005 * time.Second), Limit: 3, MaxScan: 10}
	const url = "http://a.example/robots.txt"
	same(t, "closest", short(query(t, c, q)), []string{url + "+15000", url + "+15010", url + "+14990"})
	q.Closest = epoch.Add(15000 * time.Second)
	same(t, "at its time", short(query(t, c, q)), []string{url + "+15000", url + "+14990", url + "+15010"})
	q.Closest = epoch.Add(-time.Hour)
	same(t, "before all", short(query(t, c, q)), []string{url + "+0", url + "+10", url + "+20"})
	q.Closest, q.From, q.To = epoch.Add(15005*time.Second), epoch.Add(20001*time.Second), epoch.Add(20025*time.Second)
	q.MaxScan = 0
	same(t, "within times", short(query(t, c, q)), []string{url + "+20010", url + "+20020"})
	q.Closest, q.Limit = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), 0
	q.From, q.To = time.Time{}, time.Time{}
	if got := query(t, c, q); len(got) != 3000 {
		t.Errorf("%d of 3000", len(got))
	}
}

// longURLs: keys that are longer than an index takes find their captures.
func longURLs(t *testing.T, c catalogue.Catalogue) {
	long := "http://a.example/" + strings.Repeat("x", 7000)
	var entries []catalogue.Entry
	for i, end := range []string{"", "1", "2"} {
		entries = append(entries, at(long+end, i))
	}
	entries = append(entries, at("http://a.example/x", 9), at("http://a.example/z", 9))
	add(t, c, segmentOf("s", entries...))
	for i, end := range []string{"", "1", "2"} {
		same(t, "exact", short(query(t, c, catalogue.Query{URL: long + end})), []string{fmt.Sprintf("%s+%d", long+end, i)})
	}
	if got := query(t, c, catalogue.Query{URL: "http://a.example/xx", Match: catalogue.Prefix}); len(got) != 3 {
		t.Errorf("%d have the prefix", len(got))
	}
	if got := query(t, c, catalogue.Query{URL: "a.example", Match: catalogue.Host}); len(got) != 5 {
		t.Errorf("%d are of the host", len(got))
	}
}

// hostileTexts: what a page says of itself is stored in a form that every database takes, and comes back.
func hostileTexts(t *testing.T, c catalogue.Catalogue) {
	for i, test := range []struct{ title, want string }{
		{"a\x00b", "ab"}, {"bad \xff utf", "bad \uFFFD utf"}, {"'); DROP TABLE captures; --", "'); DROP TABLE captures; --"},
		{"<script>\u2028\U0001F426", "<script>\u2028\U0001F426"}, {strings.Repeat("ä", 2000), strings.Repeat("ä", 500)},
	} {
		e := at(fmt.Sprintf("http://a.example/%d", i), 0)
		e.Title, e.MIME = test.title, "text/\x00html\xff"
		add(t, c, segmentOf(fmt.Sprint("s", i), e))
		if got := query(t, c, catalogue.Query{URL: e.URL}); len(got) != 1 || got[0].Title != test.want || got[0].MIME != "text/html\uFFFD" {
			t.Errorf("%q: %+v", test.title, got)
		}
	}
}

// wrongQueries: what is wrong with a query is said before any capture is given, by the name of the field.
func wrongQueries(t *testing.T, c catalogue.Catalogue) {
	add(t, c, segmentOf("s", at("http://a.example/", 0)))
	for _, test := range []struct {
		q     catalogue.Query
		field string
	}{
		{catalogue.Query{}, "url"},
		{catalogue.Query{URL: "http://"}, "url"},
		{catalogue.Query{URL: "ftp://a.example/"}, "url"},
		{catalogue.Query{Key: "example,a)/ x"}, "urlkey"},
		{catalogue.Query{URL: "a.example", Until: "http://", Match: catalogue.Range}, "urlTo"},
		{catalogue.Query{URL: "a.example", Limit: -1}, "limit"},
		{catalogue.Query{URL: "a.example", Match: 99}, "matchType"},
		{catalogue.Query{URL: "a.example", Sort: catalogue.Closest}, "closest"},
		{catalogue.Query{URL: "a.example", Match: catalogue.Host, Sort: catalogue.Closest, Closest: epoch}, "sort"},
		{catalogue.Query{URL: "a.example", From: epoch, To: epoch.Add(-1)}, "to"},
		{catalogue.Query{URL: "a.example", After: "?"}, "resumeKey"},
		{catalogue.Query{URL: "a.example", After: "bm90aGluZw"}, "resumeKey"},
	} {
		err := c.Query(t.Context(), test.q, func(catalogue.Entry) error {
			t.Errorf("%+v: a capture was given", test.q)
			return nil
		})
		var wrong *catalogue.QueryError
		if !errors.As(err, &wrong) || wrong.Field != test.field {
			t.Errorf("%+v: %v, not an error of %s", test.q, err, test.field)
		}
	}
}

// ends: a query ends with the caller's error, and with its context.
func ends(t *testing.T, c catalogue.Catalogue) {
	var entries []catalogue.Entry
	for i := range 200 {
		entries = append(entries, at(fmt.Sprintf("http://a.example/%d", i), i))
	}
	add(t, c, segmentOf("s", entries...))
	enough, n := errors.New("enough"), 0
	err := c.Query(t.Context(), catalogue.Query{URL: "a.example", Match: catalogue.Host}, func(catalogue.Entry) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 3 {
		t.Errorf("%v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = c.Query(ctx, catalogue.Query{URL: "a.example", Match: catalogue.Host}, func(catalogue.Entry) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// maxScan: a query whose filters fit nothing is bounded.
func maxScan(t *testing.T, c catalogue.Catalogue) {
	var entries []catalogue.Entry
	for i := range 300 {
		entries = append(entries, at(fmt.Sprintf("http://h%d.example/", i), i))
	}
	add(t, c, segmentOf("s", entries...))
	f, err := catalogue.ParseFilter("=status:404")
	if err != nil {
		t.Fatal(err)
	}
	q := catalogue.Query{Match: catalogue.Range, Filters: []catalogue.Filter{f}, MaxScan: 299}
	if err := c.Query(t.Context(), q, func(catalogue.Entry) error { return nil }); !errors.Is(err, catalogue.ErrScan) {
		t.Errorf("299 of 300: %v", err)
	}
	q.MaxScan = 300
	if got := query(t, c, q); got != nil {
		t.Errorf("%+v", got)
	}
	last := epoch.Add(299 * time.Second)
	q = catalogue.Query{Match: catalogue.Range, MaxScan: 300, Limit: 1, Admits: func(e *catalogue.Entry) bool { return e.Date.Equal(last) }}
	same(t, "the last one is admitted", short(query(t, c, q)), []string{"http://h299.example/+299"})
	last = epoch.Add(-time.Second)
	q.MaxScan = 299
	if err := c.Query(t.Context(), q, func(catalogue.Entry) error { return nil }); !errors.Is(err, catalogue.ErrScan) {
		t.Errorf("nothing is admitted: %v", err)
	}
}

// answers: names behind an address, and addresses of a name, over time.
func answers(t *testing.T, c catalogue.Catalogue) {
	one, two, six := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8"), netip.MustParseAddr("2001:db8::1")
	says := func(name string, address netip.Addr, after int) catalogue.Answer {
		return catalogue.Answer{Name: name, Address: address, Date: epoch.Add(time.Duration(after) * time.Hour)}
	}
	first, second := segmentOf("first"), segmentOf("second")
	first.Answers = []catalogue.Answer{says("A.example.", one, 0), says("a.example", six, 0), says("b.example", one, 0), says("", one, 0), {Name: "none.example"}}
	second.Answers = []catalogue.Answer{says("a.example", two, 24), says("b.example", one, 24), says("c.example", netip.MustParseAddr("::ffff:192.0.2.7"), 24)}
	add(t, c, first, second)
	add(t, c, second)
	ask := func(q catalogue.AnswerQuery) (list []catalogue.Answer) {
		t.Helper()
		if err := c.Answers(t.Context(), q, func(a catalogue.Answer) error { list = append(list, a); return nil }); err != nil {
			t.Fatal(err)
		}
		return list
	}
	text := func(list []catalogue.Answer) (out []string) {
		for _, a := range list {
			out = append(out, fmt.Sprintf("%s %s %v %s", a.Name, a.Address, a.Date.Sub(epoch).Hours(), a.Segment.Name))
		}
		return out
	}
	all := []string{
		"a.example 192.0.2.7 0 first", "a.example 192.0.2.8 24 second", "a.example 2001:db8::1 0 first",
		"b.example 192.0.2.7 0 first", "b.example 192.0.2.7 24 second", "c.example 192.0.2.7 24 second",
	}
	same(t, "of a name", text(ask(catalogue.AnswerQuery{Name: "a.example"})), all[:3])
	same(t, "of an address", text(ask(catalogue.AnswerQuery{Address: one})), []string{all[0], all[3], all[4], all[5]})
	same(t, "of an address in IPv6", text(ask(catalogue.AnswerQuery{Address: six})), all[2:3])
	same(t, "at a time", text(ask(catalogue.AnswerQuery{Address: one, From: epoch.Add(time.Hour)})), all[4:])
	same(t, "until a time", text(ask(catalogue.AnswerQuery{Address: one, To: epoch})), []string{all[0], all[3]})
	same(t, "all", text(ask(catalogue.AnswerQuery{})), all)
	for i := range all {
		page := ask(catalogue.AnswerQuery{Limit: i + 1})
		same(t, "a page", text(page), all[:i+1])
		same(t, "the next page", text(ask(catalogue.AnswerQuery{After: &page[i]})), all[i+1:])
	}
	of := ask(catalogue.AnswerQuery{Address: one, Limit: 2})
	same(t, "the next page of an address", text(ask(catalogue.AnswerQuery{Address: one, After: &of[1]})), all[4:])
	var wrong *catalogue.QueryError
	if err := c.Answers(t.Context(), catalogue.AnswerQuery{Name: "a", Address: one}, nil); !errors.As(err, &wrong) {
		t.Errorf("name and address: %v", err)
	}
}

// atOnce: segments are added and asked for at the same time; a segment is seen whole or not at all.
func atOnce(t *testing.T, c catalogue.Catalogue) {
	const writers, each, size = 3, 5, 20
	var running sync.WaitGroup
	ended := make(chan struct{})
	running.Go(func() {
		for last := false; !last; {
			select {
			case <-ended:
				last = true
			default:
			}
			counts := map[string]int{}
			q := catalogue.Query{URL: "a.example", Match: catalogue.Host} // a page of one shard: read at one moment
			for _, e := range query(t, c, q) {
				counts[e.Segment]++
			}
			if last && len(counts) != writers*each {
				t.Errorf("%d segments of %d", len(counts), writers*each)
			}
			for name, n := range counts {
				if last && n != size {
					t.Errorf("%s has %d captures of %d", name, n, size)
				}
			}
		}
	})
	var adding sync.WaitGroup
	for w := range writers {
		adding.Go(func() {
			for i := range each {
				s := segmentOf(fmt.Sprintf("s%d-%d", w, i))
				for k := range size {
					s.Entries = append(s.Entries, at(fmt.Sprintf("http://a.example/%d", k), w*100+i))
				}
				if err := c.AddSegments(t.Context(), s, segmentOf("shared", at("http://b.example/", 1))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adding.Wait()
	close(ended)
	running.Wait()
	if got := query(t, c, catalogue.Query{URL: "b.example"}); len(got) != 1 {
		t.Errorf("%d captures of a segment that all add", len(got))
	}
}

package catalogtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/urls"
)

// hosts are such that keys of neighbours, of subdomains, of ports and of public suffixes stand close to each other.
var hosts = []string{
	"example.com", "www.example.com", "a.example.com", "b.a.example.com", "example.com:8080", "a.example.com:81", "examples.com", "exampl.com", "example-x.com",
	"example.co.uk", "a.example.co.uk", "b.co.uk", "bucket.s3.amazonaws.com", "amazonaws.com", "x.amazonaws.com", "127.0.0.1", "127.0.0.1:8080", "127.0.0.10",
	"[2001:db8::1]", "[2001:db8::1]:81", "localhost", "com.example",
}

var paths = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a?x=1", "/a?x=1&y=2", "/A/B.html", "/a!b", "/%C3%A4", "/?q"}

// some are captures, made up by a seed, in segments.
func some(random *rand.Rand, n int) (segments []catalogue.Segment, all []catalogue.Entry) {
	for len(all) < n {
		s := segmentOf(fmt.Sprintf("s-%d@w.1", len(segments)))
		s.Crawl = archive.CrawlAt{Name: []string{"ravens", "crows"}[random.IntN(2)]}
		for i := range 1 + random.IntN(30) {
			e := at("http://"+hosts[random.IntN(len(hosts))]+paths[random.IntN(len(paths))], random.IntN(500))
			e.Offset, e.Status, e.MIME = int64(i), []int{200, 301, 404}[random.IntN(3)], []string{"text/html", "image/png"}[random.IntN(2)]
			e.Digest = fmt.Sprintf("sha1:D%d", random.IntN(40))
			s.Entries = append(s.Entries, e)
		}
		segments = append(segments, s)
		normal, err := s.Normal()
		if err != nil {
			panic(err)
		}
		all = append(all, normal.Entries...)
	}
	slices.SortFunc(all, func(a, b catalogue.Entry) int { return a.Position().Compare(b.Position()) })
	return segments, all
}

// keyed is a URL with its key.
type keyed struct {
	urls.URL
	key string
}

var keys sync.Map // what parsed has made

func parsed(text string) keyed {
	if k, ok := keys.Load(text); ok {
		return k.(keyed)
	}
	u, err := urls.Parse(text)
	if err != nil {
		panic(err)
	}
	k := keyed{u, u.Key()}
	keys.Store(text, k)
	return k
}

// fits reports whether a query asks for a capture, worked out from its URL.
func fits(q *catalogue.Query, e *catalogue.Entry) bool {
	t := e.Date
	if !q.From.IsZero() && t.Before(q.From) || !q.To.IsZero() && t.After(q.To) || q.Digest != "" && e.Digest != q.Digest {
		return false
	}
	for _, f := range q.Filters {
		if !f.Fits(e) {
			return false
		}
	}
	if q.URL == "" {
		return true
	}
	asked, is := parsed("http://"+q.URL), parsed(e.URL)
	bare := func(s string) string { return strings.TrimPrefix(s, "www.") }
	switch q.Match {
	case catalogue.Exact:
		return is.key == asked.key
	case catalogue.Prefix:
		key := asked.key
		if strings.HasSuffix(q.URL, "/") && !strings.HasSuffix(key, "/") {
			key += "/"
		}
		return strings.HasPrefix(is.key, key)
	case catalogue.Host:
		return bare(is.Authority()) == bare(asked.Authority())
	case catalogue.Domain:
		if strings.HasPrefix(asked.Host(), "[") {
			return is.Authority() == asked.Authority()
		}
		host := bare(asked.Host())
		_, ip := urls.Address(host)
		return bare(is.Host()) == host || !ip && strings.HasSuffix(is.Host(), "."+host)
	default:
		return is.key >= asked.key && (q.Until == "" || is.key < parsed("http://"+q.Until).key)
	}
}

// expected is the answer to a query, worked out from all captures in their order.
func expected(q catalogue.Query, all []catalogue.Entry) (list []catalogue.Entry) {
	for i := range all {
		if fits(&q, &all[i]) {
			list = append(list, all[i])
		}
	}
	switch q.Sort {
	case catalogue.Reverse:
		slices.Reverse(list)
	case catalogue.Closest:
		slices.SortStableFunc(list, func(a, b catalogue.Entry) int {
			return int(a.Date.Sub(q.Closest).Abs()/time.Second) - int(b.Date.Sub(q.Closest).Abs()/time.Second)
		})
	}
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list
}

// someQuery is a query, made up by a seed.
func someQuery(random *rand.Rand) catalogue.Query {
	url := func() string { return hosts[random.IntN(len(hosts))] + paths[random.IntN(len(paths))] }
	q := catalogue.Query{URL: url(), Match: catalogue.Match(random.IntN(5)), Sort: catalogue.Sort(random.IntN(3))}
	if q.Match == catalogue.Domain && random.IntN(4) == 0 {
		q.URL = []string{"com", "uk", "co.uk", "example", "s3.amazonaws.com"}[random.IntN(5)] + "/"
	}
	if q.Match == catalogue.Range {
		if q.Until = url(); random.IntN(3) == 0 {
			q.Until = ""
		}
		if random.IntN(4) == 0 {
			q.URL, q.Until = "", ""
		}
	}
	if q.Sort == catalogue.Closest {
		q.Match, q.Until, q.Closest = catalogue.Exact, "", epoch.Add(time.Duration(random.IntN(600)-50)*time.Second)
		if q.URL == "" {
			q.URL = url()
		}
	}
	if random.IntN(3) == 0 {
		q.From = epoch.Add(time.Duration(random.IntN(400)) * time.Second)
	}
	if random.IntN(3) == 0 {
		q.To = epoch.Add(time.Duration(400+random.IntN(200)) * time.Second)
	}
	if random.IntN(2) == 0 {
		q.Limit = 1 + random.IntN(20)
	}
	if random.IntN(8) == 0 {
		q.Digest = fmt.Sprintf("sha1:D%d", random.IntN(40))
	}
	for random.IntN(3) == 0 {
		text := []string{"=status:200", "!=status:200", "mime:html", "~urlkey:.*example", "!~url:http://a", "crawl:ravens", "=mimetype:image/png"}[random.IntN(7)]
		f, err := catalogue.ParseFilter(text)
		if err != nil {
			panic(err)
		}
		q.Filters = append(q.Filters, f)
	}
	return q
}

// model: 1,500 captures answer 600 queries as a list that is searched from end to end does.
func model(t *testing.T, c catalogue.Catalogue) {
	random := rand.New(rand.NewPCG(1, 2))
	segments, all := some(random, 1500)
	random.Shuffle(len(segments), func(i, k int) { segments[i], segments[k] = segments[k], segments[i] })
	for len(segments) > 0 {
		n := min(len(segments), 1+random.IntN(8))
		add(t, c, segments[:n]...)
		segments = segments[n:]
	}
	answered := 0
	for i := range 600 {
		q := someQuery(random)
		got, want := query(t, c, q), expected(q, all)
		if !slices.EqualFunc(got, want, func(a, b catalogue.Entry) bool { return alike(&q, a, b) }) {
			t.Fatalf("query %d: %+v:\n got %s\nwant %s", i, q, strings.Join(short(got), "\n     "), strings.Join(short(want), "\n     "))
		}
		if len(want) > 0 {
			answered++
		}
	}
	if answered < 280 {
		t.Errorf("only %d queries have an answer", answered)
	}
}

// alike reports whether two captures may stand for each other: by their distance from a time those of the same second have no order.
func alike(q *catalogue.Query, a, b catalogue.Entry) bool {
	return a == b || q.Sort == catalogue.Closest && a.Key == b.Key && a.Date.Equal(b.Date)
}

// matchTypes: the match types on hosts that stand close to each other, as they are documented for pywb.
func matchTypes(t *testing.T, c catalogue.Catalogue) {
	var entries []catalogue.Entry
	for i, h := range hosts {
		for k, p := range paths[:4] {
			entries = append(entries, at("http://"+h+p, i*10+k))
		}
	}
	add(t, c, segmentOf("s", entries...))
	for _, test := range []struct {
		q    catalogue.Query
		want []string
	}{
		{catalogue.Query{URL: "example.com"}, []string{"http://example.com/", "http://www.example.com/"}},
		{catalogue.Query{URL: "http://www.example.com/a/"}, []string{"http://example.com/a", "http://example.com/a/", "http://www.example.com/a", "http://www.example.com/a/"}},
		{catalogue.Query{URL: "https://examples.com/a/b"}, []string{"http://examples.com/a/b"}},
		{catalogue.Query{URL: "examples.com/a", Match: catalogue.Prefix}, []string{"http://examples.com/a", "http://examples.com/a/", "http://examples.com/a/b"}},
		{catalogue.Query{URL: "examples.com/a/", Match: catalogue.Prefix}, []string{"http://examples.com/a/b"}},
		{catalogue.Query{URL: "127.0.0.1:8080", Match: catalogue.Host}, []string{"http://127.0.0.1:8080/", "http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a/", "http://127.0.0.1:8080/a/b"}},
		{catalogue.Query{URL: "examples.com/a/b", Match: catalogue.Host}, []string{"http://examples.com/", "http://examples.com/a", "http://examples.com/a/", "http://examples.com/a/b"}},
		{catalogue.Query{Key: "com,examples)/a"}, []string{"http://examples.com/a", "http://examples.com/a/"}},
		{catalogue.Query{URL: "gone.example.com"}, nil},
	} {
		var got []string
		for _, e := range query(t, c, test.q) {
			got = append(got, e.URL)
		}
		slices.Sort(got)
		same(t, fmt.Sprintf("%+v", test.q), got, test.want)
	}
	domain := map[string]bool{}
	for _, e := range query(t, c, catalogue.Query{URL: "example.com", Match: catalogue.Domain}) {
		u, _ := urls.Parse(e.URL)
		domain[u.Authority()] = true
	}
	if len(domain) != 6 || !domain["b.a.example.com"] || !domain["example.com:8080"] || domain["examples.com"] {
		t.Errorf("of the domain example.com: %v", domain)
	}
}

// pages: the pages of an answer are the answer, in both directions, whatever the size of a page.
func pages(t *testing.T, c catalogue.Catalogue) {
	random := rand.New(rand.NewPCG(3, 4))
	segments, _ := some(random, 400)
	add(t, c, segments...)
	for _, q := range []catalogue.Query{
		{Match: catalogue.Range},
		{URL: "example.com", Match: catalogue.Domain},
		{URL: "com", Match: catalogue.Domain},
		{URL: "example.com/a"},
		{URL: "example.com", Match: catalogue.Host, From: epoch.Add(100 * time.Second)},
		{Digest: "sha1:D7"},
	} {
		for _, sort := range []catalogue.Sort{catalogue.Forward, catalogue.Reverse} {
			q.Sort, q.Limit, q.After = sort, 0, ""
			whole := query(t, c, q)
			for _, q.Limit = range []int{1, 7, 33} {
				var got []catalogue.Entry
				q.After = ""
				for range len(whole) + 1 {
					page := query(t, c, q)
					if len(page) == 0 {
						break
					}
					got = append(got, page...)
					q.After = page[len(page)-1].Cursor()
				}
				if !slices.Equal(got, whole) {
					t.Errorf("%+v: %d captures in pages, %d at once", q, len(got), len(whole))
				}
			}
		}
	}
}

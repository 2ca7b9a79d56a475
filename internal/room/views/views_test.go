package views_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/bleve"
	"github.com/muninn-archive/muninn/internal/search/query"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func store(t *testing.T, dir string) archive.Store {
	t.Helper()
	s, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// segment archives pages of a text each, the second one at URL1 and so on.
func segment(t testing.TB, to archive.Store, name, batch, url string, texts ...string) archive.Manifest {
	t.Helper()
	at := strings.LastIndex(name, "/") + 1 // what is before it is the prefix
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Prefix: name[:at], Crawl: name[at:], Batch: batch, Nonce: "0123456789abcdef", Run: 1, Worker: "w"}, epoch,
		func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	for i, text := range texts {
		at := url
		if i > 0 {
			at = fmt.Sprint(url, i)
		}
		title := text[:min(len(text), 60)]
		head, body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "<title>"+title+"</title><p>"+text
		_, err = s.Add(archive.Capture{
			Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: at, Started: epoch, Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html", IP: "192.0.2.1", Outcome: crawl.Outcome{URL: at, Kind: crawl.OutcomeDone, Status: 200}},
			Request:  strings.NewReader("GET / HTTP/1.1\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
			Page: &crawl.Judged{Parsed: crawl.Parsed{Page: crawl.Page{Title: title}, Findings: crawl.Findings{Application: "forum", Level: fmt.Sprint("level", i%3)}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := s.Commit(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// opened are views in a folder.
type opened struct {
	*views.Views
	stale bool
	close func()
}

func open(t *testing.T, dir string, change func(*views.Config), archives ...archive.Store) opened {
	t.Helper()
	journal, stale, err := views.OpenJournal(t.Context(), dir, archives)
	if err != nil {
		t.Fatal(err)
	}
	captures, err := sqlite.Open(t.Context(), filepath.Join(dir, "catalogue"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := bleve.Open(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	conf := views.Config{Archives: archives, Catalogue: captures, Index: index, Derive: true, Dir: t.TempDir(), Now: time.Now, Before: journal.Add}
	if change != nil {
		change(&conf)
	}
	return opened{views.New(conf), stale, func() {
		if err := errors.Join(captures.Close(), index.Close(), journal.Close()); err != nil {
			t.Error(err)
		}
	}}
}

// has lists what views have: URLs of the catalogue with their crawls, and titles that are found.
func (o opened) has(t *testing.T) string {
	t.Helper()
	var list []string
	err := o.Guarded(room.NewDoor(room.Rules{}, o, o.Index, time.Now)).Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(e catalogue.Entry) error {
		list = append(list, e.Crawl.Name+" "+e.URL)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := o.Index.Search(t.Context(), query.Query{}, search.Options{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; %d found", strings.Join(list, ", "), a.Total)
}

func pass(t *testing.T, o opened) {
	t.Helper()
	if err := o.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: what is committed meanwhile is found after the next pass, texts are derived where they are missing, and views that are deleted are
// built again with the same content.
func TestFollow(t *testing.T) {
	where, dir := store(t, t.TempDir()), t.TempDir()
	m := segment(t, where, "c", "a-1@w.1", "http://a.example/", "one")
	o := open(t, dir, nil, where)
	pass(t, o)
	if got, want := o.has(t), "c http://a.example/; 1 found"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := derive.ReadManifest(t.Context(), where, archive.CrawlAt{Name: "c"}, derive.Text, m.Segment()); err != nil {
		t.Errorf("the text is not derived: %v", err)
	}
	segment(t, where, "c", "a-2@w.1", "http://a.example/2", "two")
	segment(t, where, "d", "b-1@w.1", "http://b.example/", "three")
	pass(t, o)
	const all = "c http://a.example/, c http://a.example/2, d http://b.example/; 3 found"
	if got := o.has(t); got != all {
		t.Errorf("%s, want %s", got, all)
	}
	if s := o.State(); s.Segments != 3 || s.Viewed != 3 || len(s.Faults) != 0 {
		t.Errorf("%+v", s)
	}
	o.close()
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "catalogue")), os.RemoveAll(filepath.Join(dir, "index"))); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, nil, where)
	defer again.close()
	pass(t, again)
	if got := again.has(t); again.stale || got != all {
		t.Errorf("built again: %s, stale %v", got, again.stale)
	}
}

// TestNotDerived: without a derivation captures are found by their URLs alone, and by their words as soon as there is one.
func TestNotDerived(t *testing.T) {
	where := store(t, t.TempDir())
	m := segment(t, where, "c", "a-1@w.1", "http://a.example/", "one")
	o := open(t, t.TempDir(), func(c *views.Config) { c.Derive = false }, where)
	defer o.close()
	pass(t, o)
	if got, want := o.has(t), "c http://a.example/; 0 found"; got != want || o.State().Viewed != 0 {
		t.Errorf("%s, want %s; %+v", got, want, o.State())
	}
	d := derive.Deriver{Store: where, Now: time.Now}
	if _, err := d.Segment(t.Context(), archive.CrawlAt{Name: "c"}, m.Segment(), derive.Text); err != nil {
		t.Fatal(err)
	}
	pass(t, o)
	if got, want := o.has(t), "c http://a.example/; 1 found"; got != want || o.State().Viewed != 1 {
		t.Errorf("%s, want %s; %+v", got, want, o.State())
	}
}

// TestStale: views of an archive that was deleted and made again show nothing of the earlier one.
func TestStale(t *testing.T) {
	place, dir := t.TempDir(), t.TempDir()
	first := store(t, place)
	segment(t, first, "c", "a-1@w.1", "http://a.example/", "one")
	o := open(t, dir, nil, first)
	pass(t, o)
	o.close()
	if err := os.RemoveAll(filepath.Join(place, "c")); err != nil {
		t.Fatal(err)
	}
	segment(t, first, "c", "a-7@w.1", "http://a.example/other", "two")
	again := open(t, dir, nil, first)
	defer again.close()
	pass(t, again)
	if got, want := again.has(t), "c http://a.example/other; 1 found"; !again.stale || got != want {
		t.Errorf("%s, want %s; stale %v", got, want, again.stale)
	}
}

// TestTwoArchives: crawls of several archives are shown together; of two with one name the first is, and readers of the state learn it.
func TestTwoArchives(t *testing.T) {
	a, b := store(t, t.TempDir()), store(t, t.TempDir())
	segment(t, a, "c", "a-1@w.1", "http://a.example/", "one")
	segment(t, b, "d", "b-1@w.1", "http://b.example/", "two")
	segment(t, b, "c", "b-2@w.1", "http://c.example/", "three")
	o := open(t, t.TempDir(), nil, a, b)
	defer o.close()
	pass(t, o)
	if got, want := o.has(t), "c http://a.example/, d http://b.example/; 2 found"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := o.State(); len(s.Faults) != 1 || !strings.Contains(s.Faults[0], "two crawls c") {
		t.Errorf("%+v", s)
	}
}

// TestTwoPrefixes: of two crawls of one name under two prefixes of an archive the first is shown, and the fault says where both are. No page of the other is taken for one of the first.
func TestTwoPrefixes(t *testing.T) {
	a := store(t, t.TempDir())
	segment(t, a, "first/c", "a-1@w.1", "http://a.example/", "one")
	segment(t, a, "second/c", "b-1@w.1", "http://b.example/", "two")
	o := open(t, t.TempDir(), nil, a)
	defer o.close()
	pass(t, o)
	pass(t, o)
	if got, want := o.has(t), "c http://a.example/; 1 found"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := o.State(); len(s.Faults) != 1 || !strings.Contains(s.Faults[0], "two crawls c, in ") || !strings.Contains(s.Faults[0], "/first and in ") || !strings.Contains(s.Faults[0], "/second: only that of the first is shown") {
		t.Errorf("%+v", s)
	}
}

// TestDamaged: a segment that cannot be read is reported, and the others are found.
func TestDamaged(t *testing.T) {
	place := t.TempDir()
	where := archive.Faults(store(t, place))
	bad := segment(t, where, "c", "a-1@w.1", "http://a.example/", "one")
	segment(t, where, "c", "a-2@w.1", "http://a.example/2", "two")
	if err := os.Truncate(filepath.Join(place, bad.WARC.Key), 100); err != nil {
		t.Fatal(err)
	}
	o := open(t, t.TempDir(), nil, where)
	defer o.close()
	for range 2 {
		pass(t, o)
	}
	if got := o.has(t); !strings.Contains(got, "c http://a.example/2; 1 found") {
		t.Error(got)
	}
	if s := o.State(); s.Segments != 2 || s.Viewed != 1 || len(s.Faults) == 0 || !strings.Contains(strings.Join(s.Faults, "\n"), "a-1@w.1") {
		t.Errorf("%+v", s)
	}
}

// watched is an archive that calls a function before something is put.
type watched struct {
	archive.Store
	before func(key string)
}

func (w *watched) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	w.before(key)
	return w.Store.Put(ctx, key, r, size)
}

// TestBacklog: while a crawl has much to derive, the captures of others are found, also those that come meanwhile, and their texts soon.
func TestBacklog(t *testing.T) {
	const backlog = 8
	where := store(t, t.TempDir())
	for i := range backlog {
		segment(t, where, "c", fmt.Sprintf("a-%d@w.1", i), fmt.Sprintf("http://a.example/%d", i), "one")
	}
	segment(t, where, "d", "b-1@w.1", "http://b.example/", "two")
	var o opened
	now, derived, seen := time.Now(), 0, map[string]int{} // by what is found: the texts of c that are derived then
	in := &watched{where, func(key string) {
		if !strings.Contains(key, "/derived/") {
			return
		}
		now = now.Add(time.Hour) // texts take long
		for _, url := range []string{"http://b.example/", "http://e.example/"} {
			err := o.Catalogue.Query(t.Context(), catalogue.Query{URL: url}, func(catalogue.Entry) error {
				if _, known := seen[url]; !known {
					seen[url] = derived
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if strings.HasPrefix(key, "c/") {
			derived++
		} else {
			seen[key[:1]] = derived
		}
		if strings.HasPrefix(key, "c/") && derived == 2 {
			segment(t, where, "e", "e-1@w.1", "http://e.example/", "three")
		}
	}}
	o = open(t, t.TempDir(), func(c *views.Config) {
		c.Now = func() time.Time { return now }
	}, in)
	defer o.close()
	pass(t, o)
	if s := o.State(); s.Segments != backlog+2 || s.Viewed != backlog+2 || derived != backlog {
		t.Errorf("%+v, %d derived", s, derived)
	}
	for what, most := range map[string]int{"http://b.example/": 0, "d": 1, "http://e.example/": 3, "e": 4} {
		if n, found := seen[what]; !found || n > most {
			t.Errorf("%s comes when %d of %d texts of another crawl are derived (%v), want %d at most", what, n, backlog, found, most)
		}
	}
}

// readOnly is an archive into which nothing can be written.
type readOnly struct{ archive.Store }

var errReadOnly = errors.New("the archive is for reading")

func (readOnly) Put(context.Context, string, io.Reader, int64) error { return errReadOnly }
func (readOnly) PutIfAbsent(context.Context, string, []byte) error   { return errReadOnly }

// TestReadOnly: of an archive that is for reading what was derived is found, and that the rest cannot be derived is said.
func TestReadOnly(t *testing.T) {
	where := store(t, t.TempDir())
	segment(t, where, "c", "a-1@w.1", "http://a.example/", "one")
	m := segment(t, where, "c", "a-2@w.1", "http://a.example/2", "two")
	d := derive.Deriver{Store: where, Now: time.Now}
	if _, err := d.Segment(t.Context(), archive.CrawlAt{Name: "c"}, m.Segment(), derive.Text); err != nil {
		t.Fatal(err)
	}
	o := open(t, t.TempDir(), nil, readOnly{where})
	defer o.close()
	for range 2 {
		if err := o.Pass(t.Context()); !errors.Is(err, errReadOnly) {
			t.Errorf("nothing says that it cannot be derived: %v", err)
		}
	}
	if got, want := o.has(t), "c http://a.example/, c http://a.example/2; 1 found"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := o.State(); s.Segments != 2 || s.Viewed != 1 {
		t.Errorf("%+v", s)
	}
}

// answering has answers of closed crawls before one that is open.
type answering struct{ fullCatalogue }

func (answering) Answers(ctx context.Context, q catalogue.AnswerQuery, fn func(catalogue.Answer) error) error {
	return catalogue.ScanAnswers(ctx, answering{}, q, fn)
}

func (answering) ReadAnswers(_ context.Context, _ catalogue.AnswerQuery, _ catalogue.AnswerPosition, _ int) (list []catalogue.Answer, err error) {
	for i := range 7 {
		crawl := "c"
		if i == 6 {
			crawl = "d"
		}
		list = append(list, catalogue.Answer{Name: "a.example", Date: epoch.Add(time.Duration(i) * time.Second), Segment: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: crawl}}})
	}
	return list, nil
}

// TestDoorAnswers: answers that the door keeps back count for the bound of a query, and not for its limit.
func TestDoorAnswers(t *testing.T) {
	where := store(t, t.TempDir())
	segment(t, where, "c", "a-1@w.1", "http://a.example/", "one")
	segment(t, where, "d", "b-1@w.1", "http://b.example/", "two")
	v := views.New(views.Config{Archives: []archive.Store{where}, Catalogue: answering{}, Index: fullIndex{}, Now: time.Now})
	if err := v.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	rules, err := room.ReadRules([]byte("rules: [{crawl: c, access: closed}]"))
	if err != nil {
		t.Fatal(err)
	}
	behind := v.Guarded(room.NewDoor(rules, v, v.Index, time.Now))
	for _, c := range []struct {
		q    catalogue.AnswerQuery
		want int
		err  error
	}{
		{catalogue.AnswerQuery{Limit: 1}, 1, nil}, {catalogue.AnswerQuery{MaxScan: 7}, 1, nil}, {catalogue.AnswerQuery{MaxScan: 6}, 0, catalogue.ErrScan},
		{catalogue.AnswerQuery{Admits: func(*catalogue.Answer) bool { return false }}, 0, nil},
	} {
		n := 0
		err := behind.Answers(t.Context(), c.q, func(a catalogue.Answer) error {
			if n++; a.Segment.Crawl.Name != "d" {
				t.Errorf("%+v is shown", a)
			}
			return nil
		})
		if n != c.want || !errors.Is(err, c.err) {
			t.Errorf("%+v: %d answers, %v", c.q, n, err)
		}
	}
}

// TestDoorBounds: captures that the door keeps back count for the bounds of a query as all that do not fit, and not for its limit.
func TestDoorBounds(t *testing.T) {
	where := store(t, t.TempDir())
	for i := range 6 {
		segment(t, where, "c", fmt.Sprintf("a-%d@w.1", i), fmt.Sprintf("http://a.example/%d", i), "one")
	}
	segment(t, where, "d", "b-1@w.1", "http://b.example/", "two")
	o := open(t, t.TempDir(), nil, where)
	defer o.close()
	pass(t, o)
	rules, err := room.ReadRules([]byte("rules: [{crawl: c, access: closed}]"))
	if err != nil {
		t.Fatal(err)
	}
	behind := o.Guarded(room.NewDoor(rules, o, o.Index, time.Now))
	for _, c := range []struct {
		q    catalogue.Query
		want int
		err  error
	}{
		{catalogue.Query{Match: catalogue.Range}, 1, nil},
		{catalogue.Query{Match: catalogue.Range, Limit: 1}, 1, nil},
		{catalogue.Query{Match: catalogue.Range, MaxScan: 7}, 1, nil},
		{catalogue.Query{Match: catalogue.Range, MaxScan: 6}, 0, catalogue.ErrScan},
		{catalogue.Query{Match: catalogue.Range, Admits: func(*catalogue.Entry) bool { return false }}, 0, nil},
	} {
		n := 0
		err := behind.Query(t.Context(), c.q, func(e catalogue.Entry) error {
			if n++; e.Crawl.Name != "d" {
				t.Errorf("%s of %s is shown", e.URL, e.Crawl.Name)
			}
			return nil
		})
		if n != c.want || !errors.Is(err, c.err) {
			t.Errorf("%+v: %d captures, %v", c.q, n, err)
		}
	}
}

package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/selection"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// filled is an archive with pages on hosts of various sizes, and a selection of it.
func filled(t *testing.T, pages int, entries ...selection.Entry) archive.Store {
	t.Helper()
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: "b", Nonce: "0123456789abcdef", Worker: "w"}, epoch, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	for i := range pages {
		url := fmt.Sprintf("https://h%d.example/%d", i%7%4, i)
		body := fmt.Sprintf("<title>Page %d</title><p>%s</p>", i, strings.Repeat([]string{"The raven flew over the hills and far away. ", "A pot of soup with a leek and an onion. "}[i%2], 4))
		d := page.Parse(page.Input{URL: url, MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
		if _, err := s.Add(archive.Capture{
			Exchange: crawl.Exchange{
				Kind: crawl.ExchangePage, URL: url, Started: epoch.Add(time.Duration(i) * time.Second), Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html", IP: "192.0.2.1", Path: "SL",
				Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200},
			},
			Page:    &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page}, Verdict: crawl.Verdict{Score: 0.25}},
			Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	l, err := selection.Create(t.Context(), store, "ravens", "ann", "", selection.Creation{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		e.Who = "ann"
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

var at = At{1, "ravens"}

// TestManySelections: who looks at more selections than are kept, in turn, does not have the archive read each time.
func TestManySelections(t *testing.T) {
	store := filled(t, 20)
	names := []At{at}
	for i := range maxKept {
		names = append(names, At{1, fmt.Sprintf("more-%d", i)})
		if _, err := selection.Create(t.Context(), store, names[i+1].Name, "ann", "", selection.Creation{}); err != nil {
			t.Fatal(err)
		}
	}
	now := epoch
	d := New(Config{Archives: []archive.Store{store}, Now: func() time.Time { return now }})
	worked := func(of At) bool {
		t.Helper()
		now = now.Add(time.Second)
		if _, err := d.Get(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		d.Round(t.Context())
		s, err := d.Get(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return s.Work != nil
	}
	for _, of := range names {
		if !worked(of) {
			t.Fatalf("%s is not worked out", of.Name)
		}
	}
	d.opened[names[0]].took = time.Minute // as in a large archive
	if now = now.Add(time.Minute); worked(names[0]) {
		t.Error("the archive is read again at once")
	}
	now = now.Add(time.Hour)
	if !worked(names[0]) {
		t.Error("it is not worked out later")
	}
}

// TestCounts: after each decision captures and groups are those that a count over the archive finds, though it is read once.
func TestCounts(t *testing.T) {
	store := filled(t, 60, selection.Entry{Rules: []selection.Rule{{Query: "soup host:h1.example", Verdict: selection.Drop}}})
	now := epoch
	d := New(Config{Archives: []archive.Store{store}, Now: func() time.Time { return now }})
	for i, c := range []selection.Decision{
		{URL: "https://h0.example/0", Verdict: selection.Keep}, {Group: "host:h1.example", Verdict: selection.Keep}, {URL: "https://h1.example/1", Verdict: selection.Drop},
		{Group: "host:h1.example", Verdict: selection.Ask}, {Group: "site:h2.example", Verdict: selection.Drop},
	} {
		s, err := d.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decide(t.Context(), at, Decision{ID: selection.NewID(), Version: s.State.Version, Who: "ann", Of: []selection.Decision{c}}); err != nil {
			t.Fatal(err)
		}
		d.Round(t.Context())
		got, err := d.Get(t.Context(), at)
		if err != nil || got.Work == nil || got.Work.Counted != uint64(i+3) {
			t.Fatalf("%+v, %v", got.Work, err)
		}
		fresh, err := d.read(t.Context(), at, got.State)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(fresh.tally.captures) != fmt.Sprint(got.Work.Captures) {
			t.Errorf("%+v: %v, want %v", c, got.Work.Captures, fresh.tally.captures)
		}
		for g, n := range fresh.tally.groups {
			if of, _ := got.Work.Group(g); of.Captures != int(n.captures) || of.Open != int(n.open) {
				t.Errorf("%+v: %s: %+v, want %+v", c, g, of, n)
			}
		}
	}
}

// TestDecideTogether: of many who send one decision at a time one entry is made; one who decides otherwise gets an error that names it.
func TestDecideTogether(t *testing.T) {
	store := filled(t, 8)
	desks := []*Desk{New(Config{Archives: []archive.Store{store}, Now: time.Now}), New(Config{Archives: []archive.Store{store}, Now: time.Now})}
	var sending sync.WaitGroup
	id := selection.NewID()
	for i := range 20 {
		sending.Go(func() {
			of := []selection.Decision{{URL: "https://h0.example/0", Verdict: selection.Keep}}
			done, err := desks[i%2].Decide(t.Context(), at, Decision{ID: id, Version: 1, Who: "ann", Of: of})
			if err != nil || done.Entry != 2 {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	sending.Wait()
	l, err := selection.Open(t.Context(), store, "ravens")
	if err != nil || l.Version() != 2 {
		t.Fatalf("%d entries, %v", l.Version(), err)
	}
	var changed *ChangedError
	_, err = desks[0].Decide(t.Context(), at, Decision{ID: selection.NewID(), Version: 1, Who: "bob", Of: []selection.Decision{{URL: "https://h0.example/0", Verdict: selection.Drop}}})
	if !errors.As(err, &changed) || changed.Entry != 2 || changed.Who != "ann" || changed.Verdict != selection.Keep {
		t.Error(err)
	}
	if _, err := desks[0].Get(t.Context(), At{2, "ravens"}); !errors.Is(err, selection.ErrNone) {
		t.Error(err)
	}
	if _, err := desks[0].Get(t.Context(), At{1, "crows"}); !errors.Is(err, selection.ErrNone) {
		t.Error(err)
	}
}

// TestSampler: of more open pages than a pool holds there is a sample by their URLs, with all that is learned from, whatever their order.
func TestSampler(t *testing.T) {
	state := func() *selection.State {
		store := filled(t, 1, selection.Entry{Decisions: []selection.Decision{{URL: "https://h.example/7", Verdict: selection.Keep}, {URL: "https://h.example/3990", Verdict: selection.Drop}}})
		l, err := selection.Open(t.Context(), store, "ravens")
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.State(0, selection.ParseQuery)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}()
	order := make([]int, 4000)
	for i := range order {
		order[i] = i
	}
	var first []string
	for range 2 {
		b := newSampler(state)
		b.Most = 500
		for _, i := range order {
			f := selection.Facts{URL: fmt.Sprintf("https://h.example/%d", i), Host: "h.example", Site: "h.example", Title: fmt.Sprint(i), Date: epoch, Score: -1}
			if err := b.add(f, state.Of(&f).Verdict == selection.Ask); err != nil {
				t.Fatal(err)
			}
		}
		p := b.Pool()
		var urls []string
		for _, f := range p.Facts {
			urls = append(urls, f.URL)
		}
		_, kept := p.Index("https://h.example/7")
		_, left := p.Index("https://h.example/3990")
		if n := p.Len(); n < 200 || n > 500 || !kept || !left || b.seen() != 8 && b.seen() != 16 {
			t.Errorf("%d of 4000, one of %d; %v, %v", n, b.seen(), kept, left)
		}
		if first != nil && !slices.Equal(first, urls) {
			t.Error("the sample depends on the order")
		}
		first = urls
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
}

// TestAlike: each page is in one group of near-duplicates at most, and two in one are alike, as a comparison of all with all finds them.
func TestAlike(t *testing.T) {
	store := filled(t, 40)
	d := New(Config{Archives: []archive.Store{store}, Now: time.Now})
	if _, err := d.Get(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	d.Round(t.Context())
	s, err := d.Get(t.Context(), at)
	if err != nil || s.Work == nil {
		t.Fatal(err, s.Fault)
	}
	seen := map[string]bool{}
	for _, g := range s.Work.Groups(selection.KindNear) {
		pages := s.Work.Pages(g.Group, s.State, 1000)
		for _, i := range s.Work.members[g.Group] {
			url := s.Work.pool.Facts[i].URL
			if seen[url] || !s.Work.pool.Facts[i].In(g.Group) {
				t.Errorf("%s in %s", url, g.Group)
			}
			seen[url] = true
		}
		if g.Open < 2 || len(pages) < g.Open {
			t.Errorf("%+v, %d pages", g, len(pages))
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d pages are in groups, want 40", len(seen))
	}
}

// BenchmarkLearn: what it costs to learn again, and to ask, with as many candidates as a server has.
func BenchmarkLearn(b *testing.B) {
	store, err := archive.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l, err := selection.Create(b.Context(), store, "ravens", "ann", "", selection.Creation{})
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Fields("raven crow nest hill feather beak wing flight soup leek onion pot stove water kitchen spoon letter poem saga rune ship king sea north winter stone tree field road house")
	random := rand.New(rand.NewPCG(3, 4))
	facts := make([]selection.Facts, maxPool)
	e := selection.Entry{Who: "ann"}
	for i := range facts {
		var text strings.Builder
		for range 120 {
			fmt.Fprintf(&text, "%s%d ", words[random.IntN(len(words))], random.IntN(40))
		}
		host := fmt.Sprintf("h%d.example", random.IntN(500))
		facts[i] = selection.Facts{URL: fmt.Sprintf("https://%s/%d", host, i), Host: host, Site: host, Date: epoch, Score: -1, Text: text.String(), Print: selection.PrintOf(text.String())}
		if i%100 == 0 {
			e.Decisions = append(e.Decisions, selection.Decision{URL: facts[i].URL, Verdict: selection.Verdicts[i/100%2]})
		}
	}
	if _, err := l.Append(b.Context(), e); err != nil {
		b.Fatal(err)
	}
	state, err := l.State(0, selection.ParseQuery)
	if err != nil {
		b.Fatal(err)
	}
	s, p := newSampler(state), &pass{state: state, tally: newTally(), seen: 1}
	for _, f := range facts {
		p.all = append(p.all, f.Bare())
		if err := s.add(f, state.Of(&f).Verdict == selection.Ask); err != nil {
			b.Fatal(err)
		}
	}
	p.pool = s.Pool()
	d := New(Config{Archives: []archive.Store{store}, Now: time.Now})
	var w *Work
	b.Run("learn", func(b *testing.B) {
		for b.Loop() {
			w = d.learn(p, state)
		}
	})
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			w.Questions("", state, 10)
		}
	})
	b.Run("group", func(b *testing.B) {
		for b.Loop() {
			w.Pages("host:h7.example", state, 5000)
			w.Questions("host:h7.example", state, 10)
		}
	})
}

// between is a store in which something is done once before an entry of a number is put.
type between struct {
	archive.Store
	number uint64
	do     func()
}

func (b *between) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if do := b.do; do != nil && key == (archive.Selections{}).Entry("ravens", b.number) {
		b.do = nil
		do()
	}
	return b.Store.PutIfAbsent(ctx, key, data)
}

// TestDecideBetween: another server decides after this one has looked, and before it writes: otherwise is an error, the same is enough.
func TestDecideBetween(t *testing.T) {
	for other, want := range map[selection.Verdict]bool{selection.Drop: false, selection.Keep: true} {
		store := filled(t, 8)
		of := func(v selection.Verdict) []selection.Decision {
			return []selection.Decision{{URL: "https://h0.example/0", Verdict: v}}
		}
		slow := &between{Store: store, number: 2, do: func() {
			if _, err := New(Config{Archives: []archive.Store{store}, Now: time.Now}).Decide(t.Context(), at, Decision{ID: selection.NewID(), Version: 1, Who: "bob", Of: of(other)}); err != nil {
				t.Error(err)
			}
		}}
		d := New(Config{Archives: []archive.Store{slow}, Now: time.Now})
		done, err := d.Decide(t.Context(), at, Decision{ID: selection.NewID(), Version: 1, Who: "ann", Of: of(selection.Keep)})
		var changed *ChangedError
		if want != (err == nil) || want && done != (Done{2, true}) || !want && (!errors.As(err, &changed) || changed.Who != "bob") {
			t.Errorf("%s: %+v, %v", other, done, err)
		}
		l, err := selection.Open(t.Context(), store, "ravens")
		if err != nil || l.Version() != 2 {
			t.Errorf("%s: %d entries, %v", other, l.Version(), err)
		}
		if s, err := d.Get(t.Context(), at); err != nil || s.State.Version != 2 {
			t.Errorf("%s: it has not what it has read: %v", other, err)
		}
	}
}

package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// randomPages are pages with all that links may have, and their links as they are to be read again.
func randomPages(random *rand.Rand, n int) (pages []linkingPage, want []Link) {
	texts := []string{"", "plain text", "\"quoted\" \\ and\ttabs\nlines", "ünïcödé 東京", "<b>&amp;</b>", "\u2028 \x7f", "\x00", "null"}
	list := []string{"mailto:a@b.example", "http://a.example", "http://a.example/", "http://a.example/x?y", "http://a.example//x", "http://a.example:80/", "https://www.a.example/"}
	for i := range 40 {
		list = append(list, fmt.Sprintf("http://www.h%d.example/%d", i, i))
	}
	text := func() string { return texts[random.IntN(len(texts))] }
	url := func() string { return list[random.IntN(len(list))] }
	number := func() float64 { return []float64{0, 1, 0.1, 1e-9, 0.123456, 3.40282e+38}[random.IntN(6)] }
	for range n {
		p := &crawl.Judged{}
		p.Page = crawl.Page{Language: text(), Blocks: []string{text(), "", text()}, NoFollow: random.IntN(2) == 0, Unfollowed: []string{"", "", "scope.rules[0]"}[random.IntN(3)]}
		p.URL = url()
		path, alike := text(), random.IntN(3) == 0
		for range 1 + random.IntN(6) {
			l := crawl.Outlink{
				URL: url(), Hop: crawl.Hop("LERMX"[random.IntN(5)]), Context: text(), Anchor: text(), Block: random.IntN(5) - 1, TagPath: text(), Rel: text(),
				LinkFindings: crawl.LinkFindings{Level: text(), Prior: number()},
			}
			v := crawl.LinkVerdict{Score: number()}
			for _, name := range crawl.PartNames[:random.IntN(3)] {
				v.Parts = append(v.Parts, crawl.Part{Name: name, Score: number()})
			}
			if urls.PLD(urls.HostOf(l.URL)) != urls.PLD(urls.HostOf(p.URL)) { // of others features are written where all are the same
				v.LinkFeatures = []byte(text())
			}
			if alike && len(p.Links) > 0 {
				l, v = p.Links[0], p.Verdict.Links[0]
			}
			if len(v.LinkFeatures) == 0 {
				v.LinkFeatures = nil
			}
			p.Links, p.Verdict.Links = append(p.Links, l), append(p.Verdict.Links, v)
			want = append(want, LinkOf(p, path, len(p.Links)-1))
		}
		pages = append(pages, linkingPage{p.URL, path, p})
	}
	return pages, want
}

// inOneOrder sorts links for a comparison.
func inOneOrder(list []Link) []Link {
	slices.SortFunc(list, func(a, b Link) int { return cmp.Compare(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)) })
	return list
}

// TestLinks: the links of pages are read as they were written: all of them, and those to some partitions without the frames of others.
func TestLinks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := &countingStore{Store: dir}
	sizes := frameBytes
	t.Cleanup(func() { frameBytes = sizes })
	for round, n := range []int{0, 1, 1, 1, 2, 3, 5, 50, 3000} {
		frameBytes = [linkKinds]int{1 + random.IntN(4000), 1 + random.IntN(4000)}
		pages, want := randomPages(random, n)
		of := Stored{Key: fmt.Sprintf("links-%d", round)}
		var s linksSidecar
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			s.add(p)
		}
		if round%2 == 0 {
			s.owner = func(partition int) int { return partition%5 - 1 }
		}
		for range 2 { // as a second attempt to commit does
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
		}
		s.free()
		of.Bytes = int64(s.out.Len())
		if err := store.Put(t.Context(), of.Key, bytes.NewReader(s.out.Bytes()), of.Bytes); err != nil {
			t.Fatal(err)
		}
		var got []Link
		keep := func(l Link) error {
			got = append(got, l)
			return nil
		}
		if err := ReadLinks(t.Context(), store, of.Key, keep); err != nil {
			t.Fatal(err)
		}
		if inOneOrder(want); !reflect.DeepEqual(inOneOrder(got), want) {
			t.Fatalf("%d pages: %d links came back of %d, or others", n, len(got), len(want))
		}
		for range 10 {
			to := map[int]bool{}
			for range random.IntN(20) {
				if len(want) > 0 {
					to[partitionOf(want[random.IntN(len(want))].URL)] = true
				}
			}
			var mine []Link
			for _, l := range want {
				if to[partitionOf(l.URL)] {
					mine = append(mine, l)
				}
			}
			got, store.bytes = nil, 0
			if err := ReadLinksTo(t.Context(), store, of, func(p int) bool { return to[p] }, keep); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(inOneOrder(got), mine) {
				t.Fatalf("%d pages: %d links to %d partitions came back of %d, or others", n, len(got), len(to), len(mine))
			}
			if len(mine) == 0 && store.bytes > footerGuess+of.Bytes/2 && n > 100 {
				t.Errorf("%d bytes of %d were read for nothing", store.bytes, of.Bytes)
			}
		}
	}
}

// TestLinksOfOnePartition: a reader of the links to one partition reads little else.
func TestLinksOfOnePartition(t *testing.T) {
	sizes := frameBytes
	t.Cleanup(func() { frameBytes = sizes })
	frameBytes[away] = 4 << 10
	dir, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var s linksSidecar
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		p := &crawl.Judged{}
		p.URL = fmt.Sprintf("http://a.example/%d", i)
		for range 40 {
			p.Links = append(p.Links, crawl.Outlink{URL: fmt.Sprintf("http://h%d.example/%x", random.IntN(500), random.Uint64())})
			p.Verdict.Links = append(p.Verdict.Links, crawl.LinkVerdict{Score: random.Float64()})
		}
		s.add(linkingPage{p.URL, "L", p})
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	of := Stored{Key: "links", Bytes: int64(s.out.Len())}
	if err := dir.Put(t.Context(), of.Key, bytes.NewReader(s.out.Bytes()), of.Bytes); err != nil {
		t.Fatal(err)
	}
	store, n, p := &countingStore{Store: dir}, 0, partitionOf("http://h7.example/")
	err = ReadLinksTo(t.Context(), store, of, func(at int) bool { return at == p }, func(Link) error {
		n++
		return nil
	})
	if err != nil || n == 0 || store.bytes > of.Bytes/10 {
		t.Errorf("%d links, %d bytes of %d, %v", n, store.bytes, of.Bytes, err)
	}
}

// TestLinksByOwner: of four workers that own partitions here and there, each reads the links to its own and hardly any others.
func TestLinksByOwner(t *testing.T) {
	for name, owner := range map[string]func(int) int{"by owner": func(p int) int { return p % 4 }, "by partition": nil} {
		var s linksSidecar
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		s.owner = owner
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 200 {
			p := &crawl.Judged{}
			p.URL = fmt.Sprintf("http://a.example/%d", i)
			for range 6 {
				p.Links = append(p.Links, crawl.Outlink{URL: fmt.Sprintf("http://h%d.example/%x", random.IntN(500), random.Uint64())})
				p.Verdict.Links = append(p.Verdict.Links, crawl.LinkVerdict{Score: random.Float64()})
			}
			s.add(linkingPage{p.URL, "L", p})
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		footer := decodeFooter(t, s.out.Bytes())
		for n := range 4 {
			links := 0
			for _, f := range footer.Frames {
				if slices.ContainsFunc(f.Partitions, func(p int) bool { return p%4 == n }) {
					links += f.Links
				}
			}
			if few := links < 200*6/3; few != (owner != nil) {
				t.Errorf("%s: worker %d reads %d links of %d", name, n, links, 200*6)
			}
		}
	}
}

// decodeFooter reads the footer at the end of a sidecar.
func decodeFooter(t *testing.T, sidecar []byte) (f linksFooter) {
	t.Helper()
	text, _, err := footerText(sidecar)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFormerLinks: the two forms that former versions wrote are read.
func TestFormerLinks(t *testing.T) {
	store, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, want := randomPages(rand.New(rand.NewPCG(1, 2)), 300)
	lines := `{"page":"http://a.example/","path":"SL","language":"en","paragraphs":{"0":"Ravens are birds"},"contexts":["a/@href"],"url":["/b","http://b.example/"],` +
		`"hop":"L","block":[0,-1],"anchor":[null,"b"],"context":0,"score":[0.5,0.25],"parts":{"anchor":[0.5,null]}}` + "\n"
	var columns sidecar
	if err := columns.open(); err != nil {
		t.Fatal(err)
	}
	columns.line = []byte(lines)
	if err := errors.Join(columns.put(), columns.zip.Close()); err != nil {
		t.Fatal(err)
	}
	var each sidecar
	if err := each.open(); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].LinkFeatures = nil
		raw, err := json.Marshal(want[i])
		if err != nil {
			t.Fatal(err)
		}
		each.line = append(raw, '\n')
		if err := each.put(); err != nil {
			t.Fatal(err)
		}
	}
	if err := each.zip.Close(); err != nil {
		t.Fatal(err)
	}
	first := Link{Source: "http://a.example/", Path: "SL", Language: "en", HopLetter: "L", Paragraph: "Ravens are birds"}
	second := first
	first.Outlink = crawl.Outlink{URL: "http://a.example/b", Hop: crawl.HopLink, Context: "a/@href", Anchor: "Ravens are birds"}
	first.LinkVerdict = crawl.LinkVerdict{Score: 0.5, Parts: crawl.Parts{{Name: crawl.PartAnchor, Score: 0.5}}}
	second.Outlink, second.Paragraph = crawl.Outlink{URL: "http://b.example/", Hop: crawl.HopLink, Context: "a/@href", Anchor: "b", Block: -1}, ""
	second.LinkVerdict = crawl.LinkVerdict{Score: 0.25}
	for name, form := range map[string]struct {
		file *sidecar
		want []Link
	}{"a line for each link": {&each, want}, "a line for each page": {&columns, []Link{first, second}}, "empty": {&sidecar{}, nil}} {
		of := Stored{Key: strings.ReplaceAll(name, " ", "-"), Bytes: int64(form.file.out.Len())}
		if err := store.Put(t.Context(), of.Key, bytes.NewReader(form.file.out.Bytes()), of.Bytes); err != nil {
			t.Fatal(err)
		}
		var got, to []Link
		err := ReadLinks(t.Context(), store, of.Key, func(l Link) error {
			got = append(got, l)
			return nil
		})
		p := partitionOf("http://b.example/")
		errTo := ReadLinksTo(t.Context(), store, of, func(at int) bool { return at != p }, func(l Link) error {
			to = append(to, l)
			return nil
		})
		if err := errors.Join(err, errTo); err != nil || !reflect.DeepEqual(got, form.want) {
			t.Errorf("%s: %d links of %d, or others, %v", name, len(got), len(form.want), err)
		}
		if others := slices.DeleteFunc(form.want, func(l Link) bool { return partitionOf(l.URL) == p }); !slices.EqualFunc(to, others, func(a, b Link) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: %d links to other partitions, not %d", name, len(to), len(others))
		}
	}
}

// TestDamagedFooter: what cannot be believed is an error, not a sidecar without links.
func TestDamagedFooter(t *testing.T) {
	store, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	whole := (&linksFooter{Version: footerVersion, Frames: []linksFrame{{10, 1, []int{5}}}}).encode()
	for name, c := range map[string]struct {
		file  []byte
		words string
	}{
		"another version":      {(&linksFooter{Version: 9}).encode(), "version 9"},
		"cut at the front":     {whole[4:], "longer than the file"},
		"another magic number": {append([]byte{1}, whole[1:]...), "damaged"},
		"no JSON":              {bytes.Replace(whole, []byte("{"), []byte("["), 1), "damaged"},
	} {
		of := Stored{Key: strings.ReplaceAll(name, " ", "-"), Bytes: int64(len(c.file))}
		if err := store.Put(t.Context(), of.Key, bytes.NewReader(c.file), of.Bytes); err != nil {
			t.Fatal(err)
		}
		err := ReadLinksTo(t.Context(), store, of, func(int) bool { return true }, func(Link) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), of.Key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func partitionOf(url string) int { return ring.PartitionOf(urls.PLD(urls.HostOf(url))) }

// countingStore counts the bytes that are asked for.
type countingStore struct {
	Store
	bytes int64
}

func (s *countingStore) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s.bytes += length
	return s.Store.GetRange(ctx, key, offset, length)
}

// BenchmarkLinksTo reads the links of a segment of 300 pages that lead to the partitions of one of four workers, as a delivery does.
func BenchmarkLinksTo(b *testing.B) {
	dir, err := OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var s linksSidecar
	if err := s.open(); err != nil {
		b.Fatal(err)
	}
	s.owner = func(partition int) int { return partition % 4 }
	for i := range 300 {
		p := &crawl.Judged{}
		p.Page = crawl.Page{URL: fmt.Sprintf("http://www.h%d.example/%d", i%40, i), Blocks: []string{"a paragraph with links of a page to others"}}
		for j := range 10 {
			p.Links = append(p.Links, crawl.Outlink{URL: fmt.Sprintf("http://www.h%d.example/page/%d", (i+7*j+1)%400, i%9), Hop: crawl.HopLink, Context: "a/@href", Anchor: fmt.Sprint("link ", j), TagPath: "html body p a", Rel: "bookmark"})
			v := crawl.LinkVerdict{Score: float64(i*10+j) / 3000, LinkFeatures: bytes.Repeat([]byte{byte(i), byte(j)}, 30)}
			for _, name := range crawl.PartNames[:2] {
				v.Parts = append(v.Parts, crawl.Part{Name: name, Score: float64(j) / 10})
			}
			p.Verdict.Links = append(p.Verdict.Links, v)
		}
		s.add(linkingPage{p.URL, "L", p})
	}
	if err := s.close(); err != nil {
		b.Fatal(err)
	}
	of := Stored{Key: "links", Bytes: int64(s.out.Len())}
	if err := dir.Put(b.Context(), of.Key, bytes.NewReader(s.out.Bytes()), of.Bytes); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	links, start := 0, cputime.Used()
	for b.Loop() {
		err := ReadLinksTo(b.Context(), dir, of, func(p int) bool { return p%4 == 1 }, func(Link) error {
			links++
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cputime.Used()-start).Nanoseconds())/float64(links), "CPU-ns/link")
}

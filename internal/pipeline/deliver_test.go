package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// explained is all that a frontier says of the URLs that it knows.
func (r *rig) explained() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	r.must(r.Frontier.Crawl("c").URLs().Known(func(url, _ string) error {
		u, err := urls.Trusted(url)
		if err != nil {
			return err
		}
		x, err := r.Frontier.Crawl("c").URLs().Explain(u)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(x)
		out[url] = string(raw)
		return err
	}))
	return out
}

// TestDeliver: the owner of a partition queues from the sidecar what the batch's own worker would have queued from memory, to the last digit, and
// nothing of other partitions.
func TestDeliver(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	label := archive.Label{Crawl: "c", Batch: "a.example-17@w1.4", Nonce: "0123456789abcdef", Worker: "w1"}
	var result Result
	var pages []*Judged
	for i := range 20 {
		p := &Judged{}
		p.URL, p.NoFollow = fmt.Sprintf("http://a.example/%d", i), i == 3 || i == 4
		if i == 4 || i == 5 {
			p.Unfollowed = "scope.rules[0]"
		}
		for j := range 8 {
			hop := crawl.HopLink
			if j == 5 {
				hop = crawl.HopEmbed
			}
			p.Links = append(p.Links, crawl.Outlink{URL: fmt.Sprintf("http://h%d.example/%d", (i*j)%7, j), Hop: hop, TagPath: "html/body/a", Anchor: "x", Block: -1})
			p.Verdict.Links = append(p.Verdict.Links, crawl.LinkVerdict{
				Score: 1 / float64(3+i+j), Parts: crawl.Parts{{Name: crawl.PartAnchor, Score: 1 / float64(2+j)}}, LinkFeatures: []byte{byte(i), byte(j), 0, 255},
			})
		}
		result.Add(crawl.Outcome{URL: p.URL, Kind: crawl.OutcomeDone, Status: 200}, false, "SL", p, crawl.LinkNeeds{Places: true})
		pages = append(pages, p)
	}
	archivePages(t, store, label, pages...)
	mine := []int{partitionOf("h2.example"), partitionOf("h5.example")}
	web := func(d *crawl.Definition) { d.Scope.Within = crawl.WithinWeb }
	own, other := newRig(t, web), newRig(t, web)
	own.must(own.Frontier.Crawl("c").Commit(frontier.Commit{Batch: "b", Discoveries: result.Discoveries, Others: func(p frontier.Partition) bool {
		return int(p) != mine[0] && int(p) != mine[1]
	}}))
	a := Arrival{Segment: label, Run: 1, Partitions: mine}
	may := func(p frontier.Partition) error {
		if int(p) != mine[0] && int(p) != mine[1] {
			t.Errorf("partition %d is delivered", p)
		}
		return nil
	}
	before := other.explained()
	if err := other.Deliver(t.Context(), store, a, func(frontier.Partition) error { return ring.ErrStale }); !errors.Is(err, ring.ErrStale) || !maps.Equal(before, other.explained()) {
		t.Errorf("%v, or something was queued", err)
	}
	for range 2 {
		other.must(other.Deliver(t.Context(), store, a, may))
	}
	want, got := own.explained(), other.explained()
	if len(got) <= len(before) || !maps.Equal(got, want) {
		t.Errorf("the owner has\n%v, not\n%v", got, want)
	}
	a.Segment.Nonce = "fedcba9876543210"
	if err := other.Deliver(t.Context(), store, a, may); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("a segment that is not committed: %v", err)
	}
	a.Segment.Batch = "x"
	if err := other.Deliver(t.Context(), store, a, may); !isInput(err) {
		t.Errorf("a batch without a number: %v", err)
	}
}

// archivePages archives a segment of pages.
func archivePages(t *testing.T, store archive.Store, label archive.Label, pages ...*Judged) archive.Manifest {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	segment, err := archive.NewSegment(t.TempDir(), label, time.Unix(1_800_000_000, 0), func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	must(err)
	defer segment.Close()
	for _, p := range pages {
		header := "HTTP/1.1 200 OK\r\n\r\n"
		x := crawl.Exchange{URL: p.URL, Kind: crawl.ExchangePage, Path: "SL", HeaderBytes: int64(len(header))}
		x.Status = 200
		_, err := segment.Add(archive.Capture{
			Exchange: x, Request: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), Response: reader(header + p.URL), Header: reader(header), Body: reader(p.URL), Page: &p.Judged,
		})
		must(err)
	}
	m, err := segment.Commit(t.Context(), store)
	must(err)
	return m
}

// TestFollowedAlike: of a page that asks robots not to follow its links only what it embeds is queued, of a page that the scope rejects nothing: by its batch, by the owner of
// the links, from the archive, and when links are scored again.
func TestFollowedAlike(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var result Result
	var pages []*Judged
	for i, p := range []crawl.Page{{}, {NoFollow: true}, {Unfollowed: "scope.rules[0]"}, {NoFollow: true, Unfollowed: "scope.rules[0]"}} {
		j := &Judged{}
		j.Page = p
		j.URL = fmt.Sprintf("http://a.example/%d", i)
		for _, host := range []string{"a.example", "b.example"} {
			for _, hop := range []crawl.Hop{crawl.HopLink, crawl.HopEmbed, crawl.HopSpeculative, crawl.HopRedirect} {
				j.Links = append(j.Links, crawl.Outlink{URL: fmt.Sprintf("http://%s/%d/%s", host, i, hop), Hop: hop, Block: -1})
				j.Verdict.Links = append(j.Verdict.Links, crawl.LinkVerdict{Score: 0.5})
			}
		}
		result.Add(crawl.Outcome{URL: j.URL, Kind: crawl.OutcomeDone, Status: 200}, false, "SL", j, crawl.LinkNeeds{})
		pages = append(pages, j)
	}
	label := archive.Label{Crawl: "c", Batch: "a.example-17@w1.4", Nonce: "0123456789abcdef", Worker: "w1"}
	m := archivePages(t, store, label, pages...)
	want := []string{
		"http://a.example/0/E", "http://a.example/0/L", "http://a.example/0/R", "http://a.example/0/X", "http://a.example/1/E",
		"http://b.example/0/E", "http://b.example/0/L", "http://b.example/0/R", "http://b.example/0/X", "http://b.example/1/E",
	}
	of := func(list []crawl.Discovery) (urls []string) {
		for _, d := range list {
			urls = append(urls, d.URL)
		}
		slices.Sort(urls)
		return urls
	}
	queued := func(r *rig) (list []string) {
		for url := range r.explained() {
			if strings.Count(url, "/") == 4 {
				list = append(list, url)
			}
		}
		slices.Sort(list)
		return list
	}
	web := func(d *crawl.Definition) { d.Scope.Within = crawl.WithinWeb }
	newRig := func() *rig { return newRig(t, web) }
	got := map[string][]string{"the batch's own": of(result.Discoveries)}
	r := newRig()
	all := func(frontier.Partition) error { return nil }
	r.must(r.Deliver(t.Context(), store, Arrival{Segment: label, Run: 1, Partitions: []int{partitionOf("a.example"), partitionOf("b.example")}}, all))
	got["delivered"] = queued(r)
	r = newRig()
	plan, err := r.Frontier.Crawl("c").Plan()
	r.must(err)
	recovered, err := r.Recover(t.Context(), plan.Definition, store, m, plan.Archive)
	r.must(err)
	got["recovered"] = of(recovered.Discoveries)
	recovered, err = r.RecoverTo(t.Context(), plan.Definition, store, m, plan.Archive, func(int) bool { return true })
	r.must(err)
	got["recovered, by partitions"] = of(recovered.Discoveries)
	r.must(r.Restore(t.Context(), store, plan.Definition))
	got["restored"] = queued(r)
	for name, list := range got {
		if !slices.Equal(list, want) {
			t.Errorf("%s: %q", name, list)
		}
	}
	scored := 0
	links, err := readLinks(t.Context(), store, m)
	r.must(err)
	for _, l := range links {
		if !l.NoFollow {
			scored++
		}
	}
	if len(links) != 32 || scored != len(want) {
		t.Errorf("%d of %d links are scored again", scored, len(links))
	}
}

func partitionOf(host string) int { return ring.PartitionOf(urls.PLD(host)) }

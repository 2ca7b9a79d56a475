package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	segment, err := archive.NewSegment(t.TempDir(), label, time.Unix(1_800_000_000, 0), func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer segment.Close()
	var result Result
	for i := range 20 {
		p := &Judged{}
		p.URL, p.NoFollow = fmt.Sprintf("http://a.example/%d", i), i == 3
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
		read := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
		header := "HTTP/1.1 200 OK\r\n\r\n"
		x := crawl.Exchange{URL: p.URL, Kind: crawl.ExchangePage, Path: "SL", HeaderBytes: int64(len(header))}
		x.Status = 200
		if _, err := segment.Add(archive.Capture{
			Exchange: x, Request: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), Response: read(header + p.URL), Header: read(header), Body: read(p.URL), Page: &p.Judged,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := segment.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	of := func(url string) int { return ring.PartitionOf(urls.PLD(urls.HostOf(url))) }
	mine := []int{of("http://h2.example/"), of("http://h5.example/")}
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

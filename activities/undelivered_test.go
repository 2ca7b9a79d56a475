package activities

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestStaleBatch: a worker has archived a batch when the ring gives it up, and takes it back before the batch has delivered. The batch is committed
// without its links, so that nobody waits for its claims, and then delivers all of them, also to its own worker.
func TestStaleBatch(t *testing.T) {
	one := newRigOf(t, "one", t.TempDir(), nil)
	one.begin("owner", nil)
	in := one.batch()
	one.open(in, linkingToMany)
	one.must(one.do(one.Process, in))
	one.must(one.do(one.Commit, in))
	want := one.states()

	s := newSpreadRing(t, "v", "w")
	from := s.ownerOf("a.example")
	name := from.Settings.Worker
	in = from.batch()
	in.Spread = true
	from.open(in, linkingToMany)
	from.must(from.do(from.Process, in))
	s.lose(name) // the other makes its partitions again
	if answer := s.comeBack(name); !answer.Late {
		t.Fatalf("%+v", answer)
	}

	left := s.undelivered(from, in)
	if left.Stale == nil || len(left.To) > 0 || left.Waits > 0 || len(left.Stale.Partitions) < 30 {
		t.Fatalf("%+v", left)
	}
	in.Delivered, in.Owes = left.Stale.Partitions, true
	from.must(from.do(from.Commit, in))
	owing, err := from.Frontier.Crawl(rigCrawl).Watermark()
	if _, number, _ := frontier.BatchOf(in.Batch); err != nil || owing.Below > number {
		t.Errorf("watermark %+v passes batch %s, %v", owing, in.Batch, err)
	}
	if n := len(from.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()); n > 0 {
		t.Fatalf("%d claims", n)
	}
	s.play()
	for rest := *left.Stale; len(rest.Partitions) > 0; {
		out, err := call[UndeliveredResult](from, from.Route, RouteInput{in, rest})
		from.must(err)
		if len(out.To) == 0 || out.Waits > 0 {
			t.Fatalf("%+v", out)
		}
		in = s.deliver(in, out.To)
		rest.Partitions = slices.DeleteFunc(rest.Partitions, func(p int) bool { return slices.Contains(in.Delivered[len(left.Stale.Partitions):], p) })
	}
	_, err = call[UndeliveredResult](from, from.Route, RouteInput{in, DeliverInput{Crawl: rigCrawl, Batch: in.Batch, Run: 1}})
	from.must(err)
	if after, err := from.Frontier.Crawl(rigCrawl).Watermark(); err != nil || after.Below <= owing.Below {
		t.Errorf("watermark %+v when all is delivered, %v", after, err)
	}
	got := map[string]string{}
	for _, r := range s.workers {
		for url, state := range r.states() {
			if _, twice := got[url]; twice {
				t.Errorf("%s is with two workers", url)
			}
			got[url] = state
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d URLs, one worker has %d", len(got), len(want))
	}
}

// TestRest: what is left to deliver is all that Undelivered has said, without the partitions that have taken their links. It is not known from a step
// of an earlier version of which some partitions wait.
func TestRest(t *testing.T) {
	of := func(partitions ...int) DeliverInput { return DeliverInput{Batch: "b", Partitions: partitions} }
	to := func(owner string, partitions ...int) Delivery {
		return Delivery{Owner: owner, DeliverInput: of(partitions...)}
	}
	for _, c := range []struct {
		name      string
		said      UndeliveredResult
		delivered []int
		want      []int
		unknown   bool
	}{
		{"nothing is to be delivered", UndeliveredResult{}, nil, nil, true},
		{"nobody has taken any", UndeliveredResult{To: []Delivery{to("v", 1, 2), to("w", 3)}}, nil, []int{1, 2, 3}, false},
		{"one owner has", UndeliveredResult{To: []Delivery{to("v", 1, 2), to("w", 3)}}, []int{1, 2}, []int{3}, false},
		{"all have", UndeliveredResult{To: []Delivery{to("v", 1)}}, []int{1}, nil, false},
		{"one waits", UndeliveredResult{To: []Delivery{to("v", 1)}, Waits: 1, Left: &DeliverInput{Batch: "b", Partitions: []int{1, 4}}}, []int{1}, []int{4}, false},
		{"one waits, said by an earlier version", UndeliveredResult{To: []Delivery{to("v", 1)}, Waits: 1}, nil, nil, true},
	} {
		before := fmt.Sprintf("%+v %+v", c.said.To, c.said.Left)
		rest := c.said.Rest(c.delivered)
		if c.unknown != (rest == nil) || rest != nil && (rest.Batch != "b" || !slices.Equal(rest.Partitions, c.want)) {
			t.Errorf("%s: %+v, want %v", c.name, rest, c.want)
		}
		if after := fmt.Sprintf("%+v %+v", c.said.To, c.said.Left); after != before {
			t.Errorf("%s: what the step has said is %s, was %s", c.name, after, before)
		}
	}
}

// TestRenamedDelivers: a worker that the ring has renamed sends what a batch of its former name has found under that name, as the marks of what it has
// delivered before have it: links count once.
func TestRenamedDelivers(t *testing.T) {
	s := newSpreadRing(t, "v", "w", "z")
	from := s.ownerOf("a.example")
	in := from.linking()
	former := from.Settings.Worker
	from.Settings.Worker = "renamed"
	in.Holder = from.holder()
	out := s.undelivered(from, in)
	if len(out.To) != 2 {
		t.Fatalf("%+v", out)
	}
	for _, d := range out.To {
		if d.Worker != former {
			t.Errorf("%s gets a delivery of %s", d.Owner, d.Worker)
		}
	}
}

// TestCommitOfPartlyDelivered: of a batch whose links were delivered in part, to a partition that is its own worker's now, the commit delivers the others first; each link counts once.
func TestCommitOfPartlyDelivered(t *testing.T) {
	const links = 1300
	long := strings.Repeat("x", 1900) // so that a mutation takes one part
	s := newSpreadRing(t, "v", "w", "z")
	from := s.ownerOf("a.example")
	from.options.Table = 0 // as a worker: more links go into one transaction
	from.reopen()
	in := from.batch()
	in.Spread = true
	from.open(in, func(string) string {
		var text strings.Builder
		for i := range links {
			fmt.Fprintf(&text, `<p><a href="/%d%s">%d</a>`, i, long, i)
		}
		return text.String()
	})
	from.must(from.do(from.Process, in))
	d, err := from.deliveryOf(t.Context(), in)
	from.must(err)
	asked := 0
	err = from.deliver(t.Context(), d, []int{ring.PartitionOf("a.example")}, func(frontier.Partition) error {
		if asked++; asked > 2 {
			return ring.ErrNotNow
		}
		return nil
	})
	if n := len(from.states()); !errors.Is(err, ring.ErrNotNow) || n <= 1 || n >= links {
		t.Fatalf("%d URLs are delivered, %v", n, err)
	}
	from.must(from.do(from.Commit, in))
	if n := len(from.states()); n < links {
		t.Errorf("%d URLs are known, want %d", n, links)
	}
	for url := range from.states() {
		u, err := urls.Parse(url)
		from.must(err)
		if e, err := from.Frontier.Crawl(rigCrawl).URLs().Explain(u); err != nil || e.Links != 1 {
			t.Fatalf("%d links to %.40s are counted, want 1, %v", e.Links, url, err)
		}
	}
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// TestComesAgain: what a delivery fails for that the ring, or the crawl's begin, makes good is sent again; the rest is tried again as it is.
func TestComesAgain(t *testing.T) {
	for err, want := range map[error]bool{
		ring.ErrStale: true, ring.ErrNotNow: true, ring.ErrAhead: true, frontier.ErrMoving: true, frontier.ErrNotBegun: true, frontier.ErrNoCrawl: true,
		errors.New("the archive does not answer"): false, frontier.ErrClosed: false, &crawl.InputError{Message: "no"}: false, context.Canceled: false, nil: false,
	} {
		if got := comesAgain(err); got != want || err != nil && comesAgain(fmt.Errorf("deliver: %w", err)) != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}

// spreadRing is a ring of workers on one archive, played by the test.
type spreadRing struct {
	t       *testing.T
	state   *ring.State
	dir     string
	workers map[string]*rig
	owner   string // of the run
	tasks   map[string]*Tasks
}

func newSpreadRing(t *testing.T, names ...string) *spreadRing {
	s := &spreadRing{t: t, state: ring.New(ring.DefaultLimits()), dir: t.TempDir(), workers: map[string]*rig{}, tasks: map[string]*Tasks{}, owner: "owner"}
	for _, name := range names {
		s.join(name)
	}
	for _, name := range names { // by one epoch
		s.begin(name)
	}
	return s
}

func (s *spreadRing) begin(name string) {
	s.t.Helper()
	r := s.workers[name]
	definition := r.definition(func(d *crawl.Definition) { d.Spread, d.Order.Update = true, crawl.UpdateAvg }) // what URLs count of links shows one that is counted twice
	out, err := call[BeginResult](r, r.Begin, BeginInput{Definition: definition, Owner: s.owner, Holder: r.holder(), Run: 1})
	r.must(err)
	if out.Epoch != s.state.Epoch() || out.Run != 1 {
		s.t.Fatalf("%+v in epoch %d", out, s.state.Epoch())
	}
}

// join adds a worker, and plays what the ring asks until all is quiet.
func (s *spreadRing) join(name string) {
	s.t.Helper()
	now, member := time.Now(), NewMembership(name, name)
	answer := s.state.Register(now, ring.Registration{Name: name, Instance: name, Process: name, Queue: "muninn/" + name, Shards: 1})
	if !answer.Accepted {
		s.t.Fatal(answer.Reason)
	}
	member.Registered(now, answer)
	s.workers[name] = newRigOf(s.t, name, s.dir, member)
	s.tasks[name] = NewTasks(member, PartitionsOf(s.workers[name].Activities), time.Now)
	s.t.Cleanup(s.tasks[name].Wait)
	s.play()
}

// busy reports whether a task runs that waits for no batch: a rebuild may take long.
func (t *Tasks) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.running {
		if r.Act != ring.Export || !r.long {
			return true
		}
	}
	return false
}

// play does what the ring asks of the workers, as far as that can be done: partitions move from frontier to frontier.
func (s *spreadRing) play() {
	s.t.Helper()
	for quiet := 0; quiet < 10; quiet++ { // a partition with a batch is not exported
		for _, name := range slices.Sorted(maps.Keys(s.workers)) {
			r, epoch := s.workers[name], s.state.Epoch()
			r.Membership.Take(s.state.View(name))
			r.must(s.tasks[name].Pass(s.t.Context(), reporter(s.state, r.Membership)))
			select {
			case <-s.tasks[name].Ended():
				quiet = 0
			case <-time.After(5 * time.Millisecond):
			}
			if s.state.Epoch() != epoch || s.tasks[name].busy() {
				quiet = 0
			}
		}
	}
	for name, r := range s.workers {
		r.Membership.Take(s.state.View(name))
	}
}

// ownerOf is the worker that owns the partition of a host.
func (s *spreadRing) ownerOf(host string) *rig {
	s.t.Helper()
	owner, owned := s.state.View("").Owner(ring.PartitionOf(host))
	if !owned {
		s.t.Fatalf("nobody owns %s", host)
	}
	return s.workers[owner.Name]
}

// deliver sends what a view of the source says, and returns the batch with what was delivered. An empty answer is an error.
func (s *spreadRing) deliver(in BatchInput, to []Delivery) BatchInput {
	s.t.Helper()
	for _, d := range to {
		r := s.workers[d.Owner]
		out, err := call[DeliverResult](r, r.Deliver, d.DeliverInput)
		r.must(err)
		in.Delivered = append(in.Delivered, out.Delivered...)
	}
	return in
}

func (s *spreadRing) undelivered(r *rig, in BatchInput) UndeliveredResult {
	s.t.Helper()
	out, err := call[UndeliveredResult](r, r.Undelivered, in)
	r.must(err)
	return out
}

// linkingToMany is a page with links to many hosts, two of each.
func linkingToMany(string) string {
	var text strings.Builder
	text.WriteString("<title>A page</title><p>of some words")
	for i := range 40 {
		fmt.Fprintf(&text, ` <a href="http://h%d.example/">one</a> <a href="http://h%d.example/two">two</a>`, i, i)
	}
	return text.String()
}

// reopen opens the frontier of a rig again, as after a kill.
func (r *rig) reopen() {
	r.t.Helper()
	r.must(r.Frontier.Close())
	front, err := frontier.Open(r.data, r.options)
	r.must(err)
	r.Frontier, r.Engine.Frontier = front, front
	r.Engine.Drop(rigCrawl, "")
}

// withOneWorker is what a worker alone has after it has committed a page with links to many hosts, and how many URLs it counts.
func withOneWorker(t *testing.T) (states map[string]string, known int64) {
	t.Helper()
	one := newRigOf(t, "one", t.TempDir(), nil)
	one.begin("owner", nil)
	in := one.batch()
	one.open(in, linkingToMany)
	one.must(one.do(one.Process, in))
	one.must(one.do(one.Commit, in))
	status, err := one.Frontier.Crawl(rigCrawl).Status()
	one.must(err)
	return one.states(), status.Totals.Known
}

// linking processes the batch of a spread crawl that has such a page.
func (r *rig) linking() BatchInput {
	r.t.Helper()
	in := r.batch()
	in.Spread = true
	r.open(in, linkingToMany)
	r.must(r.do(r.Process, in))
	return in
}

// together is what the workers have, and how many URLs they count. No URL is with two of them.
func (s *spreadRing) together() (got map[string]string, known int64) {
	s.t.Helper()
	got = map[string]string{}
	for name, r := range s.workers {
		status, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		known += status.Totals.Known
		for url, state := range r.states() {
			if _, twice := got[url]; twice {
				s.t.Errorf("%s is with two workers, one of which is %s", url, name)
			}
			got[url] = state
		}
	}
	return got, known
}

// TestSpreadBatch: a page with links to many hosts, fetched by the owner of its partition: whatever happens between the archive and the
// commit, the workers have together what one worker would have.
func TestSpreadBatch(t *testing.T) {
	want, wantKnown := withOneWorker(t)

	for _, c := range []struct {
		name string
		play func(s *spreadRing, from *rig, in BatchInput, first UndeliveredResult) BatchInput
	}{
		{"nothing", func(s *spreadRing, _ *rig, in BatchInput, first UndeliveredResult) BatchInput {
			return s.deliver(in, first.To)
		}},
		{"everything is sent twice", func(s *spreadRing, _ *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.deliver(in, first.To)
			return s.deliver(in, first.To)
		}},
		{"the receiver is killed between write and answer", func(s *spreadRing, _ *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.deliver(in, first.To)
			s.workers[first.To[0].Owner].reopen()
			return s.deliver(in, first.To)
		}},
		{"another worker joins between view and delivery", func(s *spreadRing, _ *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.join("x")
			s.begin("x")
			late := s.deliver(in, first.To)
			if len(late.Delivered) >= len(first.To[0].Partitions)+len(first.To[1].Partitions) {
				s.t.Error("all former owners have taken what is not theirs any more")
			}
			return late
		}},
		{"the partitions move on between delivery and answer", func(s *spreadRing, _ *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.deliver(in, first.To) // the answers are lost
			s.join("x")
			s.begin("x")
			return in
		}},
		{"the source is killed before the commit", func(s *spreadRing, from *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.deliver(in, first.To)
			from.reopen()
			if out, err := call[OpenResult](from, from.Open, in); err != nil || !out.Archived {
				s.t.Fatalf("%+v, %v", out, err)
			}
			return in
		}},
		{"the source is killed before the commit, and its spool is lost", func(s *spreadRing, from *rig, in BatchInput, first UndeliveredResult) BatchInput {
			s.deliver(in, first.To)
			from.must(from.Spool.Batch(in.Crawl, in.Batch).Remove())
			from.reopen()
			if out, err := call[OpenResult](from, from.Open, in); err != nil || !out.Archived {
				s.t.Fatalf("%+v, %v", out, err)
			}
			return in
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w", "z")
			from := s.ownerOf("a.example")
			in := from.linking()
			if err := from.do(from.Commit, in); err == nil || !strings.Contains(err.Error(), "not delivered") {
				t.Fatalf("a commit before the delivery: %v", err)
			}
			first := s.undelivered(from, in)
			if len(first.To) != 2 || first.Waits > 0 {
				t.Fatalf("%+v", first)
			}
			in = c.play(s, from, in, first)
			for rounds := 0; ; rounds++ {
				left := s.undelivered(from, in)
				if len(left.To) == 0 && left.Waits == 0 {
					break
				}
				if rounds == 3 {
					t.Fatalf("after %d rounds %+v", rounds, left)
				}
				in = s.deliver(in, left.To)
			}
			from.must(from.do(from.Commit, in))
			from.must(from.do(from.Commit, in))

			got, known := s.together()
			if !maps.Equal(got, want) {
				t.Errorf("%d URLs, one worker has %d", len(got), len(want))
			}
			if known != wantKnown {
				t.Errorf("%d URLs are counted, one worker has %d", known, wantKnown)
			}
			if _, err := from.Spool.Batch(in.Crawl, in.Batch).Stat(fileLinks); err == nil {
				t.Error("the spool is not dropped")
			}
		})
	}
}

// slowStore does something when a segment is uploaded.
type slowStore struct {
	archive.Store
	meanwhile func()
}

func (s slowStore) Put(ctx context.Context, key string, data io.Reader, size int64) error {
	s.meanwhile()
	return s.Store.Put(ctx, key, data, size)
}

// TestUploadBeyondPermit: a worker that the ring gives up while it uploads a segment puts no manifest: another worker fetches the pages again.
func TestUploadBeyondPermit(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	from := s.ownerOf("a.example")
	in := from.batch()
	from.open(in, linkingToMany)
	uploads := 0
	from.through(func(store archive.Store) archive.Store {
		return slowStore{store, func() {
			if uploads++; uploads == 1 {
				now, name := time.Now(), from.Settings.Worker
				s.state.Lost(now, name, name)
				s.state.Tick(now.Add(ring.DefaultGrace))
				from.Membership.Take(s.state.View(name))
			}
		}}
	})
	err := from.do(from.Process, in)
	if uploads == 0 || !strings.Contains(fmt.Sprint(err), ring.ErrStale.Error()) {
		t.Errorf("%d uploads, %v", uploads, err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, archive.Layout{Crawl: rigCrawl}.Manifest("*")))
	if err != nil || len(files) > 0 {
		t.Errorf("manifests %v, %v", files, err)
	}
}

// TestDeliveriesAreBounded: a worker takes in so many deliveries at a time, and further ones wait, until they are cancelled.
func TestDeliveriesAreBounded(t *testing.T) {
	var g gate
	first, err := g.enter(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.enter(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a second one: %v", err)
	}
	first()
	if leave, err := g.enter(t.Context(), 1); err != nil {
		t.Error(err)
	} else {
		leave()
	}
}

// TestDeliveryRefused: a worker whose settings refuse a delivery names the setting, and trying it again does not help. The crawl holds at the batch's worker until
// the settings are changed. An archive that the crawl was begun with is read whatever is allowed since.
func TestDeliveryRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(receiver *rig, in *DeliverInput)
		want   string // "": it is delivered
	}{
		"less is allowed than at the begin": {change: func(receiver *rig, _ *DeliverInput) {
			receiver.Archives.Default, receiver.Archives.Allow = "s3://other", nil
		}},
		"another archive, which is not allowed": {func(receiver *rig, in *DeliverInput) {
			receiver.Archives.Allow, in.Where = nil, "s3://other"
		}, "archive-allow"},
		"another store of the same name": {func(_ *rig, in *DeliverInput) { in.Nonce = "fedcba9876543210" }, "s3-endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w")
			from := s.ownerOf("a.example")
			in := from.linking()
			first := s.undelivered(from, in).To[0]
			receiver, hold := s.workers[first.Owner], DeliveryHold(from.Activities)
			c.change(receiver, &first.DeliverInput)
			out, err := call[DeliverResult](receiver, receiver.Deliver, first.DeliverInput)
			if c.want == "" {
				if err != nil || len(out.Delivered) != len(first.Partitions) {
					t.Errorf("%+v, %v", out, err)
				}
				return
			}
			var final *temporal.ApplicationError
			if !errors.As(err, &final) || !final.NonRetryable() || !strings.Contains(final.Message(), c.want) {
				t.Fatalf("it ends with %v", err)
			}
			if reason := hold(rigCrawl); reason != "" {
				t.Errorf("the crawl holds before its worker knows: %s", reason)
			}
			in.Refused = final.Message()
			s.undelivered(from, in)
			if reason := hold(rigCrawl); !strings.Contains(reason, c.want) || hold("another")+hold("") != "" {
				t.Errorf("the crawl holds because of %q", reason)
			}
			in.Refused = ""
			s.undelivered(from, in)
			if reason := hold(rigCrawl); reason != "" {
				t.Errorf("the crawl still holds: %s", reason)
			}
		})
	}
}

// TestPermitOfAsks: Politeness ends the leases of a worker that the ring has given up only where its lanes have ended with its permit: in crawls
// that are spread.
func TestPermitOfAsks(t *testing.T) {
	s := newSpreadRing(t, "w")
	bound := newRig(t)
	bound.begin("owner", nil)
	for _, r := range []*rig{s.workers["w"], bound} {
		in := r.batch()
		if got := r.askOf(rigCrawl, r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()[0], crawl.Politeness{}, ""); got.Permit != (r != bound) {
			t.Errorf("%+v", got)
		}
	}
}

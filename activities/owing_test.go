package activities

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// starts is a Temporal that batches are started at.
type starts struct {
	client.Client
	batches []BatchInput
}

func (s *starts) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	s.batches = append(s.batches, args[0].(BatchInput))
	return nil, nil
}

// route delivers what a batch that is committed has left, until nothing is left.
func (s *spreadRing) route(from *rig, in BatchInput, left DeliverInput) {
	s.t.Helper()
	for rounds := 0; ; rounds++ {
		out, err := call[UndeliveredResult](from, from.Route, RouteInput{in, left})
		from.must(err)
		if len(out.To) == 0 && out.Waits == 0 {
			return
		}
		if rounds == 3 {
			s.t.Fatalf("after %d rounds %+v", rounds, out)
		}
		before := len(in.Delivered)
		in = s.deliver(in, out.To)
		left.Partitions = slices.DeleteFunc(left.Partitions, func(p int) bool { return slices.Contains(in.Delivered[before:], p) })
	}
}

// TestOwingBatch: a batch is committed while some of its links cannot be delivered, and gives its claims back. Whatever happens until they are, the
// workers have together what one worker would have, and count it once; until then the batch is in progress at its worker.
func TestOwingBatch(t *testing.T) {
	want, wantKnown := withOneWorker(t)

	const away = "v" // the worker that is lost
	// silent has a worker be lost, and back has it come back.
	silent := func(s *spreadRing, name string) {
		s.state.Lost(time.Now(), name, name)
		s.play()
	}
	back := func(s *spreadRing, name string) {
		s.t.Helper()
		answer := s.state.Register(time.Now(), ring.Registration{Name: name, Instance: name, Process: name, Queue: "muninn/" + name, Shards: 1, Epoch: 1})
		if !answer.Accepted {
			s.t.Fatalf("%+v", answer)
		}
		s.workers[name].Membership.Registered(time.Now(), answer)
		s.play()
	}
	for name, play := range map[string]func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput{
		"the owner comes back": func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput {
			back(s, away)
			return left
		},
		"the owner is given up": func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput {
			s.state.Tick(time.Now().Add(ring.DefaultGrace + time.Minute))
			delete(s.workers, away)
			s.play()
			return left
		},
		"its partitions become the batch's worker's own": func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput {
			s.state.Tick(time.Now().Add(ring.DefaultGrace + time.Minute))
			for name := range s.workers {
				if name != from.Settings.Worker {
					s.state.Lost(time.Now(), name, name)
				}
			}
			s.state.Tick(time.Now().Add(2 * ring.DefaultGrace))
			maps.DeleteFunc(s.workers, func(name string, _ *rig) bool { return name != from.Settings.Worker })
			s.play()
			return left
		},
		"the batch's worker is killed": func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput {
			from.reopen()
			back(s, away)
			return left
		},
		"its workflow is terminated": func(s *spreadRing, from *rig, in BatchInput, left DeliverInput) DeliverInput {
			back(s, away)
			temporal := &starts{}
			from.Client, from.Behind = temporal, Behind{}
			plan, err := from.Frontier.Crawl(rigCrawl).Plan()
			from.must(err)
			for range 2 { // it runs by the second time
				from.must(from.startOwing(s.t.Context(), plan))
			}
			if len(temporal.batches) != 1 {
				s.t.Fatalf("%d batches are started", len(temporal.batches))
			}
			again := temporal.batches[0]
			if again.Batch != in.Batch || again.Holder != from.holder() || !again.Spread || !again.Owes || len(again.Owed.Left.Partitions) != ring.Partitions || !again.Owed.Unsaid {
				s.t.Errorf("%+v", again)
			}
			return again.Owed.Left
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w", "z")
			from := s.ownerOf("a.example")
			if from.Settings.Worker == away {
				t.Fatal("the batch is of the worker that is lost")
			}
			in := from.linking()
			silent(s, away)
			first := s.undelivered(from, in)
			if first.Waits == 0 || first.Left == nil || len(first.To) != 1 || len(first.Left.Partitions) != first.Waits+len(first.To[0].Partitions) {
				t.Fatalf("%+v", first)
			}
			in = s.deliver(in, first.To)
			left := first.Rest(in.Delivered)
			if len(left.Partitions) != first.Waits || left.Nonce == "" {
				t.Fatalf("left is %+v", left)
			}
			in.Delivered, in.Owes = append(in.Delivered, left.Partitions...), true
			from.must(from.do(from.Commit, in))
			if n := len(from.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()); n > 0 || len(from.Behind.batches) != 1 {
				t.Fatalf("%d claims, it waits: %v", n, from.Behind.batches)
			}
			rest := play(s, from, in, *left)
			if idle, err := from.Frontier.Crawl(rigCrawl).Idle(); err != nil || idle.Idle {
				t.Errorf("%+v, %v", idle, err)
			}
			s.route(from, in, rest)
			if owing, err := from.Frontier.Crawl(rigCrawl).Owing(); err != nil || len(owing) > 0 || len(from.Behind.batches) > 0 {
				t.Errorf("%+v owe, %v; it waits: %v", owing, err, from.Behind.batches)
			}
			got, known := s.together()
			if len(s.workers) == 3 && (!maps.Equal(got, want) || known != wantKnown) {
				t.Errorf("%d URLs, %d counted; one worker has %d, %d", len(got), known, len(want), wantKnown)
			}
			for url := range want {
				if _, is := got[url]; !is {
					t.Errorf("%s is lost", url)
				}
			}
		})
	}
}

// TestOwingHold: a crawl claims nothing at a worker while too many of its batches owe there.
func TestOwingHold(t *testing.T) {
	r := newRig(t)
	r.begin("owner", nil)
	hold := OwingHold(r.Activities)
	for i := range MostOwing {
		if reason := hold(rigCrawl); reason != "" {
			t.Fatalf("with %d: %s", i, reason)
		}
		url := fmt.Sprintf("http://h%d.example/", i)
		r.must(r.Frontier.Crawl(rigCrawl).URLs().Offer(url, []crawl.Discovery{{URL: url, Path: "S", Score: 1}}))
		in := r.batch()
		r.must(r.Frontier.Crawl(rigCrawl).Commit(frontier.Commit{Batch: in.Batch, Owes: true}))
	}
	if reason := hold(rigCrawl); !strings.Contains(reason, fmt.Sprint(MostOwing)) || hold("") != "" || hold("another") != "" {
		t.Errorf("with %d: %q, of others %q, %q", MostOwing, reason, hold(""), hold("another"))
	}
	owing, err := r.Frontier.Crawl(rigCrawl).Owing()
	r.must(err)
	r.must(r.Frontier.Crawl(rigCrawl).Batch(owing[7].Batch).Delivered())
	if reason := hold(rigCrawl); reason != "" {
		t.Errorf("with one less: %s", reason)
	}
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// oddShards is a Temporal of shards some of which do not answer, and some of whose signals it does not take.
type oddShards struct {
	client.Client
	mu       sync.Mutex
	silent   map[int]bool
	refuses  map[int]bool
	asked    []int           // updates, by shard
	signals  []int           // that were tried
	patience []time.Duration // for the answer of those that are silent
	rounds   []politeness.Round
}

// meeting has rounds wait in the midst of an ask until each other one has come there, or has ended.
type meeting struct {
	all  *sync.WaitGroup
	come func() // once
}

type meetKey struct{}

var errTemporal = errors.New("it has too many signals")

func shardOfID(id string) (n int) {
	_, _ = fmt.Sscanf(id, names.PolitenessID(0)[:len(names.PolitenessID(0))-1]+"%d", &n)
	return n
}

func (s *oddShards) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if meet, is := ctx.Value(meetKey{}).(*meeting); is {
		meet.come()
		meet.all.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, r := shardOfID(o.WorkflowID), o.Args[0].(politeness.Round)
	s.asked = append(s.asked, n)
	if s.silent[n] {
		end, _ := ctx.Deadline()
		s.patience = append(s.patience, time.Until(end).Round(time.Second))
		return nil, context.DeadlineExceeded
	}
	s.rounds = append(s.rounds, r)
	return answeredAtOnce{out: RoundResult{Answer: politeness.Answer{Shard: n, Round: r.Round}, At: time.Now()}}, nil
}

func (s *oddShards) SignalWithStartWorkflow(_ context.Context, id, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := shardOfID(id)
	if s.signals = append(s.signals, n); s.refuses[n] {
		return nil, errTemporal
	}
	s.rounds = append(s.rounds, arg.(politeness.Round))
	return nil, nil
}

// oddRig is a worker over such shards, with a clock of its own.
type oddRig struct {
	*Activities
	t      *testing.T
	shards *oddShards
	now    time.Time
	round  int64
}

func newOddRig(t *testing.T, shards int) *oddRig {
	r := &oddRig{t: t, shards: &oddShards{silent: map[int]bool{}, refuses: map[int]bool{}}, now: time.Now()}
	r.Activities = overShards(t, shards, r.shards)
	r.Now = func() time.Time { return r.now }
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: rigSeed}}
	if _, err := r.Frontier.Begin("c", "owner", 0, d, []string{rigSeed}, false); err != nil {
		t.Fatal(err)
	}
	return r
}

// at is an address of a shard.
func (r *oddRig) at(shard int) string {
	for i := 0; ; i++ {
		if ip := fmt.Sprint("192.0.2.", i); Shard(ip, r.Settings.Shards) == shard {
			return ip
		}
	}
}

// release is one of an address of a shard, whose host rests or not.
func (r *oddRig) release(name string, shard int, rests bool) frontier.EndedLease {
	l := frontier.EndedLease{Lease: name, IP: r.at(shard), Number: 7, Next: r.now, Asked: true}
	if rests {
		l.Host, l.HostNext = name+".example", r.now.Add(time.Hour)
	}
	return l
}

// sends sends a round, and returns which leases it confirms, now or with the answers that come as signals.
func (r *oddRig) sends(round frontier.Round, first bool) (leases []string, answered []RoundResult, sent int, err error) {
	r.round++
	r.shards.asked, r.shards.signals, r.shards.patience, r.shards.rounds = nil, nil, nil, nil
	answered, sent, confirm, err := r.sendRound(r.t.Context(), ClaimInput{Crawl: "c", Round: r.round, Reply: "r", First: first}, round, crawl.Politeness{}, r.now)
	for _, a := range answered {
		confirm.Add(a.confirm)
	}
	for _, k := range confirm.Releases {
		leases = append(leases, k.Lease)
	}
	slices.Sort(leases)
	slices.Sort(r.shards.asked)
	return leases, answered, sent, err
}

func (r *oddRig) waits(l frontier.EndedLease) time.Duration {
	return r.later("c")(l.IP, l.Key()).Sub(r.now)
}

// TestUnsentNotice: a notice that Temporal does not take fails no round. The release of which it says something is sent to its own shard, and is not confirmed: it is sent once more after 30 seconds,
// as long as its host rests. What else the round has is confirmed.
func TestUnsentNotice(t *testing.T) {
	r := newOddRig(t, 3)
	r.shards.refuses[2] = true
	rests, plain := r.release("rests", 0, true), r.release("plain", 0, false)
	both := frontier.Round{Releases: []frontier.EndedLease{rests, plain}}
	leases, _, sent, err := r.sends(both, false)
	if err != nil || sent != 0 || !slices.Equal(leases, []string{"plain"}) || !slices.Equal(r.shards.asked, []int{0}) || !slices.Equal(r.shards.signals, []int{1, 2}) {
		t.Errorf("%q are confirmed, %d answer later, %v are asked, %v signalled, %v", leases, sent, r.shards.asked, r.shards.signals, err)
	}
	if r.waits(rests) != silentEvery || r.waits(plain) > 0 {
		t.Errorf("they wait %v and %v", r.waits(rests), r.waits(plain))
	}
	r.now = r.now.Add(silentEvery / 2) // another release meanwhile
	other := r.release("other", 0, true)
	if leases, _, _, err = r.sends(frontier.Round{Releases: []frontier.EndedLease{other}}, false); err != nil || len(leases) > 0 || !slices.Equal(r.shards.signals, []int{1}) {
		t.Errorf("%q are confirmed, %v signalled, %v", leases, r.shards.signals, err)
	}
	r.now = r.now.Add(silentEvery / 2)
	r.shards.refuses[2] = false
	if r.waits(rests) > 0 {
		t.Errorf("it waits for %v", r.waits(rests))
	}
	if leases, _, _, err = r.sends(both, false); err != nil || !slices.Equal(leases, []string{"plain", "rests"}) || !slices.Equal(r.shards.signals, []int{1, 2}) {
		t.Errorf("%q are confirmed, %v signalled, %v", leases, r.shards.signals, err)
	}
	r.shards.refuses[2] = true
	r.now = r.now.Add(time.Hour) // the rest is over: nothing is lost that anybody needs
	if leases, _, _, err = r.sends(both, false); err != nil || !slices.Equal(leases, []string{"plain", "rests"}) {
		t.Errorf("%q are confirmed, %v", leases, err)
	}
}

// TestSilentShardIsSentLittle: a shard that does not answer is waited for 20 seconds once, and gets one signal in 30 seconds, whatever rounds have for it. What is asked of it meanwhile is answered busy, what
// is to be released or renewed waits. An answer ends that.
func TestSilentShardIsSentLittle(t *testing.T) {
	r := newOddRig(t, 2)
	r.shards.silent[1] = true
	mine, noticed := r.release("mine", 1, false), r.release("noticed", 0, true)
	round := frontier.Round{
		Claims:   []frontier.Claim{{ID: "claim-0", PLD: "a.example", IP: r.at(0)}, {ID: "claim-1", PLD: "b.example", IP: r.at(1)}},
		Releases: []frontier.EndedLease{mine, noticed},
	}
	leases, answered, sent, err := r.sends(round, false)
	if err != nil || len(answered) != 1 || sent != 1 || !slices.Equal(leases, []string{"mine", "noticed"}) || !slices.Equal(r.shards.patience, []time.Duration{roundWait}) || !slices.Equal(r.shards.signals, []int{1}) {
		t.Errorf("at first: %q, %d answers, %d later, waited %v, signals %v, %v", leases, len(answered), sent, r.shards.patience, r.shards.signals, err)
	}
	signals := 0
	for range 90 { // rounds, one a second
		r.now = r.now.Add(time.Second)
		leases, answered, sent, err = r.sends(round, false)
		signals += len(r.shards.signals)
		switch {
		case err != nil || sent > 0:
			t.Fatalf("%d answer later, %v", sent, err)
		case len(r.shards.signals) > 0:
			if len(answered) != 1 || !slices.Equal(leases, []string{"noticed"}) || !slices.Equal(r.shards.patience, []time.Duration{silentWait}) || len(r.shards.rounds[1].Asks) != 1 {
				t.Fatalf("with a signal: %q, %d answers, waited %v, %+v", leases, len(answered), r.shards.patience, r.shards.rounds)
			}
		case len(leases) > 0 || len(answered) != 2 || !slices.Equal(answered[1].Answer.Busy, []string{"claim-1"}) || answered[1].Answer.Shard != 1 || answered[1].Answer.Round != r.round ||
			!slices.Equal(r.shards.asked, []int{0}) || r.waits(mine) <= 0 || r.waits(noticed) <= 0:
			t.Fatalf("without one: %q, %+v, %v are asked, they wait %v and %v", leases, answered, r.shards.asked, r.waits(mine), r.waits(noticed))
		}
	}
	if signals != 3 {
		t.Errorf("%d signals in 90 seconds", signals)
	}
	r.shards.silent[1] = false
	r.now = r.now.Add(silentEvery)
	for range 2 {
		r.now = r.now.Add(time.Second)
		if leases, answered, _, err = r.sends(round, false); err != nil || len(answered) != 2 || !slices.Equal(leases, []string{"mine", "noticed"}) || !slices.Equal(r.shards.asked, []int{0, 1}) || len(r.shards.signals) > 0 {
			t.Errorf("it answers: %q, %d answers, %v are asked, signals %v, %v", leases, len(answered), r.shards.asked, r.shards.signals, err)
		}
	}
}

// TestSilentShardOfManyCrawls: rounds of eight crawls that come at a time send a shard that does not answer one signal together, with asks or with notices.
func TestSilentShardOfManyCrawls(t *testing.T) {
	r := newOddRig(t, 2)
	r.shards.silent[1], r.shards.silent[0] = true, true
	asks := frontier.Round{Claims: []frontier.Claim{{ID: "claim-1", PLD: "b.example", IP: r.at(1)}}}
	for _, round := range []frontier.Round{asks, {Claims: []frontier.Claim{{ID: "claim-0", PLD: "a.example", IP: r.at(0)}}}} {
		if _, _, sent, err := r.sends(round, false); err != nil || sent != 1 {
			t.Fatalf("%d answer later, %v", sent, err)
		}
	}
	for _, test := range []struct {
		round frontier.Round
		want  []int
	}{{asks, []int{1}}, {frontier.Round{Releases: []frontier.EndedLease{r.release("rests", 0, true)}}, []int{0, 1}}} {
		r.now = r.now.Add(silentEvery)
		r.shards.signals = nil
		all, rounds := &sync.WaitGroup{}, sync.WaitGroup{}
		all.Add(8)
		for range 8 {
			meet := &meeting{all, sync.OnceFunc(all.Done)}
			rounds.Go(func() {
				defer meet.come()
				if _, _, _, err := r.sendRound(context.WithValue(t.Context(), meetKey{}, meet), ClaimInput{Crawl: "c", Round: 9, Reply: "r"}, test.round, crawl.Politeness{}, r.now); err != nil {
					t.Error(err)
				}
			})
		}
		rounds.Wait()
		slices.Sort(r.shards.signals)
		if !slices.Equal(r.shards.signals, test.want) {
			t.Errorf("signals to %v, want %v", r.shards.signals, test.want)
		}
	}
}

// TestNoticesToAShardThatIsNotAsked: one of which this worker learns nothing, because it asks it nothing, gets notices at once, and after a hundred of them one signal in 30 seconds.
func TestNoticesToAShardThatIsNotAsked(t *testing.T) {
	r := newOddRig(t, 2)
	signals, unconfirmed := 0, 0
	send := func(rounds int) {
		t.Helper()
		for range rounds {
			r.now = r.now.Add(time.Second)
			leases, _, _, err := r.sends(frontier.Round{Releases: []frontier.EndedLease{r.release("rests", 0, true)}}, false)
			if err != nil {
				t.Fatal(err)
			}
			signals += len(r.shards.signals)
			unconfirmed += 1 - len(leases)
		}
	}
	if send(maxUnheard); signals != maxUnheard || unconfirmed > 0 {
		t.Errorf("%d signals, %d rounds do not confirm", signals, unconfirmed)
	}
	if send(90); signals != maxUnheard+3 || unconfirmed != 87 {
		t.Errorf("%d signals, %d rounds do not confirm", signals, unconfirmed)
	}
	if _, _, _, err := r.sends(frontier.Round{Claims: []frontier.Claim{{ID: "claim", PLD: "a.example", IP: r.at(1)}}}, false); err != nil { // which it answers
		t.Fatal(err)
	}
	signals, unconfirmed = 0, 0
	if send(10); signals != 10 || unconfirmed > 0 {
		t.Errorf("after an answer %d signals, %d rounds do not confirm", signals, unconfirmed)
	}
}

// TestLostRound: a shard that neither answers nor can be sent a signal takes its own part from the round, which fails if no shard can, or if it is the first of a controller.
func TestLostRound(t *testing.T) {
	r := newOddRig(t, 2)
	r.shards.silent[1], r.shards.refuses[1] = true, true
	round := frontier.Round{
		Claims:   []frontier.Claim{{ID: "claim", PLD: "b.example", IP: r.at(1)}},
		Releases: []frontier.EndedLease{r.release("mine", 1, false), r.release("noticed", 0, true), r.release("plain", 0, false)},
	}
	leases, answered, sent, err := r.sends(round, false)
	if err != nil || sent != 0 || !slices.Equal(leases, []string{"plain"}) || len(answered) != 2 || !slices.Equal(answered[1].Answer.Busy, []string{"claim"}) || r.waits(round.Releases[0]) != silentEvery {
		t.Errorf("%q are confirmed, %d answer later, %+v, %v; it waits %v", leases, sent, answered, err, r.waits(round.Releases[0]))
	}
	if _, _, _, err = r.sends(round, true); !errors.Is(err, errTemporal) {
		t.Errorf("the first round: %v", err)
	}
	r = newOddRig(t, 2)
	r.shards.silent, r.shards.refuses = map[int]bool{0: true, 1: true}, map[int]bool{0: true, 1: true}
	for range 2 {
		if _, _, _, err = r.sends(round, false); !errors.Is(err, errTemporal) {
			t.Errorf("while nothing is taken: %v", err)
		}
	}
}

// TestRoundsDoNotSpin: a release that waits, because a shard does not answer, ends no round before its time, and neither does the crawl end without it.
func TestRoundsDoNotSpin(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in)) // nothing is in progress
	var until time.Time
	claim := func(round int64, end time.Time) frontier.Round {
		t.Helper()
		out, err := r.Frontier.Crawl(rigCrawl).Claims().Claim(t.Context(), frontier.Want{
			Round: round, Until: end, ClaimNothing: true, Later: func(string, politeness.Key) time.Time { return until },
		})
		r.must(err)
		return out
	}
	until = time.Now().Add(time.Hour)
	if round := claim(2, time.Now().Add(20*time.Millisecond)); len(round.Releases) > 0 || round.Idle {
		t.Errorf("it does not wait: %+v", round)
	}
	until = time.Now().Add(20 * time.Millisecond)
	if round := claim(3, time.Now().Add(time.Minute)); len(round.Releases) != 1 || time.Now().Before(until) || time.Since(until) > 30*time.Second { // else it looks again after a minute
		t.Errorf("it waits for longer, or not: %+v", round)
	}
}

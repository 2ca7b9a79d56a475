package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// oddShards is a Temporal of shards some of which do not answer, or late, and some of whose signals it does not take.
type oddShards struct {
	client.Client
	mu      sync.Mutex
	silent  map[int]bool
	late    map[int]time.Duration // after how long they answer
	refuses map[int]bool
	asked   []int // updates, by shard
	signals []int // that were tried
	rounds  []politeness.Round
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
	n, r := shardOfID(o.WorkflowID), o.Args[0].(politeness.Round)
	s.mu.Lock()
	s.asked = append(s.asked, n)
	comes := make(<-chan time.Time)
	if !s.silent[n] {
		comes = time.After(s.late[n])
	}
	s.mu.Unlock()
	select {
	case <-comes:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds = append(s.rounds, r)
	return answeredAtOnce{out: RoundResult{Answer: politeness.Answer{Shard: n, Round: r.Round}, At: time.Now()}}, nil
}

func (s *oddShards) SignalWithStartWorkflow(ctx context.Context, id, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := shardOfID(id)
	if s.signals = append(s.signals, n); ctx.Err() != nil || s.refuses[n] {
		return nil, errors.Join(ctx.Err(), errTemporal)
	}
	s.rounds = append(s.rounds, arg.(politeness.Round))
	return nil, nil
}

// oddRig is a worker over such shards.
type oddRig struct {
	*Activities
	t      *testing.T
	shards *oddShards
	round  int64
	took   time.Duration // the last round
}

// withOddShards runs a test of such a worker, with a clock that moves when all wait.
func withOddShards(t *testing.T, shards int, test func(t *testing.T, r *oddRig)) {
	t.Helper()
	r := &oddRig{shards: &oddShards{silent: map[int]bool{}, late: map[int]time.Duration{}, refuses: map[int]bool{}}}
	r.Activities = overShards(t, shards, r.shards)
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: rigSeed}}
	if _, err := r.Frontier.Begin("c", "owner", 0, d, []string{rigSeed}, false); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r.t = t
		defer time.Sleep(roundWait) // until the last update ends
		test(t, r)
	})
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
	l := frontier.EndedLease{Lease: name, IP: r.at(shard), Number: 7, Next: time.Now(), Asked: true}
	if rests {
		l.Host, l.HostNext = name+".example", time.Now().Add(time.Hour)
	}
	return l
}

// asks is a round that asks a shard for a lease.
func (r *oddRig) asks(shard int) frontier.Round {
	return frontier.Round{Claims: []frontier.Claim{{ID: fmt.Sprint("claim-", shard), PLD: "a.example", IP: r.at(shard)}}}
}

// sends sends a round, and returns which leases it confirms, now or with the answers that come as signals.
func (r *oddRig) sends(round frontier.Round, first bool) (leases []string, answered []RoundResult, sent int, err error) {
	return r.sendsBy(r.t.Context(), round, first)
}

func (r *oddRig) sendsBy(ctx context.Context, round frontier.Round, first bool) (leases []string, answered []RoundResult, sent int, err error) {
	r.round++
	r.shards.mu.Lock() // an update of an earlier round may still be in progress
	r.shards.asked, r.shards.signals, r.shards.rounds = nil, nil, nil
	r.shards.mu.Unlock()
	began := time.Now()
	answered, sent, confirm, err := r.sendRound(ctx, ClaimInput{Crawl: "c", Round: r.round, Reply: "r", First: first}, round, crawl.Politeness{}, began)
	r.took = time.Since(began)
	for _, a := range answered {
		confirm.Add(a.confirm)
	}
	for _, k := range confirm.Releases {
		leases = append(leases, k.Lease)
	}
	r.shards.mu.Lock()
	defer r.shards.mu.Unlock()
	for _, list := range [][]int{r.shards.asked, r.shards.signals} {
		slices.Sort(list)
	}
	slices.Sort(leases)
	return leases, answered, sent, err
}

func (r *oddRig) waits(l frontier.EndedLease) time.Duration {
	return time.Until(r.later("c")(l.IP, l.Key()))
}

// TestUnsentNotice: a notice that Temporal does not take fails no round. The release of which it says something is sent to its own shard, and is not confirmed: it is sent once more after 30 seconds,
// as long as its host rests, or if it slows its host down. What else the round has is confirmed.
func TestUnsentNotice(t *testing.T) {
	withOddShards(t, 3, func(t *testing.T, r *oddRig) {
		r.shards.refuses[2] = true
		rests, plain, trouble := r.release("rests", 0, true), r.release("plain", 0, false), r.release("trouble", 0, true)
		trouble.HostNext, trouble.Trouble = time.Time{}, politeness.TroubleBusy
		all := frontier.Round{Releases: []frontier.EndedLease{rests, plain, trouble}}
		leases, _, sent, err := r.sends(all, false)
		if err != nil || sent != 0 || !slices.Equal(leases, []string{"plain"}) || !slices.Equal(r.shards.asked, []int{0}) || !slices.Equal(r.shards.signals, []int{1, 2}) {
			t.Errorf("%q are confirmed, %d answer later, %v are asked, %v signalled, %v", leases, sent, r.shards.asked, r.shards.signals, err)
		}
		if r.waits(rests) != silentEvery || r.waits(trouble) != silentEvery || r.waits(plain) > 0 {
			t.Errorf("they wait %v, %v and %v", r.waits(rests), r.waits(trouble), r.waits(plain))
		}
		time.Sleep(silentEvery / 2) // another release meanwhile
		other := r.release("other", 0, true)
		if leases, _, _, err = r.sends(frontier.Round{Releases: []frontier.EndedLease{other}}, false); err != nil || len(leases) > 0 || !slices.Equal(r.shards.signals, []int{1}) {
			t.Errorf("%q are confirmed, %v signalled, %v", leases, r.shards.signals, err)
		}
		if r.waits(other) != silentEvery/2 {
			t.Errorf("the other one waits %v, longer than the shard", r.waits(other))
		}
		time.Sleep(silentEvery / 2)
		if r.waits(rests) > 0 {
			t.Errorf("it waits for %v", r.waits(rests))
		}
		r.shards.silent[2], r.shards.refuses[2] = true, false
		if leases, _, _, err = r.sends(all, false); err != nil || !slices.Equal(leases, []string{"plain", "rests", "trouble"}) || !slices.Equal(r.shards.signals, []int{1, 2}) {
			t.Errorf("%q are confirmed, %v signalled, %v", leases, r.shards.signals, err)
		}
		r.shards.refuses[2] = true
		time.Sleep(time.Hour) // the rest is over: nothing is lost that anybody needs
		if leases, _, _, err = r.sends(all, false); err != nil || !slices.Equal(leases, []string{"plain", "rests"}) {
			t.Errorf("%q are confirmed, %v", leases, err)
		}
	})
}

// TestSilentShardIsSentLittle: a shard that does not answer is waited for 20 seconds once, and gets one signal in 30 seconds, whatever rounds have for it. What is asked of it meanwhile is answered busy, what
// is to be released or renewed waits. An answer ends that.
func TestSilentShardIsSentLittle(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1] = true
		mine, noticed := r.release("mine", 1, false), r.release("noticed", 0, true)
		round := frontier.Round{Claims: slices.Concat(r.asks(0).Claims, r.asks(1).Claims), Releases: []frontier.EndedLease{mine, noticed}}
		leases, answered, sent, err := r.sends(round, false)
		if err != nil || len(answered) != 1 || sent != 1 || !slices.Equal(leases, []string{"mine", "noticed"}) || r.took != roundWait || !slices.Equal(r.shards.signals, []int{1}) {
			t.Errorf("at first: %q, %d answers, %d later, waited %v, signals %v, %v", leases, len(answered), sent, r.took, r.shards.signals, err)
		}
		signals := 0
		for range 90 { // rounds, one a second
			time.Sleep(time.Second)
			leases, answered, sent, err = r.sends(round, false)
			signals += len(r.shards.signals)
			switch {
			case err != nil || sent > 0:
				t.Fatalf("%d answer later, %v", sent, err)
			case len(r.shards.signals) > 0:
				if len(answered) != 1 || !slices.Equal(leases, []string{"noticed"}) || r.took != silentWait || len(r.shards.rounds[1].Asks) != 1 {
					t.Fatalf("with a signal: %q, %d answers, waited %v, %+v", leases, len(answered), r.took, r.shards.rounds)
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
		time.Sleep(silentEvery)
		for range 2 {
			time.Sleep(time.Second)
			if leases, answered, _, err = r.sends(round, false); err != nil || len(answered) != 2 || !slices.Equal(leases, []string{"mine", "noticed"}) || !slices.Equal(r.shards.asked, []int{0, 1}) || len(r.shards.signals) > 0 {
				t.Errorf("it answers: %q, %d answers, %v are asked, signals %v, %v", leases, len(answered), r.shards.asked, r.shards.signals, err)
			}
		}
	})
}

// TestSlowShardIsNotSilent: a shard that was silent and answers after five seconds, which is later than a round waits for it, is asked again as any other as soon as it has answered.
func TestSlowShardIsNotSilent(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1] = true
		if _, _, sent, err := r.sends(r.asks(1), false); err != nil || sent != 1 {
			t.Fatalf("%d answer later, %v", sent, err)
		}
		r.shards.silent[1], r.shards.late[1] = false, 5*time.Second
		time.Sleep(silentEvery)
		if _, answered, _, err := r.sends(r.asks(1), false); err != nil || len(answered) > 0 || r.took != silentWait || !slices.Equal(r.shards.signals, []int{1}) {
			t.Errorf("%d answers after %v, %v signalled, %v", len(answered), r.took, r.shards.signals, err)
		}
		time.Sleep(r.shards.late[1] - silentWait - time.Millisecond)
		if _, answered, _, err := r.sends(r.asks(1), false); err != nil || len(answered) != 1 || len(answered[0].Answer.Busy) != 1 || len(r.shards.asked) > 0 {
			t.Errorf("before its answer: %+v, %v are asked, %v", answered, r.shards.asked, err)
		}
		time.Sleep(2 * time.Millisecond)
		if _, answered, _, err := r.sends(r.asks(1), false); err != nil || len(answered) != 1 || len(answered[0].Answer.Busy) > 0 || r.took != r.shards.late[1] || len(r.shards.signals) > 0 {
			t.Errorf("after its answer: %+v after %v, %v signalled, %v", answered, r.took, r.shards.signals, err)
		}
	})
}

// TestEndedRoundMarksNoShard: what an activity could not send because it was ended says nothing of the shards: the notices, asks and signals of other rounds are sent.
func TestEndedRoundMarksNoShard(t *testing.T) {
	withOddShards(t, 3, func(t *testing.T, r *oddRig) {
		ends := func(after time.Duration, round frontier.Round) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(after, cancel).Stop()
			if _, _, _, err := r.sendsBy(ctx, round, false); !errors.Is(err, context.Canceled) || r.took > after {
				t.Errorf("it ends after %v: %v", r.took, err)
			}
		}
		rests := frontier.Round{Releases: []frontier.EndedLease{r.release("rests", 0, true)}}
		r.shards.silent[0] = true
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, _, err := r.sendsBy(ctx, rests, false); !errors.Is(err, context.Canceled) {
			t.Errorf("a round that is over: %v", err)
		}
		ends(time.Second, rests)
		r.shards.silent[0] = false
		if leases, answered, _, err := r.sends(rests, false); err != nil || len(answered) != 1 || len(leases) != 1 || !slices.Equal(r.shards.signals, []int{1, 2}) {
			t.Errorf("another round: %q, %d answers, %v signalled, %v", leases, len(answered), r.shards.signals, err)
		}
		r.shards.silent[1] = true
		if _, _, sent, err := r.sends(r.asks(1), false); err != nil || sent != 1 {
			t.Fatalf("%d answer later, %v", sent, err)
		}
		time.Sleep(silentEvery)
		ends(time.Second, r.asks(1))
		if _, _, _, err := r.sends(r.asks(1), false); err != nil || r.took != silentWait || !slices.Equal(r.shards.signals, []int{1}) {
			t.Errorf("a silent shard: waited %v, %v signalled, %v", r.took, r.shards.signals, err)
		}
	})
}

// TestAnswerToAnotherRound: a shard that has answered one round while another got no answer is not silent.
func TestAnswerToAnotherRound(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1] = true
		var rounds sync.WaitGroup
		rounds.Go(func() {
			_, sent, _, err := r.sendRound(t.Context(), ClaimInput{Crawl: "c", Round: 9, Reply: "r"}, r.asks(1), crawl.Politeness{}, time.Now())
			if err != nil || sent != 1 {
				t.Errorf("%d answer later, %v", sent, err)
			}
		})
		synctest.Wait() // it waits for its answer
		r.shards.silent[1] = false
		time.Sleep(roundWait / 2)
		for _, what := range []string{"meanwhile", "afterwards"} {
			if _, answered, _, err := r.sends(r.asks(1), false); err != nil || len(answered) != 1 || len(answered[0].Answer.Busy) > 0 {
				t.Errorf("%s: %+v, %v", what, answered, err)
			}
			rounds.Wait()
		}
	})
}

// TestSilentShardOfManyCrawls: rounds of eight crawls that come at a time send a shard that does not answer one signal together, with asks or with notices.
func TestSilentShardOfManyCrawls(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1], r.shards.silent[0] = true, true
		for n := range 2 {
			if _, _, sent, err := r.sends(r.asks(n), false); err != nil || sent != 1 {
				t.Fatalf("%d answer later, %v", sent, err)
			}
		}
		for _, test := range []struct {
			round frontier.Round
			want  []int
		}{{r.asks(1), []int{1}}, {frontier.Round{Releases: []frontier.EndedLease{r.release("rests", 0, true)}}, []int{0, 1}}} {
			time.Sleep(silentEvery)
			r.shards.signals = nil
			all, rounds := &sync.WaitGroup{}, sync.WaitGroup{}
			all.Add(8)
			for range 8 {
				meet := &meeting{all, sync.OnceFunc(all.Done)}
				rounds.Go(func() {
					defer meet.come()
					if _, _, _, err := r.sendRound(context.WithValue(t.Context(), meetKey{}, meet), ClaimInput{Crawl: "c", Round: 9, Reply: "r"}, test.round, crawl.Politeness{}, time.Now()); err != nil {
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
	})
}

// TestOwedNoticesComeDueTogether: the one signal in 30 seconds to a shard that does not answer takes along the notices of all releases that wait for it, though each round has new ones.
func TestOwedNoticesComeDueTogether(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1] = true
		if _, _, sent, err := r.sends(r.asks(1), false); err != nil || sent != 1 {
			t.Fatalf("%d answer later, %v", sent, err)
		}
		const every = 5 * time.Second
		waiting, began, signals := map[string]frontier.EndedLease{}, map[string]time.Time{}, 0
		for i := range 40 {
			time.Sleep(every)
			name := fmt.Sprint("release-", i)
			waiting[name], began[name] = r.release(name, 0, true), time.Now()
			var round frontier.Round
			for _, l := range waiting {
				if r.waits(l) <= 0 {
					round.Releases = append(round.Releases, l)
				}
			}
			leases, _, _, err := r.sends(round, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range leases {
				delete(waiting, name)
			}
			signals += len(r.shards.signals)
			for name := range waiting {
				if since := time.Since(began[name]); since > silentEvery+silentWait+every {
					t.Fatalf("the notice of %s is not sent for %v", name, since)
				}
			}
		}
		if signals < 5 || signals > 7 {
			t.Errorf("%d signals in 200 seconds", signals)
		}
	})
}

// TestNoticesToAShardThatIsNotAsked: a shard of which this worker learns nothing, because it asks it nothing, is sent notices as signals, and is asked to take each hundredth. One that answers gets all
// notices at once, one that does not gets one in 30 seconds from then on.
func TestNoticesToAShardThatIsNotAsked(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		signals, asked, unconfirmed := 0, 0, 0
		send := func(rounds int) {
			t.Helper()
			signals, asked, unconfirmed = 0, 0, 0
			for range rounds {
				time.Sleep(time.Second)
				leases, _, _, err := r.sends(frontier.Round{Releases: []frontier.EndedLease{r.release("rests", 0, true)}}, false)
				if err != nil {
					t.Fatal(err)
				}
				signals += len(r.shards.signals)
				asked += len(r.shards.asked) - 1
				unconfirmed += 1 - len(leases)
			}
		}
		if send(2*maxUnheard + 2); signals != 2*maxUnheard || asked != 2 || unconfirmed > 0 {
			t.Errorf("%d signals, it is asked %d times, %d rounds do not confirm", signals, asked, unconfirmed)
		}
		r.shards.silent[1] = true
		if send(maxUnheard); signals != maxUnheard || asked > 0 || unconfirmed > 0 {
			t.Errorf("a silent shard: %d signals, it is asked %d times, %d rounds do not confirm", signals, asked, unconfirmed)
		}
		time.Sleep(silentEvery)
		if send(90); signals != 3 || asked != 3 || unconfirmed != 87 {
			t.Errorf("then: %d signals, it is asked %d times, %d rounds do not confirm", signals, asked, unconfirmed)
		}
		r.shards.silent[1] = false
		time.Sleep(silentEvery)
		if send(11); signals != 10 || asked != 1 || unconfirmed > 0 {
			t.Errorf("after an answer %d signals, it is asked %d times, %d rounds do not confirm", signals, asked, unconfirmed)
		}
	})
}

// TestLostRound: a shard that neither answers nor can be sent a signal takes its own part from the round, which fails if no shard can, or if it is the first of a controller.
func TestLostRound(t *testing.T) {
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent[1], r.shards.refuses[1] = true, true
		round := r.asks(1)
		round.Releases = []frontier.EndedLease{r.release("mine", 1, false), r.release("noticed", 0, true), r.release("plain", 0, false)}
		leases, answered, sent, err := r.sends(round, false)
		if err != nil || sent != 0 || !slices.Equal(leases, []string{"plain"}) || len(answered) != 2 || !slices.Equal(answered[1].Answer.Busy, []string{"claim-1"}) || r.waits(round.Releases[0]) != silentEvery {
			t.Errorf("%q are confirmed, %d answer later, %+v, %v; it waits %v", leases, sent, answered, err, r.waits(round.Releases[0]))
		}
		if _, _, _, err = r.sends(round, true); !errors.Is(err, errTemporal) {
			t.Errorf("the first round: %v", err)
		}
	})
	withOddShards(t, 2, func(t *testing.T, r *oddRig) {
		r.shards.silent, r.shards.refuses = map[int]bool{0: true, 1: true}, map[int]bool{0: true, 1: true}
		round := frontier.Round{Releases: []frontier.EndedLease{r.release("mine", 1, false), r.release("noticed", 0, true)}}
		for range 2 {
			if _, _, _, err := r.sends(round, false); !errors.Is(err, errTemporal) {
				t.Errorf("while nothing is taken: %v", err)
			}
		}
	})
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

package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// A signal of grants, and when it was sent.
type sentAnswer struct {
	to    string
	after time.Duration // the start
	politeness.Answer
}

func (s sentAnswer) String() string {
	var leases []string
	for _, g := range s.Grants {
		leases = append(leases, g.Lease)
	}
	return fmt.Sprintf("%v %s round %d %v", s.after, s.to, s.Round, leases)
}

// shardEnv runs Politeness and collects its answers.
type shardEnv struct {
	*env
	start   time.Time
	answers []sentAnswer
}

func newShard(t *testing.T, gone ...string) *shardEnv {
	return newShardIn(newEnv(t), gone...)
}

// newShardIn is newShard in an environment that answers some signals itself.
func newShardIn(env *env, gone ...string) *shardEnv {
	e := &shardEnv{env: env}
	e.start = e.Now()
	e.signals(func(s sent) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, id := range gone {
			if id == s.to {
				return serviceerror.NewNotFound("no such workflow")
			}
		}
		e.answers = append(e.answers, sentAnswer{s.to, e.Now().Sub(e.start), s.arg.(politeness.Answer)})
		return nil
	})
	return e
}

func (e *shardEnv) round(after time.Duration, r politeness.Round) {
	e.at(after, func() { e.SignalWorkflow(names.SignalRound, r) })
}

// expect compares the answers, sorted by time, then by asker, then by round with the latest first, because signals are sent
// concurrently.
func (e *shardEnv) expect(want ...string) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.SortStableFunc(e.answers, func(a, b sentAnswer) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.to, b.to), cmp.Compare(b.Round, a.Round))
	})
	var got []string
	for _, s := range e.answers {
		got = append(got, s.String())
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		e.t.Errorf("answers\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// cancelled runs the shard until it is cancelled, after a time.
func (e *shardEnv) cancelled(after time.Duration, args ...any) {
	e.t.Helper()
	e.at(after, e.CancelWorkflow)
	err := e.run(Politeness, args...)
	var cancelled *temporal.CanceledError
	if !errors.As(err, &cancelled) {
		e.t.Errorf("ends with %v, want cancelled", err)
	}
}

// asks are asks of one controller, "lease@address".
func asks(from string, list ...string) []politeness.Ask {
	var out []politeness.Ask
	for _, text := range list {
		lease, ip, _ := strings.Cut(text, "@")
		out = append(out, politeness.Ask{Lease: lease, IP: ip, PerIP: 1, Worker: "w", Reply: from})
	}
	return out
}

func TestPolitenessAnswers(t *testing.T) {
	e := newShard(t)
	e.round(time.Second, politeness.Round{From: "one", Round: 7, Asks: asks("one", "a@10.0.0.1", "b@10.0.0.2", "c@10.0.0.1")})
	e.round(2*time.Second, politeness.Round{From: "two", Round: 3, Asks: asks("two", "d@10.0.0.2")})
	e.round(3*time.Second, politeness.Round{From: "one", Round: 8, Releases: []politeness.Release{{Lease: "b", Worker: "w", IP: "10.0.0.2"}}})
	// A batch asks without a round, and gets only its own leases.
	e.round(4*time.Second, politeness.Round{From: "batch", Asks: asks("batch", "e@10.0.0.2")})
	e.round(5*time.Second, politeness.Round{From: "two", Round: 4, Releases: []politeness.Release{{Lease: "d", Worker: "w", IP: "10.0.0.2"}}})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 5, Shards: 7})
	e.expect(
		"1s one round 7 [a b]",
		"2s two round 3 []",
		"3s one round 8 []",
		"3s two round 0 [d]",
		"5s batch round 0 [e]",
		"5s two round 4 []",
	)
	for _, s := range e.answers {
		if s.Shard != 5 {
			t.Errorf("%v comes from shard %d, want 5", s, s.Shard)
		}
	}
}

// Asks beyond the line are answered busy, and do not wait; in an execution of an earlier version all wait.
func TestPolitenessAnswersBusy(t *testing.T) {
	for version, want := range map[workflow.Version]int{workflow.DefaultVersion: 0, 1: 1} {
		e := newShard(t)
		e.OnGetVersion(versionLine, workflow.DefaultVersion, workflow.Version(1)).Return(version)
		e.OnGetVersion(versionServers, workflow.DefaultVersion, workflow.Version(2)).Return(workflow.Version(2))
		e.OnGetVersion(mock.Anything, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.Version(1))
		list := asks("one", "a@10.0.0.1", "b@10.0.0.1", "c@10.0.0.1")
		for i := range list {
			list[i].Line = 1
		}
		e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: list})
		e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 1})
		if len(e.answers) != 1 || len(e.answers[0].Grants) != 1 || len(e.answers[0].Busy) != want {
			t.Errorf("version %d: %+v", version, e.answers)
		}
	}
}

// Of two asks for a host at two addresses one waits; in an execution of an earlier version none does.
func TestPolitenessKeepsHostsApart(t *testing.T) {
	for version, want := range map[workflow.Version]int{workflow.DefaultVersion: 2, 1: 1} {
		e := newShard(t)
		e.OnGetVersion(versionApart, workflow.DefaultVersion, workflow.Version(1)).Return(version)
		e.OnGetVersion(versionServers, workflow.DefaultVersion, workflow.Version(2)).Return(workflow.Version(2))
		e.OnGetVersion(mock.Anything, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.Version(1))
		list := asks("one", "a@10.0.0.1", "b@10.0.0.2")
		list[0].Host, list[1].Host = "wide.example", "wide.example"
		timers := 0
		e.SetOnTimerScheduledListener(func(string, time.Duration) { timers++ })
		e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: list})
		state := politeness.New(0, 1) // as one that an execution of this version has passed to one of a former version
		state.KeepHostsApart(true)
		e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 1, State: state})
		if len(e.answers) != 1 || len(e.answers[0].Grants) != want {
			t.Errorf("version %d: %+v", version, e.answers)
		}
		if timers > 3 { // nothing is to be done before the lease ends
			t.Errorf("version %d: %d timers are set in a minute", version, timers)
		}
	}
}

// What a worker has asked for that the ring has given up is withdrawn: the next ask gets the address.
func TestPolitenessOfGoneWorker(t *testing.T) {
	e := newShard(t)
	e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@10.0.0.1")})
	dead := asks("dead", "b@10.0.0.1")
	dead[0].Worker = "dead"
	e.round(2*time.Second, politeness.Round{From: "dead", Round: 1, Asks: dead})
	e.round(3*time.Second, politeness.Round{From: "two", Round: 1, Asks: asks("two", "c@10.0.0.1")})
	e.round(4*time.Second, politeness.Round{Gone: []politeness.Gone{{Worker: "dead", At: e.start.Add(4 * time.Second)}}})
	e.round(5*time.Second, politeness.Round{From: "one", Round: 2, Releases: []politeness.Release{{Lease: "a", Worker: "w", IP: "10.0.0.1"}}})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 1})
	e.expect("1s one round 1 [a]", "2s dead round 1 []", "3s two round 1 []", "5s one round 2 []", "5s two round 0 [c]")
}

// A round that is an update is answered at once, without a signal. Grants for others, and for its own earlier asks, are
// signalled.
func TestPolitenessAnswersAtOnce(t *testing.T) {
	e := newShard(t)
	var got []string
	round := func(after time.Duration, r politeness.Round) {
		e.at(after, func() {
			e.UpdateWorkflow(names.UpdateRound, fmt.Sprint(after), &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { t.Error(err) },
				OnComplete: func(value any, err error) {
					out, is := value.(activities.RoundResult)
					if !is || err != nil || out.Answer.Shard != 5 || !out.At.Equal(e.start.Add(after)) {
						t.Errorf("%+v, %v", value, err)
						return
					}
					got = append(got, sentAnswer{r.From, after, out.Answer}.String()+fmt.Sprint(" waits: ", out.Answer.Waiting != nil))
				},
			}, r)
		})
	}
	round(time.Second, politeness.Round{From: "one", Round: 7, Asks: asks("one", "a@10.0.0.1", "b@10.0.0.2", "c@10.0.0.1")})
	round(2*time.Second, politeness.Round{From: "two", Round: 3, Asks: asks("two", "d@10.0.0.2")})
	round(3*time.Second, politeness.Round{From: "one", Round: 8, Asks: asks("one", "f@10.0.0.3"), Releases: []politeness.Release{
		{Lease: "a", Worker: "w", IP: "10.0.0.1"}, {Lease: "b", Worker: "w", IP: "10.0.0.2"},
	}})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 5, Shards: 7})
	want := []string{"1s one round 7 [a b] waits: true", "2s two round 3 [] waits: true", "3s one round 8 [f] waits: false"}
	if !slices.Equal(got, want) {
		t.Errorf("answers\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	e.expect("3s one round 0 [c]", "3s two round 0 [d]")
}

// Rounds that are updates count for the number of rounds after which a shard continues as new.
func TestPolitenessContinuesAfterUpdates(t *testing.T) {
	e := newShard(t)
	for i := range politenessRounds {
		e.at(time.Duration(i+1)*time.Second, func() {
			e.UpdateWorkflow(names.UpdateRound, fmt.Sprint(i), &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { t.Error(err) }, OnComplete: func(any, error) {},
			}, politeness.Round{From: "one", Round: int64(i + 1)})
		})
	}
	continued(t, e.run(Politeness, activities.PolitenessInput{}))
}

// Rounds that arrive together are answered together.
func TestPolitenessAnswersInBulk(t *testing.T) {
	e := newShard(t)
	e.at(time.Second, func() {
		for i := range 3 {
			lease := fmt.Sprintf("l%d@10.0.0.%d", i, i)
			e.SignalWorkflowSkippingWorkflowTask(names.SignalRound, politeness.Round{From: "one", Round: int64(i + 1), Asks: asks("one", lease)})
		}
		e.SignalWorkflow(names.SignalRound, politeness.Round{From: "two", Round: 9})
	})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 7})
	e.expect("1s one round 3 [l0 l1 l2]", "1s two round 9 []")
}

// A claim activity that was cut off sends its round again. Both copies may be served together: each lease is granted once.
func TestPolitenessGrantsARepeatedRoundOnce(t *testing.T) {
	e := newShard(t)
	again := politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@10.0.0.1", "b@10.0.0.2", "c@10.0.0.1")}
	e.at(time.Second, func() {
		e.SignalWorkflowSkippingWorkflowTask(names.SignalRound, again)
		e.SignalWorkflow(names.SignalRound, again)
	})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 7})
	e.expect("1s one round 1 [a b]")
}

func TestPolitenessWaits(t *testing.T) {
	e := newShard(t)
	next := e.start.Add(10 * time.Minute)
	ip := "10.0.0.1"
	e.round(0, politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@"+ip)})
	e.round(time.Second, politeness.Round{From: "one", Round: 2, Releases: []politeness.Release{{Lease: "a", Worker: "w", IP: ip, Rest: next.Sub(e.start) - time.Second}}})
	// The address rests until its next time: b gets its grant shortly before.
	e.round(2*time.Second, politeness.Round{From: "one", Round: 3, Asks: asks("one", "b@"+ip, "c@"+ip)})
	// b is renewed once, then never released: c has its lease when b's deadline has passed.
	renewed := 15 * time.Minute
	e.round(renewed, politeness.Round{From: "one", Round: 4, Renewals: []politeness.Renewal{{Ask: asks("one", "b@"+ip)[0], Number: 1}}})
	e.cancelled(2*time.Hour, activities.PolitenessInput{Shard: 0, Shards: 7})
	e.expect(
		"0s one round 1 [a]",
		"1s one round 2 []",
		"2s one round 3 []",
		fmt.Sprintf("%v one round 0 [b]", 10*time.Minute-politeness.GrantAhead),
		"15m0s one round 4 []",
		fmt.Sprintf("%v one round 0 [c]", renewed+politeness.DefaultTTL+politeness.DefaultRest-politeness.GrantAhead),
	)
	for _, s := range e.answers {
		for _, g := range s.Grants {
			if g.Lease == "b" && !g.NotBefore.Equal(next) {
				t.Errorf("b may begin at %v, want %v", g.NotBefore, next)
			}
		}
	}
}

// The leases of an asker that is gone are released.
func TestPolitenessFreesOfTheGone(t *testing.T) {
	e := newShard(t, "gone")
	ip := "10.0.0.1"
	e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@"+ip)})
	e.round(2*time.Second, politeness.Round{From: "gone", Round: 1, Asks: asks("gone", "b@"+ip, "c@"+ip)})
	e.round(3*time.Second, politeness.Round{From: "one", Round: 2, Asks: asks("one", "d@"+ip)})
	e.round(4*time.Second, politeness.Round{From: "one", Round: 3, Releases: []politeness.Release{{Lease: "a", Worker: "w", IP: ip}}})
	e.cancelled(time.Minute, activities.PolitenessInput{Shard: 0, Shards: 7})
	e.expect("1s one round 1 [a]", "3s one round 2 []", "4s one round 3 []", "4s one round 0 [d]")
}

// If a grant cannot be delivered while its address rests, the next ask is granted after the pause, not when the undelivered
// lease would have ended.
func TestPolitenessFreesOfTheGoneAfterAPause(t *testing.T) {
	late := newEnv(t)
	late.OnSignalExternalWorkflow(mock.Anything, "gone", mock.Anything, mock.Anything, mock.Anything).After(10 * time.Second).Return(
		serviceerror.NewNotFound("no such workflow"))
	e := newShardIn(late)
	ip := "10.0.0.1"
	e.round(time.Second, politeness.Round{From: "gone", Asks: asks("gone", "a@"+ip)})
	e.round(2*time.Second, politeness.Round{From: "one", Round: 1, Asks: asks("one", "b@"+ip),
		Releases: []politeness.Release{{Lease: "before", Worker: "w", IP: ip, Rest: time.Minute}}})
	e.cancelled(10*time.Minute, activities.PolitenessInput{Shard: 0, Shards: 7})
	e.expect("2s one round 1 []", fmt.Sprintf("%v one round 0 [b]", 2*time.Second+time.Minute-politeness.GrantAhead))
}

// nextShard is the input that a shard gives to its next execution.
func nextShard(t *testing.T, err error) (in activities.PolitenessInput) {
	t.Helper()
	if next := continued(t, err, &in); next.WorkflowType.Name != names.Politeness {
		t.Errorf("continues as %s", next.WorkflowType.Name)
	}
	return in
}

func TestPolitenessContinues(t *testing.T) {
	e := newShard(t)
	e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@10.0.0.1", "b@10.0.0.1", "c@10.0.0.2")})
	e.at(2*time.Second, func() {
		e.SetContinueAsNewSuggested(true)
		e.SignalWorkflow(names.SignalRound, politeness.Round{From: "one", Round: 2, Releases: []politeness.Release{{Lease: "c", Worker: "w", IP: "10.0.0.2", Rest: time.Hour}}})
	})
	in := nextShard(t, e.run(Politeness, activities.PolitenessInput{Shard: 3, Shards: 7}))
	e.expect("1s one round 1 [a c]", "2s one round 2 []")
	if in.Shard != 3 || in.Shards != 7 || len(in.Unserved) != 0 {
		t.Errorf("hands on %+v", in)
	}

	next := newShard(t)
	next.SetStartTime(e.start.Add(3 * time.Second))
	next.start = next.Now()
	next.round(time.Second, politeness.Round{From: "one", Round: 3, Asks: asks("one", "d@10.0.0.2"), Releases: []politeness.Release{{Lease: "a", Worker: "w", IP: "10.0.0.1"}}})
	next.cancelled(2*time.Hour, in)
	next.expect("1s one round 3 [b]", fmt.Sprintf("%v one round 0 [d]", time.Hour-time.Second-politeness.GrantAhead))
}

// A shard on the queue of a worker moves to that of the cluster at once when it is asked to; one that is there already does not.
func TestPolitenessMoves(t *testing.T) {
	for _, queue := range []string{names.TaskQueue, names.ClusterQueue} {
		e := newShard(t)
		e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.PolitenessID(0), TaskQueue: queue})
		e.round(time.Second, politeness.Round{From: "one", Round: 1, Asks: asks("one", "a@10.0.0.1")})
		e.at(2*time.Second, func() { e.SignalWorkflow(names.SignalMove, nil) })
		e.at(time.Hour, e.CancelWorkflow)
		err := e.run(Politeness, activities.PolitenessInput{Shard: 0, Shards: 7})
		if queue == names.ClusterQueue {
			if workflow.IsContinueAsNewError(err) {
				t.Error("it moves to where it is")
			}
			continue
		}
		var in activities.PolitenessInput
		if next := continued(t, err, &in); next.TaskQueueName != names.ClusterQueue || in.State == nil {
			t.Errorf("it continues on %q with %+v", next.TaskQueueName, in)
		} else if held, _, _ := in.State.Counts(); held != 1 {
			t.Errorf("%d leases move with it, want 1", held)
		}
	}
}

func TestPolitenessContinuesByCount(t *testing.T) {
	e := newShard(t)
	const bulk = 50
	for i := range politenessRounds / bulk {
		e.at(time.Duration(i)*time.Second, func() {
			for n := range bulk - 1 {
				e.SignalWorkflowSkippingWorkflowTask(names.SignalRound, politeness.Round{From: "one", Round: int64(bulk*i + n + 1)})
			}
			e.SignalWorkflow(names.SignalRound, politeness.Round{From: "one", Round: int64(bulk * (i + 1))})
		})
	}
	continued(t, e.run(Politeness, activities.PolitenessInput{Shard: 0, Shards: 7}))
	e.expect("0s one round 50 []", "1s one round 100 []", "2s one round 150 []", "3s one round 200 []")
}

// The server drops what a closed execution has not sent. Therefore the last answers are sent first, and rounds
// that come meanwhile are passed to the next execution.
func TestPolitenessAnswersBeforeItContinues(t *testing.T) {
	e := newEnv(t)
	delivered := false
	e.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).After(time.Minute).Return(
		func(_, _, _, _ string, _ any) error {
			delivered = true
			return nil
		})
	e.at(time.Second, func() {
		e.SetContinueAsNewSuggested(true)
		e.SignalWorkflow(names.SignalRound, politeness.Round{From: "one", Round: 1})
	})
	e.at(10*time.Second, func() { e.SignalWorkflow(names.SignalRound, politeness.Round{From: "one", Round: 2}) })
	in := nextShard(t, e.run(Politeness, activities.PolitenessInput{Shard: 0, Shards: 7}))
	if !delivered {
		t.Error("continued as new before its answer was delivered")
	}
	if len(in.Unserved) != 1 || in.Unserved[0].Round != 2 {
		t.Fatalf("hands on %+v, want round 2", in.Unserved)
	}
	next := newShard(t)
	next.cancelled(time.Minute, in)
	next.expect("0s one round 2 []")
}

// A borrower gets its lease at once, or when the address is free, or the error that it is busy.
func TestPolitenessGrantsLoans(t *testing.T) {
	e := newShard(t)
	type answer struct {
		after time.Duration
		lease string
		busy  bool
	}
	var got []answer
	borrow := func(after time.Duration, lease, ip string) {
		e.at(after, func() {
			done := func(value any, err error) {
				grant, _ := value.(politeness.Grant)
				name, _, _ := strings.Cut(grant.Lease, "-")
				var failed *temporal.ApplicationError
				got = append(got, answer{e.Now().Sub(e.start), name, errors.As(err, &failed) && failed.Type() == activities.ErrorBusyAddress})
			}
			e.UpdateWorkflow(names.UpdateBorrow, fmt.Sprint(lease, after), &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { t.Errorf("%s is rejected: %v", lease, err) }, OnComplete: done,
			}, activities.BorrowInput{Ask: politeness.Ask{Lease: lease + "-1@" + ip, IP: ip, PerIP: 1, Crawl: "c", Worker: "w"}, Shards: 7})
		})
	}
	e.round(0, politeness.Round{From: "a", Round: 1, Asks: asks("a", "held@10.0.0.1")})
	borrow(time.Second, "free", "10.0.0.2")
	borrow(2*time.Second, "late", "10.0.0.1")
	e.round(10*time.Second, politeness.Round{From: "a", Round: 2, Releases: []politeness.Release{{Lease: "held", Worker: "w", IP: "10.0.0.1"}}})
	borrow(20*time.Second, "never", "10.0.0.1")
	// An attempt that is gone has called before, and its call ends first: the lease is the newer one's.
	e.round(60*time.Second, politeness.Round{From: "a", Round: 3, Asks: asks("a", "other@10.0.0.3")})
	borrow(61*time.Second, "twice", "10.0.0.3")
	borrow(70*time.Second, "twice", "10.0.0.3")
	e.round(75*time.Second, politeness.Round{From: "a", Round: 4, Releases: []politeness.Release{{Lease: "other", Worker: "w", IP: "10.0.0.3"}}})
	e.round(110*time.Second, politeness.Round{From: "b", Round: 1, Asks: asks("b", "next@10.0.0.3")})
	e.cancelled(2*time.Minute, activities.PolitenessInput{Shard: 0, Shards: 7})
	want := []answer{{time.Second, "free", false}, {10 * time.Second, "late", false}, {20*time.Second + activities.BorrowWait, "", true}, {70 * time.Second, "", true}, {75 * time.Second, "twice", false}}
	if !slices.Equal(got, want) {
		t.Errorf("borrowers got %v, want %v", got, want)
	}
	for _, line := range e.answers {
		if strings.Contains(line.String(), "next") {
			t.Errorf("a borrowed address is granted: %s", line)
		}
	}
}

// TestPresentRules: an execution that begins now has all the rules with which random histories and the simulation play.
func TestPresentRules(t *testing.T) {
	e := newShard(t)
	e.at(time.Second, func() {
		var s politeness.State
		value, err := e.QueryWorkflow(names.QueryStatus)
		if err != nil {
			t.Fatal(err)
		}
		if err := value.Get(&s); err != nil {
			t.Fatal(err)
		}
		type rules struct{ fair, servers, lines, apart, ends, exact, notices bool }
		of := func(s *politeness.State) rules {
			return rules{s.Fair, s.Servers, s.Lines, s.Apart, s.Ends, s.Exact, s.Notices}
		}
		if got, want := of(&s), of(politeness.NewPresent(0, 0)); got != want {
			t.Errorf("a shard has %+v, NewPresent %+v", got, want)
		}
		e.CancelWorkflow()
	})
	_ = e.run(Politeness, activities.PolitenessInput{})
}

// TestRulesOfServers: a shard goes by the rules for servers with which its execution began.
func TestRulesOfServers(t *testing.T) {
	for _, c := range []struct {
		version       workflow.Version
		servers, ends bool
	}{{workflow.DefaultVersion, false, false}, {1, true, false}, {2, true, true}} {
		e := newShard(t)
		e.OnGetVersion(versionServers, workflow.DefaultVersion, workflow.Version(2)).Return(c.version)
		e.OnGetVersion(mock.Anything, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.Version(1))
		e.at(time.Second, func() {
			var s politeness.State
			value, err := e.QueryWorkflow(names.QueryStatus)
			if err != nil || value.Get(&s) != nil || s.Servers != c.servers || s.Ends != c.ends {
				t.Errorf("version %d: servers %v, ends %v; %v", c.version, s.Servers, s.Ends, err)
			}
			e.CancelWorkflow()
		})
		_ = e.run(Politeness, activities.PolitenessInput{})
	}
}

// TestShardNamesSlowHosts: the UI says of a shard which hosts are slowed down, until when and why.
func TestShardNamesSlowHosts(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	p := &politenessShard{state: politeness.NewPresent(0, 1)}
	if text := p.describe(now); strings.Contains(text, "slowed down") {
		t.Errorf("without such hosts: %q", text)
	}
	for i := range slowShown + 2 {
		p.state.Serve(now, []politeness.Round{{Releases: []politeness.Release{{
			Lease: "x-1", Crawl: "c", Worker: "w", IP: "192.0.2.1", Number: int64(i + 1), Host: fmt.Sprintf("h%02d.example", i), HostRest: time.Duration(i+1) * time.Hour, Trouble: politeness.TroubleBusy,
		}}}})
	}
	text := p.describe(now)
	want := "12 hosts that are slowed down rest now (muninn host NAME says more of each):\n\n* h11.example until 2026-07-02 00:00:00: 429 at 2026-07-01 12:00:00, step 1\n* h10.example until "
	if !strings.Contains(text, want) || strings.Count(text, "\n* ") != slowShown {
		t.Errorf("%q", text)
	}
}

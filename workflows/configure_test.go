package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// changing is the definition of a crawl that is changed.
var changing = json.RawMessage(`{"name":"c","seeds":["http://a.test/"],"topic":{"keywords":["raven"]},"reference":{"pages":30},"order":{"per_queue":5}}`)

func parsed(t *testing.T, raw json.RawMessage) crawl.Definition {
	t.Helper()
	d, err := crawl.ParseDefinition(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// update is the result of an update.
type update struct {
	accepted, completed bool
	rejected, failed    error
	result              crawl.Definition
}

// configure asks for a change at a time after the start.
func (e *env) configure(after time.Duration, fields string) *update {
	u := &update{}
	e.at(after, func() { e.sendUpdate(u, fields) })
	return u
}

func (e *env) sendUpdate(u *update, fields string) {
	e.UpdateWorkflow(names.UpdateConfig, "", u, json.RawMessage(fields))
}

func (u *update) Accept()          { u.accepted = true }
func (u *update) Reject(err error) { u.rejected = err }
func (u *update) Complete(result any, err error) {
	u.completed, u.failed = true, err
	out, _ := result.(Configured)
	u.result = out.Definition
}

// configured records the definitions that are put in force, and on which worker.
func configured(e *env, do func(d crawl.Definition) error) *[]crawl.Definition {
	var list []crawl.Definition
	e.OnActivity("Configure", mock.Anything, mock.Anything).Return(func(ctx context.Context, in activities.ConfigureInput) error {
		d := in.Definition
		e.note("Configure on " + activity.GetInfo(ctx).TaskQueue)
		list = append(list, d)
		if do != nil {
			return do(d)
		}
		return nil
	})
	return &list
}

// lasting are controllers that last an hour each, and hand over that many times.
func lasting(handovers int) func(*env, workflow.Context, ControllerInput) (ControllerResult, error) {
	return func(e *env, ctx workflow.Context, _ ControllerInput) (ControllerResult, error) {
		err := workflow.Sleep(ctx, time.Hour)
		if handovers--; handovers < 0 {
			return ControllerResult{Reason: "stopped"}, err
		}
		e.SetContinueAsNewSuggested(true)
		return ControllerResult{Reason: crawl.ReasonHandover}, err
	}
}

// continuesAs is the input that a crawl gives to its next execution.
func continuesAs(t *testing.T, err error) (definition json.RawMessage, state *CrawlState) {
	t.Helper()
	continued(t, err, &definition, &state)
	return definition, state
}

func same(t *testing.T, what string, got, want crawl.Definition) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	t.Errorf("%s: %s, want\n%s (%v)", what, a, b, errors.Join(errA, errB))
}

// The worker of the crawl puts each change in force as a whole definition, one change after the other. The changes are still
// there after the crawl has continued as new.
func TestConfigure(t *testing.T) {
	e := newCrawl(t, lasting(1))
	list := configured(e, nil)
	first := e.configure(10*time.Minute, `{"order":{"strategy":"weighted"}}`)
	second := e.configure(20*time.Minute, `{"order":{"per_queue":7},"weights":{"anchor":3},"description":"changed"}`)
	definition, state := continuesAs(t, e.run(Crawl, changing, nil))

	want := parsed(t, changing)
	want.Order.Strategy = crawl.StrategyWeighted
	for n, u := range []*update{first, second} {
		if n == 1 {
			want.Order.PerQueue, want.Weights.Anchor, want.Description = 7, 3, "changed"
		}
		if !u.accepted || u.rejected != nil || u.failed != nil || !u.completed || len(*list) != 2 {
			t.Fatalf("update %d: %+v; %d changes are put in force", n, u, len(*list))
		}
		same(t, fmt.Sprintf("put in force by update %d", n), (*list)[n], want)
		same(t, fmt.Sprintf("answered to update %d", n), u.result, want)
	}
	if n := e.count("Configure on q/w"); n != 2 {
		t.Errorf("the worker of the crawl changes %d times: %v", n, e.called())
	}
	same(t, "handed on", parsed(t, definition), want)

	e = newCrawl(t, lasting(0))
	list = configured(e, nil)
	third := e.configure(10*time.Minute, `{"helper":"off"}`)
	if err := e.run(Crawl, definition, state); err != nil {
		t.Fatal(err)
	}
	want.Helper = crawl.HelperOff
	if third.failed != nil || len(*list) != 1 {
		t.Fatalf("%+v; %d changes are put in force", third, len(*list))
	}
	same(t, "put in force in the next execution", (*list)[0], want)
}

// The validator rejects wrong changes with the reason: no step is called, and the crawl continues unchanged.
func TestConfigureRejects(t *testing.T) {
	for _, c := range []struct {
		fields string
		says   []string
	}{
		{`{"order":{"strategy":"best","per_queue":9999}}`, []string{"order.strategy", `"best"`, "order.per_queue"}},
		{`{"order":{"stratgey":"weighted"}}`, []string{"order.stratgey", "strategy"}},
		{`{"seeds":["http://b.test/"]}`, append([]string{"seeds cannot change"}, crawl.Changeable...)},
		{`{"name":"d","order":{"strategy":"weighted"}}`, []string{"name cannot change"}},
		{`{"topic":{"keywords":["soup"]}}`, []string{"topic cannot change"}},
		{`{"reference":{"pages":5}}`, []string{"reference cannot change"}},
		{`{"weights":{"anchor":-1}}`, []string{"weights.anchor"}},
		{`{}`, []string{"not a mapping"}},
		{`null`, []string{"not a mapping"}},
		{`["order"]`, []string{"not a mapping"}},
		{`"order"`, []string{"not a mapping"}},
	} {
		t.Run(c.fields, func(t *testing.T) {
			e := newCrawl(t, lasting(1))
			list := configured(e, nil)
			bad := e.configure(10*time.Minute, c.fields)
			good := e.configure(20*time.Minute, `{"order":{"per_queue":7}}`)
			definition, _ := continuesAs(t, e.run(Crawl, changing, nil))
			if bad.rejected == nil || bad.accepted || bad.completed {
				t.Fatalf("it is not rejected: %+v", bad)
			}
			for _, words := range c.says {
				if !strings.Contains(bad.rejected.Error(), words) {
					t.Errorf("%q is not in the reason: %v", words, bad.rejected)
				}
			}
			want := parsed(t, changing)
			want.Order.PerQueue = 7
			if good.failed != nil || len(*list) != 1 {
				t.Fatalf("%+v; %d changes are put in force", good, len(*list))
			}
			same(t, "put in force after a rejected change", (*list)[0], want)
			same(t, "handed on", parsed(t, definition), want)
		})
	}
}

// A change that comes before the run has begun waits for its start.
func TestConfigureBeforeTheRun(t *testing.T) {
	e := newCrawl(t, lasting(0))
	list := configured(e, nil)
	u := e.configure(0, `{"order":{"strategy":"weighted"}}`)
	if err := e.run(Crawl, changing, nil); err != nil {
		t.Fatal(err)
	}
	calls := e.called()
	if at := slices.Index(calls, "Configure on q/w"); u.failed != nil || !u.completed || len(*list) != 1 || at < slices.Index(calls, "Begin") {
		t.Errorf("%+v; %v", u, calls)
	}
}

// Changes that come at the same time are made one after the other, and none undoes another.
func TestConfigureTogether(t *testing.T) {
	e := newCrawl(t, lasting(1))
	list := configured(e, nil)
	updates := []*update{{}, {}, {}}
	e.at(10*time.Minute, func() {
		e.sendUpdate(updates[0], `{"order":{"strategy":"weighted"}}`)
		e.sendUpdate(updates[1], `{"order":{"per_queue":7}}`)
		e.sendUpdate(updates[2], `{"order":{"update":"avg"}}`)
	})
	definition, _ := continuesAs(t, e.run(Crawl, changing, nil))
	want := parsed(t, changing)
	want.Order.Strategy, want.Order.PerQueue, want.Order.Update = crawl.StrategyWeighted, 7, crawl.UpdateAvg
	for n, u := range updates {
		if !u.completed || u.failed != nil || u.rejected != nil {
			t.Errorf("update %d: %+v", n, u)
		}
	}
	if len(*list) != 3 {
		t.Fatalf("%d changes are put in force", len(*list))
	}
	same(t, "put in force last", (*list)[2], want)
	same(t, "handed on", parsed(t, definition), want)
}

// A change that the worker cannot put in force is an error for its caller; the crawl continues unchanged.
func TestConfigureFails(t *testing.T) {
	e := newCrawl(t, lasting(1))
	list := configured(e, func(d crawl.Definition) error {
		if d.Order.Strategy == crawl.StrategySynonyms {
			return temporal.NewNonRetryableApplicationError("there is no thesaurus", activities.ErrorInput, nil)
		}
		return nil
	})
	failing := e.configure(10*time.Minute, `{"order":{"strategy":"synonyms"}}`)
	good := e.configure(20*time.Minute, `{"order":{"per_queue":7}}`)
	definition, _ := continuesAs(t, e.run(Crawl, changing, nil))
	if !failing.accepted || failing.failed == nil || !strings.Contains(failing.failed.Error(), "there is no thesaurus") {
		t.Errorf("%+v", failing)
	}
	want := parsed(t, changing)
	want.Order.PerQueue = 7
	if good.failed != nil || len(*list) != 2 {
		t.Fatalf("%+v; %d changes are put in force", good, len(*list))
	}
	same(t, "put in force after the one that failed", (*list)[1], want)
	same(t, "handed on", parsed(t, definition), want)
}

// A crawl that is ending cannot be changed any more.
func TestConfigureAtTheEnd(t *testing.T) {
	e, took := slowCrawl(t, 10*time.Minute, lasting(0))
	u := e.configure(65*time.Minute, `{"order":{"strategy":"weighted"}}`)
	if err := e.run(Crawl, changing, nil); err != nil {
		t.Fatal(err)
	}
	if u.rejected == nil || !strings.Contains(u.rejected.Error(), "ending") || u.accepted {
		t.Errorf("%+v", u)
	}
	if took("Configure") != 0 || took("End") != 70*time.Minute {
		t.Errorf("%v", e.called())
	}
}

// slowCrawl is a crawl whose steps take a while; took reports when one had come to its end, after the start.
func slowCrawl(t *testing.T, d time.Duration, controller func(*env, workflow.Context, ControllerInput) (ControllerResult, error)) (e *env, took func(step string) time.Duration) {
	t.Helper()
	e = bareEnv(t)
	e.RegisterWorkflowWithOptions(Crawl, workflow.RegisterOptions{Name: names.Crawl})
	e.RegisterWorkflowWithOptions(func(ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		return controller(e, ctx, in)
	}, workflow.RegisterOptions{Name: names.FetcherController})
	begun, ended := e.Now(), map[string]time.Duration{}
	note := func(step string) {
		e.note(step)
		e.mu.Lock()
		defer e.mu.Unlock()
		ended[step] = e.Now().Sub(begun)
	}
	e.OnActivity("Members", mock.Anything).Return([]activities.Member{{Worker: "w", Queue: "q/w", Instance: "i"}}, nil)
	e.OnActivity("LastRun", mock.Anything, mock.Anything).Return(activities.LastRun{}, nil)
	e.OnActivity("Begin", mock.Anything, mock.Anything).Return(activities.BeginResult{Run: 1, Archive: "store"}, nil)
	e.OnActivity("Phase", mock.Anything, mock.Anything).Return(nil)
	e.OnActivity("Learn", mock.Anything, mock.Anything).Return(activities.LearnResult{}, nil)
	e.OnActivity("Configure", mock.Anything, mock.Anything).After(d).Return(func(context.Context, activities.ConfigureInput) error {
		note("Configure")
		return nil
	})
	e.OnActivity("Submit", mock.Anything, mock.Anything).After(2 * d).Return(func(context.Context, activities.SubmitInput) ([]frontier.SubmitAnswer, error) {
		note("Submit")
		return nil, nil
	})
	e.OnActivity("Left", mock.Anything, mock.Anything).Return(false, nil)
	e.OnActivity("End", mock.Anything, mock.Anything).After(d).Return(func(context.Context, activities.EndInput) (activities.EndResult, error) {
		note("End")
		return activities.EndResult{Status: frontier.Status{}}, nil
	})
	return e, func(step string) time.Duration {
		e.mu.Lock()
		defer e.mu.Unlock()
		return ended[step]
	}
}

// When the crawl continues as new, neither a running change is cut off nor one that waits for it; the next execution has
// both.
func TestConfigureIsNotCutOff(t *testing.T) {
	e, took := slowCrawl(t, 10*time.Minute, lasting(1))
	first := e.configure(58*time.Minute, `{"order":{"strategy":"weighted"}}`)
	second := e.configure(59*time.Minute, `{"order":{"per_queue":7}}`)
	definition, _ := continuesAs(t, e.run(Crawl, changing, nil))
	if !first.completed || first.failed != nil || !second.completed || second.failed != nil {
		t.Errorf("%+v\n%+v", first, second)
	}
	if e.count("Configure") != 2 || took("Configure") != 78*time.Minute {
		t.Errorf("the last change ends after %v: %v", took("Configure"), e.called())
	}
	want := parsed(t, changing)
	want.Order.Strategy, want.Order.PerQueue = crawl.StrategyWeighted, 7
	same(t, "handed on", parsed(t, definition), want)
}

// URLs that are submitted during a change are queued before the run ends.
func TestSubmitBesideConfigure(t *testing.T) {
	for _, first := range []string{"configure", "submit"} {
		t.Run(first+" first", func(t *testing.T) {
			e, took := slowCrawl(t, 10*time.Minute, lasting(0))
			change, submit := 55*time.Minute, 56*time.Minute
			if first == "submit" {
				change, submit = submit, change
			}
			u := e.configure(change, `{"order":{"strategy":"weighted"}}`)
			s := e.submit(submit, 2)
			if err := e.run(Crawl, withoutTopic, nil); err != nil {
				t.Fatal(err)
			}
			if !u.completed || u.failed != nil || !s.completed || s.failed != nil {
				t.Errorf("%+v, %+v", u, s)
			}
			if calls := e.called(); len(calls) != 3 || calls[2] != "End" {
				t.Errorf("%v: the run ended after %v, the URLs were queued after %v", calls, took("End"), took("Submit"))
			}
		})
	}
}

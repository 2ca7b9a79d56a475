package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// submitted is the result of a submit.
type submitted struct {
	accepted, completed bool
	rejected, failed    error
	result              SubmitResult
}

func (u *submitted) Accept()          { u.accepted = true }
func (u *submitted) Reject(err error) { u.rejected = err }
func (u *submitted) Complete(result any, err error) {
	u.completed, u.failed = true, err
	u.result, _ = result.(SubmitResult)
}

// urls are submitted URLs.
func urls(n int) json.RawMessage {
	list := make([]frontier.Submission, n)
	for i := range list {
		list[i].Discovery = crawl.Discovery{URL: fmt.Sprintf("http://a.test/%d", i), Score: 1}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return raw
}

// submit submits n URLs at a time after the start.
func (e *env) submit(after time.Duration, n int) *submitted { return e.submitAs("", after, n) }

// submitAs names the update.
func (e *env) submitAs(id string, after time.Duration, n int) *submitted {
	u := &submitted{}
	e.at(after, func() { e.UpdateWorkflow(names.UpdateSubmit, id, u, urls(n)) })
	return u
}

// Submitted URLs are queued before the run ends, also if they came before it had begun, and each is answered.
func TestCrawlSubmits(t *testing.T) {
	e := newCrawl(t, func(e *env, ctx workflow.Context, _ ControllerInput) (ControllerResult, error) {
		err := workflow.Sleep(ctx, time.Hour)
		e.left.Store(false)
		return ControllerResult{Reason: "drained"}, err
	})
	var list []*submitted
	for i, at := range []time.Duration{0, time.Minute, 50 * time.Minute} {
		list = append(list, e.submit(at, i+1))
	}
	if err := e.run(Crawl, withoutTopic, nil); err != nil {
		t.Fatal(err)
	}
	calls := e.called()
	for i, u := range list {
		if !u.completed || u.failed != nil || u.result.Answers[frontier.SubmitAccepted] != i+1 || len(u.result.URLs) != i+1 {
			t.Errorf("submit %d: %+v", i+1, u)
		}
		if at := slices.Index(calls, fmt.Sprintf("%d: %d URLs", i+1, i+1)); at < slices.Index(calls, "Begin") {
			t.Errorf("submit %d is missing or came before the run had begun: %v", i+1, calls)
		}
	}
	if calls[len(calls)-1] != "End" || e.count("controller") != 1 {
		t.Errorf("%v", calls)
	}
}

// A crawl that was reset numbers its submits from the start: the frontier must not confuse the next one with one that it has
// answered.
func TestCrawlSubmitsAfterAReset(t *testing.T) {
	for _, update := range []string{"before", "after"} { // the reset; both are the first submit of the crawl's state
		e := newCrawl(t, func(e *env, ctx workflow.Context, _ ControllerInput) (ControllerResult, error) {
			err := workflow.Sleep(ctx, time.Hour)
			e.left.Store(false)
			return ControllerResult{Reason: "drained"}, err
		})
		e.submitAs(update, time.Minute, 1)
		if err := e.run(Crawl, withoutTopic, nil); err != nil {
			t.Fatal(err)
		}
		if e.count("update "+update) != 1 {
			t.Errorf("the ID of the submit does not name update %s: %v", update, e.called())
		}
	}
}

// A run that has fetched everything continues if URLs were submitted at the last moment.
func TestCrawlLooksAgain(t *testing.T) {
	var late *submitted
	n := 0
	e := newCrawl(t, func(e *env, _ workflow.Context, _ ControllerInput) (ControllerResult, error) {
		if n++; n == 1 {
			late = &submitted{}
			e.UpdateWorkflow(names.UpdateSubmit, "late", late, urls(3))
		} else {
			e.left.Store(false)
		}
		return ControllerResult{Reason: "drained"}, nil
	})
	if err := e.run(Crawl, withoutTopic, nil); err != nil {
		t.Fatal(err)
	}
	if late == nil || late.result.Answers[frontier.SubmitAccepted] != 3 || late.failed != nil {
		t.Fatalf("%+v", late)
	}
	want := "controller Submit update late 1: 3 URLs Left Phase reference false, 0 pages controller End"
	if got := strings.Join(e.called(), " "); !strings.HasSuffix(got, want) {
		t.Errorf("steps %s", got)
	}
}

// While a run ends, which may take minutes, it refuses URLs, so that none is accepted and lost.
func TestCrawlRefusesWhileEnding(t *testing.T) {
	e, _ := slowCrawl(t, 10*time.Minute, lasting(0))
	late := e.submit(65*time.Minute, 1)
	if err := e.run(Crawl, withoutTopic, nil); err != nil {
		t.Fatal(err)
	}
	if late.accepted || late.rejected == nil || !strings.Contains(late.rejected.Error(), "the crawl is ending") {
		t.Errorf("%+v", late)
	}
	if e.count("Submit") > 0 {
		t.Errorf("%v", e.called())
	}
}

func TestSubmissions(t *testing.T) {
	long := `[{"url":"http://a.test/` + strings.Repeat("x", activities.MaxSubmitBytes) + `"}]`
	for text, want := range map[string]string{
		`[]`:                       "no URL is submitted",
		`null`:                     "no URL is submitted",
		`{"url":"http://a.test/"}`: "a submit is a list of URLs",
		`["http://a.test/"]`:       "a submit is a list of URLs",
		`[{"url":"http://a.test/","score":"high"}`: "a submit is a list of URLs",
		string(urls(activities.MaxSubmitURLs + 1)): "split the list",
		long: "split the list",
	} {
		if _, err := submissions(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	list, err := submissions(json.RawMessage(`[{"url":"no URL","score":0.5},{"url":"http://a.test/","blacklisted":true}]`))
	if err != nil || len(list) != 2 || list[0].Score != 0.5 || !list[1].Blacklisted {
		t.Errorf("%+v, %v", list, err)
	}
}

// A list with user information is refused before it gets into the history.
func TestSubmitWithUser(t *testing.T) {
	for _, url := range []string{"http://joe:hush@a.test/", "http:joe@a.test"} {
		list := []frontier.Submission{{}, {}}
		list[0].URL, list[1].URL = "http://a.test/", url
		if err := withoutUser(list); err == nil || !strings.Contains(err.Error(), "URL 2") || strings.Contains(err.Error(), "hush") {
			t.Error(err)
		}
	}
	if err := withoutUser([]frontier.Submission{{Discovery: crawl.Discovery{URL: "http://a.test/@joe"}}}); err != nil {
		t.Error(err)
	}
}

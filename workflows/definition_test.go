package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestDefinitionIsReadOnce: an activity reads what somebody wrote. The executions that continue the crawl take the value as it is, also if a
// later version would refuse to read it.
func TestDefinitionIsReadOnce(t *testing.T) {
	reads := func(e *env) {
		e.OnActivity("ReadDefinition", mock.Anything, mock.Anything).Return(func(_ context.Context, text json.RawMessage) (crawl.Definition, error) {
			e.note("ReadDefinition")
			return crawl.ParseStoredDefinition(text)
		})
	}
	e := newCrawl(t, lasting(1))
	reads(e)
	definition, state := continuesAs(t, e.run(Crawl, withoutTopic, nil))
	if n := e.count("ReadDefinition"); n != 1 || !state.Parsed {
		t.Errorf("the definition is read %d times, parsed: %v", n, state.Parsed)
	}
	same(t, "handed on", parsed(t, definition), parsed(t, withoutTopic))

	var fields map[string]any
	if err := json.Unmarshal(definition, &fields); err != nil {
		t.Fatal(err)
	}
	fields["of another version"] = true
	if definition, _ = json.Marshal(fields); !refused(definition) {
		t.Fatal("the definition can be read")
	}
	e = newCrawl(t, lasting(0))
	reads(e)
	if err := e.run(Crawl, definition, state); err != nil || e.count("ReadDefinition") != 0 {
		t.Errorf("continued by %v, %v", e.called(), err)
	}

	state.Parsed = false // by an earlier version
	e = newCrawl(t, lasting(0))
	reads(e)
	if err := e.run(Crawl, withoutTopic, state); err != nil || e.count("ReadDefinition") != 1 {
		t.Errorf("continued by %v, %v", e.called(), err)
	}
}

func refused(definition json.RawMessage) bool {
	_, err := crawl.ParseStoredDefinition(definition)
	return err != nil
}

// TestChangeBeforeTheDefinitionIsRead: changes are judged by themselves as long as the definition is not read; one that does not fit it fails.
func TestChangeBeforeTheDefinitionIsRead(t *testing.T) {
	for _, c := range []struct {
		fields           string
		rejected, failed bool
	}{
		{`{"order":{"per_queue":7}}`, false, false},
		{`{"order":{"per_queues":7}}`, true, false},
		{`{"order":{"per_queue":-7}}`, false, true},
	} {
		e := newCrawl(t, lasting(0))
		configured(e, nil)
		asked := make(chan struct{})
		e.OnActivity("ReadDefinition", mock.Anything, mock.Anything).Return(func(_ context.Context, text json.RawMessage) (crawl.Definition, error) {
			<-asked
			return crawl.ParseStoredDefinition(text)
		})
		e.OnActivity("ChangeDefinition", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.DefinitionChange) (crawl.Definition, error) {
			d, err := in.Definition.Changed(in.Fields)
			if err != nil {
				err = temporal.NewNonRetryableApplicationError(err.Error(), activities.ErrorInput, nil)
			}
			return d, err
		})
		u := &update{}
		e.at(0, func() {
			e.sendUpdate(u, c.fields)
			close(asked)
		})
		if err := e.run(Crawl, withoutTopic, nil); err != nil {
			t.Fatal(err)
		}
		if (u.rejected != nil) != c.rejected || (u.failed != nil) != c.failed {
			t.Errorf("%s: %+v", c.fields, u)
		}
	}
}

// TestUnreadDefinition: who asks for the definition too early is answered so.
func TestUnreadDefinition(t *testing.T) {
	if _, err := new(crawlRun).shownDefinition(); !errors.Is(err, errUnread) {
		t.Error(err)
	}
}

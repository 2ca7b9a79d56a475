package workflows

import (
	"encoding/json"
	"errors"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// versionParse is the change by which activities read the definition and change it, and the history keeps the result. Before it,
// workflow code did: a later version that reads definitions in another way could not replay that.
const versionParse = "definition-by-activity"

var errUnread = errors.New("the definition is not read yet: ask again in a moment")

// parse reads the definition as executions of earlier versions do.
func (c *crawlRun) parse() (err error) {
	if c.definition, err = crawl.ParseStoredDefinition(c.raw); err != nil {
		return temporal.NewNonRetryableApplicationError("the definition has faults:\n"+err.Error(), activities.ErrorInput, nil)
	}
	c.Name = c.definition.Name
	return nil
}

// readDefinition has an activity read what somebody wrote. An execution that continues one that did so has the value.
func (c *crawlRun) readDefinition(ctx workflow.Context) error {
	switch {
	case c.isRead():
		return nil
	case c.Parsed:
		return json.Unmarshal(c.raw, &c.definition)
	}
	ctx = withLocalOptions(ctx, "read the definition")
	if err := workflow.ExecuteLocalActivity(ctx, steps.ReadDefinition, c.raw).Get(ctx, &c.definition); err != nil {
		return err
	}
	return c.keep(c.definition)
}

// keep takes a definition as the one that is in force, and that the next execution is given.
func (c *crawlRun) keep(d crawl.Definition) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	c.definition, c.raw, c.Name, c.Parsed = d, raw, d.Name, !c.parses
	return nil
}

func (c *crawlRun) isRead() bool { return c.definition.Name != "" }

// shownDefinition answers the query "definition".
func (c *crawlRun) shownDefinition() (crawl.Definition, error) {
	if !c.isRead() {
		return crawl.Definition{}, errUnread
	}
	return c.definition, nil
}

// changed is the definition with fields changed.
func (c *crawlRun) changed(ctx workflow.Context, fields json.RawMessage) (d crawl.Definition, err error) {
	if c.parses {
		return c.definition.Changed(fields)
	}
	in := activities.DefinitionChange{Definition: c.definition, Fields: fields}
	err = workflow.ExecuteLocalActivity(withLocalOptions(ctx, "change the definition"), steps.ChangeDefinition, in).Get(ctx, &d)
	return d, err
}

// Configured is the definition that is in force after a change.
type Configured struct {
	crawl.Definition
	// Late are workers of a crawl that is spread which the ring has lost: they get the change when they are back, before they claim anything.
	Late []string `json:"late_workers,omitempty"`
}

// serveConfigure serves the update "configure": fields of the definition that may change while the crawl runs.
func (c *crawlRun) serveConfigure(ctx workflow.Context) error {
	change := func(ctx workflow.Context, fields json.RawMessage) (out Configured, err error) {
		if err := workflow.Await(ctx, func() bool { return c.hasBegun() && c.isRead() && !c.changing }); err != nil {
			return out, err
		}
		c.changing = true // one at a time, and none may be cut off
		c.writing++
		defer func() { c.changing, c.writing = false, c.writing-1 }()
		d, err := c.changed(ctx, fields)
		if err != nil {
			return out, err
		}
		if workflow.GetVersion(ctx, versionSteer, workflow.DefaultVersion, 1) != workflow.DefaultVersion {
			c.submitted = true // it may allow URLs that wait
		}
		if out.Late, err = c.configure(ctx, d); err != nil {
			return out, err
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return out, err
		}
		c.definition, c.raw = d, raw
		workflow.GetLogger(ctx).Info("the definition of the crawl has changed", "crawl", c.Name, "run", c.Begun.Run, "fields", string(fields), "late_workers", out.Late)
		out.Definition = d
		return out, nil
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, names.UpdateConfig, change, workflow.UpdateHandlerOptions{
		Description: "changes " + strings.Join(crawl.Changeable, ", ") + " while the crawl runs: fields as in a definition",
		Validator: func(_ workflow.Context, fields json.RawMessage) error {
			if err := c.checkOpen(); err != nil {
				return err
			}
			if !c.isRead() {
				return crawl.CheckChange(fields)
			}
			_, err := c.definition.Changed(fields)
			return err
		},
	})
}

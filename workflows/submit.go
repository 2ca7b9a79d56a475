package workflows

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// SubmitResult has the answers for submitted URLs: the number of each answer, and each URL with its reason.
type SubmitResult struct {
	Answers map[string]int          `json:"answers"`
	URLs    []frontier.SubmitAnswer `json:"urls"`
}

// serveSubmit serves the update "submit": scored URLs. It is answered once they are in the frontier.
func (c *crawlRun) serveSubmit(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, names.UpdateSubmit, c.submit, workflow.UpdateHandlerOptions{
		Description: "offers URLs with their scores: [{\"url\": …, \"score\": 0.9}]; answers for each whether it is accepted",
		Validator: func(_ workflow.Context, list json.RawMessage) error {
			if err := c.checkOpen(); err != nil {
				return err
			}
			urls, err := submissions(list)
			if err != nil {
				return err
			}
			return withoutUser(urls)
		},
	})
}

func (c *crawlRun) submit(ctx workflow.Context, raw json.RawMessage) (out SubmitResult, err error) {
	list, err := submissions(raw)
	if err != nil { // never: it was accepted
		return out, temporal.NewNonRetryableApplicationError(err.Error(), activities.ErrorInput, err)
	}
	c.writing++
	defer func() { c.writing-- }()
	c.Submits++ // in the order of the updates, whichever is carried out first
	number := c.Submits
	if err := workflow.Await(ctx, c.hasBegun); err != nil {
		return out, err
	}
	c.submitted = true
	// After a reset numbers are given again, and after a continue-as-new a sender may repeat an ID: neither alone is unique,
	// and of an ID that was there before the frontier returns the answers of that list.
	id := fmt.Sprintf("submit-%d-%s-%d-%s", c.Begun.Run, c.Owner, number, workflow.GetCurrentUpdateInfo(ctx).ID)
	in := activities.SubmitInput{Crawl: c.Name, ID: id, URLs: list}
	if out.URLs, err = c.offer(ctx, in); err != nil {
		return out, err
	}
	out.Answers = map[string]int{}
	for _, a := range out.URLs {
		out.Answers[a.Answer]++
	}
	return out, nil
}

// offer hands URLs to the worker of the crawl, or each to the worker whose it is.
func (c *crawlRun) offer(ctx workflow.Context, in activities.SubmitInput) (answers []frontier.SubmitAnswer, err error) {
	if c.definition.Spread {
		return c.offerToOwners(ctx, in)
	}
	err = workflow.ExecuteActivity(withQueueOptions(ctx, c.Members[0].Queue, fmt.Sprintf("submit %d URLs", len(in.URLs))), steps.Submit, in).Get(ctx, &answers)
	return answers, err
}

// withoutUser refuses a list with user information as a whole: one that is refused leaves nothing in the workflow's history.
func withoutUser(list []frontier.Submission) error {
	for i := range list {
		if crawl.HasUser(list[i].URL) {
			return fmt.Errorf("URL %d of the list has a user name before the host: leave user and password out, they would be kept in Temporal", i+1)
		}
	}
	return nil
}

// submissions reads what is submitted.
func submissions(raw json.RawMessage) (list []frontier.Submission, err error) {
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("a submit is a list of URLs, such as [{\"url\": \"https://example.org/x\", \"score\": 0.9}]: %w", err)
	}
	switch {
	case len(list) == 0:
		return nil, errors.New("no URL is submitted")
	case len(list) > activities.MaxSubmitURLs:
		return nil, fmt.Errorf("%d URLs are submitted, at most %d are allowed at a time: split the list", len(list), activities.MaxSubmitURLs)
	case len(raw) > activities.MaxSubmitBytes:
		return nil, fmt.Errorf("the submitted URLs take %d bytes, at most %d are allowed at a time: split the list", len(raw), activities.MaxSubmitBytes)
	}
	return list, nil
}

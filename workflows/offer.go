package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
)

// ownerPause is how long URLs wait, at first, whose partition has no owner at present, or another one than was thought; ownerPauseMost is the longest pause.
const (
	ownerPause     = 2 * time.Second
	ownerPauseMost = 30 * time.Second
)

// offerToOwners hands each URL to the worker that owns its partition. What has no owner, or another one by the time that it arrives, is
// offered again.
func (c *crawlRun) offerToOwners(ctx workflow.Context, in activities.SubmitInput) ([]frontier.SubmitAnswer, error) {
	answers := make([]frontier.SubmitAnswer, len(in.URLs))
	left := make([]int, len(in.URLs)) // indexes of what is not answered
	for i := range left {
		left[i] = i
	}
	for try, pause := 1, ownerPause; len(left) > 0; try++ {
		if try > 1 {
			if err := workflow.Sleep(ctx, pause); err != nil {
				return nil, err
			}
			pause = min(2*pause, ownerPauseMost)
		}
		c.Ending.Disturb()
		var err error
		if left, err = c.offerOnce(ctx, in, try, left, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// offerOnce fills in the answers of the owners, and returns what is not answered.
func (c *crawlRun) offerOnce(ctx workflow.Context, in activities.SubmitInput, try int, left []int, answers []frontier.SubmitAnswer) (again []int, err error) {
	ask := activities.OwnersInput{Crawl: c.Name}
	for _, i := range left {
		ask.URLs = append(ask.URLs, in.URLs[i].URL)
	}
	var owners []string
	if err := workflow.ExecuteActivity(withSharedOptions(ctx, "whose are the URLs?"), steps.Owners, ask).Get(ctx, &owners); err != nil {
		return nil, err
	}
	running := map[*CrawlMember]workflow.Future{}
	of := map[*CrawlMember][]int{}
	for n, i := range left {
		if m := c.member(owners[n]); m != nil && m.Begun && m.Fault == "" {
			of[m] = append(of[m], i)
		} else {
			again = append(again, i)
		}
	}
	members := c.Present() // in the same order in each replay
	for _, m := range members {
		if len(of[m]) == 0 {
			continue
		}
		part := activities.SubmitInput{Crawl: in.Crawl, ID: fmt.Sprintf("%s-%d", in.ID, try)}
		for _, i := range of[m] {
			part.URLs = append(part.URLs, in.URLs[i])
		}
		running[m] = workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, fmt.Sprintf("submit %d URLs", len(part.URLs))), steps.Submit, part)
	}
	for _, m := range members {
		f := running[m]
		if f == nil {
			continue
		}
		answered, err := awaitAnswer(ctx, f, func() bool { return m.Gone })
		if err != nil {
			return nil, err
		}
		var some []frontier.SubmitAnswer
		if !answered {
			again = append(again, of[m]...)
			continue
		}
		if err := f.Get(ctx, &some); elsewhere(err) {
			again = append(again, of[m]...)
			continue
		} else if err != nil {
			return nil, err
		}
		for n, i := range of[m] {
			answers[i] = some[n]
		}
	}
	slices.Sort(again)
	return again, nil
}

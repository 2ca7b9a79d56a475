package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// While all members say that nothing is left, and yet the end is not found, they are asked again after endPause, then after twice as long, up to
// endPauseMost.
const (
	endPause     = time.Second
	endPauseMost = time.Minute
)

// endRounds is how often they are asked at a time: once to learn the epoch of the ring, and two rounds in which nothing may have changed.
const endRounds = 3

// findEnd finds the end of a crawl that is spread: no member alone knows it.
func (c *crawlRun) findEnd(ctx workflow.Context) {
	if !c.definition.Spread {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for pause := endPause; ; {
			if !c.allEmpty() {
				pause = endPause
			}
			if workflow.Await(ctx, c.allEmpty) != nil {
				return
			}
			found, err := c.askIdle(ctx)
			if err != nil {
				return
			}
			if found && c.allEmpty() {
				c.over = crawl.ReasonDrained
				c.signalControllers(ctx, names.SignalHandover)
				continue
			}
			if workflow.Sleep(ctx, pause) != nil {
				return
			}
			pause = min(2*pause, endPauseMost)
		}
	})
}

// allEmpty reports whether all members say that nothing is left to do at them.
func (c *crawlRun) allEmpty() bool {
	if c.over != "" || c.writing > 0 || c.oneRetires() || len(c.Owing) > 0 || c.Paused || c.Cancelled || len(c.Present()) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.Present(), func(m *CrawlMember) bool {
		return m.running == nil || m.Lost || !c.ready(m) || m.Unseeded || !m.Progress.Empty
	})
}

// askIdle asks all members whether they have anything left, and reports whether that is the end.
func (c *crawlRun) askIdle(ctx workflow.Context) (found bool, err error) {
	for range endRounds {
		var answers []activities.IdleAnswer
		in := activities.IdleInput{Crawl: c.Name, Round: c.Ending.Round}
		if err := c.onAll(ctx, "is anything left?", steps.Idle, sameInput(in), collect(ctx, &answers)); err != nil || len(answers) == 0 {
			return false, err
		}
		newest := slices.MaxFunc(answers, func(a, b activities.IdleAnswer) int { return int(a.Epoch) - int(b.Epoch) })
		c.Ending.View(newest.Epoch, newest.Workers, newest.Owned)
		for _, a := range answers {
			c.Ending.Answer(a.IdleReport)
		}
		if c.Ending.Found {
			return true, nil
		}
	}
	return false, nil
}

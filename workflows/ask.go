package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
)

// elsewherePause is how long a question waits whose partition has another owner by the time that it arrives.
const elsewherePause = time.Second

// Explain asks why a URL stands where it stands: the worker that the input names, or else the one that has the URL. Of a crawl that is spread
// it may have moved when the question arrives: then the next one is asked.
func Explain(ctx workflow.Context, in activities.AskInput) (out frontier.Explanation, err error) {
	for find, end := in.Queue == "", workflow.Now(ctx).Add(askTimeout); ; {
		if find {
			if err := workflow.ExecuteActivity(withAskOptions(ctx, "", "who has "+in.URL+"?"), steps.Answerer, in).Get(ctx, &in.Queue); err != nil {
				return out, err
			}
		}
		err = workflow.ExecuteActivity(withAskOptions(ctx, in.Queue, "look "+in.URL+" up"), steps.Explain, in).Get(ctx, &out)
		if !find || !elsewhere(err) || workflow.Now(ctx).After(end) {
			return out, err
		}
		if err := workflow.Sleep(ctx, elsewherePause); err != nil {
			return out, err
		}
	}
}

// elsewhere reports whether a worker says that another one has a URL.
func elsewhere(err error) bool {
	return ofType(err, activities.ErrorElsewhere) != nil
}

// Host asks a worker what it knows of a host.
func Host(ctx workflow.Context, in activities.HostInput) (out activities.HostResult, err error) {
	err = workflow.ExecuteActivity(withAskOptions(ctx, in.Queue, "look the host "+in.Host+" up"), steps.Host, in).Get(ctx, &out)
	return out, err
}

// Report has the worker of a crawl make a report of it, and puts it into the archive.
func Report(ctx workflow.Context, in activities.AskInput) (out activities.ReportResult, err error) {
	err = workflow.ExecuteActivity(withReportOptions(ctx, in.Queue, "make a report of "+in.Crawl), steps.Report, in).Get(ctx, &out)
	return out, err
}

// Forget has the worker of a crawl delete it from its frontier, or report what would be deleted.
func Forget(ctx workflow.Context, in activities.AskInput) (out frontier.Forgotten, err error) {
	err = workflow.ExecuteActivity(withReportOptions(ctx, in.Queue, "forget "+in.Crawl), steps.Forget, in).Get(ctx, &out)
	return out, err
}

// Reports read the indexes of a whole archive.
const (
	reportTimeout  = 6 * time.Hour
	reportAttempts = 3
)

// withReportOptions is for making a report on a worker's own queue.
func withReportOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: reportTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, RetryPolicy: retryAtMost(reportAttempts),
	})
}

// How long an operator waits for an answer: until its worker takes the question, and for the answer. What fails is tried askAttempts times, with 1 to 8 s between.
const (
	askTimeout  = 30 * time.Second
	askAttempts = 5
)

// withAskOptions is for questions of an operator, who waits, to a worker's own queue.
func withAskOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToStartTimeout: askTimeout, StartToCloseTimeout: askTimeout, Summary: summary, RetryPolicy: retryAtMost(askAttempts),
	})
}

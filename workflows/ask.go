package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
)

// Explain asks the worker of a crawl why a URL stands where it stands.
func Explain(ctx workflow.Context, in activities.AskInput) (out frontier.Explanation, err error) {
	err = workflow.ExecuteActivity(withAskOptions(ctx, in.Queue, "look "+in.URL+" up"), steps.Explain, in).Get(ctx, &out)
	return out, err
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

// askTimeout is how long an operator waits for an answer, attempts and all.
const askTimeout = 30 * time.Second

// withAskOptions is for questions of an operator, who waits, to a worker's own queue.
func withAskOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToCloseTimeout: askTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

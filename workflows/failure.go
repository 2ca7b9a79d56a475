package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
)

// stepNames are the steps of a batch as people know them, by activity.
var stepNames = map[string]string{
	"Open": "the opening of its claims", "Lease": "the taking of its leases", "FetchTargets": "FETCH",
	"Process": "AAH, SCORE and ARCHIVE", "Undelivered": "the delivery of links", "Route": "the delivery of links", "Commit": "the commit to the frontier",
}

// inWords says what failed and why.
func inWords(err error) string {
	var step *temporal.ActivityError
	if !errors.As(err, &step) {
		return reasonOf(err)
	}
	if app := ofType(err, activities.ErrorStep); app != nil {
		return app.Message() // which says which step failed how often
	}
	return stepFailed(step.ActivityType().GetName(), step.RetryState(), reasonOf(step.Unwrap()))
}

// ofType returns the error of a step that says by its type what is wrong; nil if it is of another type.
func ofType(err error, kind string) *temporal.ApplicationError {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() == kind {
		return app
	}
	return nil
}

// stepOf is the name of the step that failed in an activity, and the reason without it.
func stepOf(activity, reason string) (name, rest string) {
	if step, rest, _ := strings.Cut(reason, ": "); activity == "Process" && slices.Contains(activities.ProcessSteps, step) {
		return step, rest
	}
	return cmp.Or(stepNames[activity], activity), reason
}

func stepFailed(activity string, state enums.RetryState, reason string) string {
	name, reason := stepOf(activity, reason)
	if state == enums.RETRY_STATE_NON_RETRYABLE_FAILURE {
		return fmt.Sprintf("%s failed, and trying it again cannot help: %s", name, reason)
	}
	return fmt.Sprintf("%s failed: %s", name, reason)
}

// reasonOf says why a step failed.
func reasonOf(err error) string {
	if err == nil {
		return "the reason is unknown"
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *temporal.ApplicationError:
			return e.Message()
		case *temporal.TimeoutError:
			return timeoutReason(e)
		case *temporal.PanicError:
			return "a fault of the program: " + e.Error()
		}
	}
	return err.Error()
}

func timeoutReason(err *temporal.TimeoutError) string {
	text := map[enums.TimeoutType]string{
		enums.TIMEOUT_TYPE_HEARTBEAT:         fmt.Sprintf("its worker gave no sign of life for %s: it was stopped or killed, or cannot reach Temporal", heartbeatTimeout),
		enums.TIMEOUT_TYPE_START_TO_CLOSE:    "it took longer than it may",
		enums.TIMEOUT_TYPE_SCHEDULE_TO_START: "no worker took it",
		enums.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE: "all attempts together took longer than they may",
	}[err.TimeoutType()]
	text = cmp.Or(text, "a timeout")
	if cause := errors.Unwrap(err); cause != nil {
		text += ", after: " + reasonOf(cause)
	}
	return text
}

// failure is the error that a batch ends with: a sentence for people, with what happens now and how to retry. Its cause is
// the error of the step.
func failure(id string, err error) error {
	kind := "BatchFailed"
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() != "" {
		kind = app.Type()
	}
	return temporal.NewApplicationErrorWithCause(inWords(err)+". "+afterFailure+retryCommand(id), kind, err)
}

const afterFailure = "What it has fetched is archived and committed, if that is possible; its other URLs go back to their queues, and are claimed again after the time of the setting give-back. To retry it at once: "

// retryCommand resets a batch.
func retryCommand(id string) string {
	return "temporal workflow reset --type FirstWorkflowTask --reason retry --workflow-id '" + id + "'"
}

// StepFailure says in words why a step is tried again; for those who look at pending activities.
func StepFailure(activity string, attempt int32, message string, timeout bool) string {
	name, message := stepOf(activity, message)
	if timeout {
		message = fmt.Sprintf("its worker gave no sign of life for %s, or it took longer than it may (%s)", heartbeatTimeout.Round(time.Second), message)
	}
	return fmt.Sprintf("%s, attempt %d: %s", name, attempt, message)
}

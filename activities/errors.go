package activities

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/kb"
)

// The types of application errors, as the UI shows them.
const (
	ErrorInput = "Input"
	ErrorBusy  = "CrawlIsRunning"
	ErrorSpool = "SpoolIsGone"
	ErrorClaim = "ClaimIsGone"
	ErrorDisk  = "DiskIsFull"
	ErrorRules = "KnowledgeBaseIsBroken"
	ErrorStep  = "StepGaveUp"
	ErrorStore = "ArchiveFails"

	ErrorBusyAddress = "AddressIsBusy"
	ErrorShards      = "PolitenessShardsDiffer"
	ErrorInstance    = "DataFolderDiffers"
	ErrorProcess     = "ProcessIsGone"
	ErrorReset       = "StateIsLost"

	ErrorUndelivered = "LinksAreNotDelivered"
	ErrorElsewhere   = "URLIsElsewhere"
)

// toApplicationError turns domain errors into Temporal's, in this one place: what can never succeed is not retried.
func toApplicationError(err error) error {
	var made *temporal.ApplicationError
	var input *crawl.InputError
	var rules kb.Faults
	var store *archive.StoreError
	switch {
	case err == nil, errors.As(err, &made):
		return err
	case errors.As(err, &input):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorInput, err)
	case errors.As(err, &rules):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorRules, err)
	case errors.Is(err, frontier.ErrTooMany), errors.Is(err, frontier.ErrOldRun), errors.Is(err, archive.ErrKey), errors.Is(err, archive.ErrUnconditional):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorInput, err)
	case errors.Is(err, frontier.ErrBusy):
		return temporal.NewNonRetryableApplicationError(err.Error()+": stop it first, or wait for its end", ErrorBusy, err)
	case errors.Is(err, spool.ErrMissing):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorSpool, err)
	case errors.Is(err, frontier.ErrNoBatch), errors.Is(err, archive.ErrGivenBack), errors.Is(err, archive.ErrForeign):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorClaim, err)
	case errors.Is(err, frontier.ErrUndelivered): // the batch delivers first
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorUndelivered, err)
	case errors.Is(err, frontier.ErrElsewhere): // it is sent to the owner of its partition
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorElsewhere, err)
	case errors.Is(err, ring.ErrStale):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrorClaim, err)
	case errors.As(err, &store):
		return temporal.NewApplicationErrorWithCause("the archive fails: "+err.Error()+": the step is tried again", ErrorStore, err)
	case disk.Full(err):
		return temporal.NewApplicationErrorWithCause(err.Error()+": make room, the step is tried again", ErrorDisk, err)
	}
	return err
}

func (a *Activities) queue() string { return a.Settings.Queue + "/" + a.Settings.Worker }

// isOpen reports whether a workflow's run is still going.
func (a *Activities) isOpen(ctx context.Context, workflow, run string) (bool, error) {
	out, err := a.Client.DescribeWorkflowExecution(ctx, workflow, "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info := out.GetWorkflowExecutionInfo()
	same := run == "" || strings.EqualFold(info.GetFirstRunId(), run)
	return same && info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

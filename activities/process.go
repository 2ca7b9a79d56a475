package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/pipeline"
)

// ProcessResult is what the steps after FETCH have made of a batch; those that a later attempt found no need for are nil.
type ProcessResult struct {
	Analysed *AnalyseResult `json:"analysed,omitempty"`
	Scored   *ScoreResult   `json:"scored,omitempty"`
	Archived *ArchiveResult `json:"archived,omitempty"`
}

// ProcessSteps are the names of the steps in Process, as its errors begin with them.
var ProcessSteps = []string{nameAnalyse, nameScore, nameArchive}

// Process takes what a batch has fetched through AAH, SCORE and ARCHIVE. They follow each other on one worker and hand the
// pages on in its memory, so Temporal need not know of each: three activities would cost it twelve events more a batch.
// An attempt does not repeat the steps whose pages still lie in memory. Once the manifest is in the archive, AAH and SCORE
// are not run again: what the crawl remembers of the pages would count twice.
func (a *Activities) Process(ctx context.Context, in BatchInput) (out ProcessResult, err error) {
	stands, err := a.lifeState(ctx, in)
	if err != nil {
		return out, err
	}
	b := a.spooled(ctx, in)
	if stands != isArchived {
		err = a.runPart(ctx, in, nameAnalyse, pipeline.StepParse, func(ctx context.Context) (err error) {
			out.Analysed, err = result(a.analyse(ctx, b))
			return err
		})
		if err != nil {
			return out, err
		}
		err = a.runPart(ctx, in, nameScore, pipeline.StepJudge, func(ctx context.Context) (err error) {
			out.Scored, err = result(a.score(ctx, b))
			return err
		})
		if err != nil {
			return out, err
		}
	}
	return out, a.runPart(ctx, in, nameArchive, pipeline.StepArchive, func(ctx context.Context) (err error) {
		out.Archived, err = result(a.archive(ctx, in, b))
		return err
	})
}

// runPart runs a step of Process: with a seat, and under its name in heartbeats, profiles and errors. The interceptor cannot name
// it: it sees only the activity.
func (a *Activities) runPart(ctx context.Context, in BatchInput, name string, seat pipeline.Step, do func(context.Context) error) error {
	heartbeatWith(ctx, func() any { return name })
	return a.withSeat(ctx, in.Crawl, seat, func(ctx context.Context) (err error) {
		pprof.Do(ctx, pprof.Labels(LabelStep, name), func(ctx context.Context) { err = do(ctx) })
		return stepError(name, toApplicationError(err))
	})
}

// LabelStep is the label of CPU profiles that names the step, or the activity, in which time is spent.
const LabelStep = "step"

func result[T any](out T, err error) (*T, error) { return &out, err }

// stepError names the step in an error.
func stepError(step string, err error) error {
	var appErr *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &appErr):
		return temporal.NewApplicationErrorWithOptions(step+": "+appErr.Message(), appErr.Type(), temporal.ApplicationErrorOptions{
			NonRetryable: appErr.NonRetryable(), Cause: errors.Unwrap(appErr),
		})
	}
	return fmt.Errorf("%s: %w", step, err)
}

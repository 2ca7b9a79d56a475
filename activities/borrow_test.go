package activities

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// silent is a Temporal whose shard does not answer.
type silent struct{ client.Client }

func (silent) UpdateWorkflow(ctx context.Context, _ client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A lane waits a bounded time for a lease that it borrows: its own address is held meanwhile.
func TestBorrowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		a := &Activities{Client: silent{}}
		begun := time.Now()
		_, err := a.borrow(ctx, 0, politeness.Ask{})
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != BorrowWait+borrowMargin {
			t.Errorf("%v after %s, want an end after %s", err, took, BorrowWait+borrowMargin)
		}
	})
}

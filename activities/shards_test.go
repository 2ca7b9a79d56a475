package activities

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/muninn-archive/muninn/activities/names"
)

// shards is a Temporal that knows executions of politeness shards: when each ended, zero if it runs.
type shards struct {
	client.Client
	ended   map[string]time.Time
	memo    *common.Memo
	started []PolitenessInput
}

func (s *shards) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	at, known := s.ended[id]
	if !known {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	info := &workflow.WorkflowExecutionInfo{Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: s.memo}
	if !at.IsZero() {
		info.Status, info.CloseTime = enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, timestamppb.New(at)
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

func (s *shards) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	at, known := s.ended[o.ID]
	if known && !at.IsZero() && o.WorkflowIDReusePolicy == enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it ran before", "", "")
	}
	s.started = append(s.started, args[0].(PolitenessInput))
	return nil, nil
}

// Leases granted by another number of shards bind the shards that take over their addresses, also a shard that has never run, or
// not since then.
func TestShardsOfAnotherNumberWait(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	zero, second := names.PolitenessID(0), names.PolitenessID(2)
	for name, test := range map[string]struct {
		ended map[string]time.Time
		lost  time.Time
	}{
		"nothing ever ran":                     {nil, time.Time{}},
		"a shard that never ran":               {map[string]time.Time{zero: now}, now},
		"one that ran long before":             {map[string]time.Time{zero: now, second: now.Add(-time.Hour)}, now},
		"one that ended last":                  {map[string]time.Time{zero: now, second: now.Add(time.Second)}, now.Add(time.Second)},
		"one that was terminated alone":        {map[string]time.Time{zero: {}, second: now}, now},
		"one that is new beside one that runs": {map[string]time.Time{zero: {}}, time.Time{}},
	} {
		s := &shards{ended: test.ended}
		if err := StartPoliteness(t.Context(), s, 2, 4, nil); err != nil {
			t.Fatal(err)
		}
		if len(s.started) != 1 || !s.started[0].Lost.Equal(test.lost) || s.started[0].Shards != 4 {
			t.Errorf("%s: started with %+v, want lost at %v", name, s.started, test.lost)
		}
	}
}

// The error of a worker about another number of shards says what to do; so does the one about shards of a version without a number.
func TestCheckShards(t *testing.T) {
	memo := func(n int) *common.Memo {
		p, err := converter.GetDefaultDataConverter().ToPayload(n)
		if err != nil {
			t.Fatal(err)
		}
		return &common.Memo{Fields: map[string]*common.Payload{memoShards: p}}
	}
	for want, m := range map[string]*common.Memo{
		"": memo(2),
		"politeness-shards is 2, but politeness runs in 3 shards here: set it to 3":                                          memo(3),
		"older version, which did not note the number of shards; this version cannot continue the crawls of that one either": nil,
	} {
		err := CheckShards(t.Context(), &shards{ended: map[string]time.Time{names.PolitenessID(1): {}}, memo: m}, 2)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

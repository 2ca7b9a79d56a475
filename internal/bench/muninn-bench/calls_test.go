package main

import (
	"maps"
	"strings"
	"testing"
)

func TestReadCalls(t *testing.T) {
	got, err := readCalls(strings.NewReader(`# TYPE temporal_request_total counter
temporal_long_request_total{activity_type="",operation="PollWorkflowTaskQueue",worker_type="none"} 220
temporal_request_total{activity_type="",operation="RespondWorkflowTaskCompleted",workflow_type="Batch"} 116
temporal_request_total{activity_type="",operation="RespondWorkflowTaskCompleted",workflow_type="Crawl"} 11
temporal_request_failure_total{activity_type="",operation="RespondWorkflowTaskCompleted",workflow_type="Crawl"} 3
temporal_request_latency_seconds_count{operation="StartWorkflowExecution"} 7
`))
	want := map[string]int{"PollWorkflowTaskQueue": 220, "RespondWorkflowTaskCompleted": 127}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

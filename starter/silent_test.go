package starter

import (
	"strings"
	"testing"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/workflows"
)

// The last sign of life of a worker is the latest of all that Temporal knows.
func TestLastSeen(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) *timestamppb.Timestamp {
		return timestamppb.New(noon.Add(time.Duration(minutes) * time.Minute))
	}
	polls := func(minutes ...int) (list []*taskqueuepb.PollerInfo) {
		for _, m := range minutes {
			list = append(list, &taskqueuepb.PollerInfo{LastAccessTime: at(m)})
		}
		return list
	}
	for name, tc := range map[string]struct {
		pollers  []*taskqueuepb.PollerInfo
		steps    []*workflowpb.PendingActivityInfo
		reported time.Time
		want     time.Time
	}{
		"nothing is known":     {want: time.Time{}},
		"it has polled":        {polls(1, 5, 3), nil, noon, noon.Add(5 * time.Minute)},
		"it reported later":    {polls(1), nil, noon.Add(2 * time.Minute), noon.Add(2 * time.Minute)},
		"a step was never run": {nil, []*workflowpb.PendingActivityInfo{{}}, noon, noon},
		"a step was run":       {polls(1), []*workflowpb.PendingActivityInfo{{LastStartedTime: at(4)}, {}}, noon, noon.Add(4 * time.Minute)},
		"a step gave a heartbeat": {polls(1), []*workflowpb.PendingActivityInfo{{LastStartedTime: at(4), LastHeartbeatTime: at(7)}}, noon,
			noon.Add(7 * time.Minute)},
	} {
		if got := lastSeen(tc.pollers, tc.steps, tc.reported); !got.Equal(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// The status says that the worker of a crawl is away, since when, and what becomes of the crawl.
func TestStatusWithASilentWorker(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for name, tc := range map[string]struct {
		worker silentWorker
		edit   func(*crawlStatus)
		want   []string
	}{
		"crawling": {silentWorker{"w1", "muninn/w1", ago(time.Hour)}, nil, []string{
			"its worker w1 is away: its last sign of life was at 20", "1h0m0s ago;", "the crawl continues when it is back; to end it without, `temporal workflow cancel --workflow-id 'crawl/c'`",
		}},
		"just now": {silentWorker{"w1", "muninn/w1", ago(time.Minute)}, nil, []string{"its worker w1 does not answer (--wait asks for longer): its last sign of life was at 20"}},
		"never":    {silentWorker{"w1", "muninn/w1", time.Time{}}, nil, []string{"its worker w1 is away: Temporal knows no sign of life"}},
		"stopping": {silentWorker{"w1", "muninn/w1", ago(time.Hour)}, func(s *crawlStatus) { s.Crawl.Stopping = true }, []string{
			"stopping: running batches finish", "the crawl stops when it is back; to end it without",
		}},
		"paused": {silentWorker{"w1", "muninn/w1", ago(time.Hour)}, func(s *crawlStatus) { s.Crawl.Paused = true }, []string{
			"broad, paused", "it can be resumed when it is back; to end it without",
		}},
		"cancelled": {silentWorker{"w1", "muninn/w1", ago(time.Hour)}, func(s *crawlStatus) { s.Crawl.Cancelled = true }, []string{
			"the crawl ends without it 11m0s after it was cancelled; its batches end when it is back\n",
		}},
		"all are away": {silentWorker{"", "muninn", ago(time.Hour)}, func(s *crawlStatus) {
			s.Crawl.Begun.Run, s.Crawl.Phase, s.Crawl.Progress.Totals.Pages = 0, "broad, paused", 12
		}, []string{
			"c: Running, broad, paused, 12 pages, 0 errors when it was last reported\n", "every worker of the task queue muninn is away",
			"to end it without, `temporal workflow terminate --workflow-id 'crawl/c'`",
		}},
		"not begun": {silentWorker{"", "muninn", time.Time{}}, func(s *crawlStatus) { s.Crawl.Begun.Run, s.Crawl.Phase = 0, "" }, []string{
			"c: Running\n", "every worker of the task queue muninn is away: Temporal knows no sign of life", "the crawl continues when one runs",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := crawlStatus{Workflow: "crawl/c", State: "Running", Silent: &tc.worker}
			s.Crawl.Name, s.Crawl.Phase, s.Crawl.Begun.Run = "c", "broad", 1
			if tc.edit != nil {
				tc.edit(&s)
			}
			var b strings.Builder
			s.write(&b)
			for _, want := range tc.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not in\n%s", want, b.String())
				}
			}
		})
	}
}

// The status of a spread crawl has a line for each worker: what it has done, why it holds, and what to do about one that is lost or does not answer.
func TestStatusOfASpreadCrawl(t *testing.T) {
	s := crawlStatus{Workflow: "crawl/c", State: "Running"}
	s.Crawl.Name, s.Crawl.Phase, s.Crawl.Begun.Run = "c", crawl.PhaseBroad, 1
	for _, name := range []string{"w1", "w2", "w3", "w4"} {
		m := &workflows.CrawlMember{Member: activities.Member{Worker: name}, Begun: true}
		m.Progress.State, m.Progress.Totals.Pages, m.Progress.At = crawl.ControllerCrawling, 7, time.Now()
		s.Crawl.Members, s.Crawl.Ring = append(s.Crawl.Members, m), append(s.Crawl.Ring, m.Member)
	}
	s.Crawl.Members[1].Lost = true
	s.Crawl.Members[2].Progress.Holds = "the disk is full"
	s.Unanswered = []silentWorker{{"w2", "muninn/w2", time.Now()}, {"w4", "muninn/w4", time.Now()}}
	var out strings.Builder
	s.write(&out)
	for _, want := range []string{
		"(run 1, worker w1, w2, w3, w4)", "  worker    w1: crawling, 7 pages, 0 in flight", "  worker    w2: lost: it is silent, 7 pages", "start worker w2 again",
		"  worker    w3: holding, 7 pages, 0 in flight, 0 URLs wait in 0 queues; holds: the disk is full", "queues; it does not answer\n            its last sign of life was at 20",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

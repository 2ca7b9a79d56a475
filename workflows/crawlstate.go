package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
	"github.com/muninn-archive/muninn/internal/topic"
)

// CrawlState is carried from execution to execution, and shown by the status query.
type CrawlState struct {
	Name     string                 `json:"name"`
	Phase    crawl.Phase            `json:"phase"`
	Owner    string                 `json:"owner"`
	Members  []*CrawlMember         `json:"members"` // a crawl that is bound to a worker has one
	Begun    activities.BeginResult `json:"begun"`
	Paused   bool                   `json:"paused,omitempty"`
	Stopping bool                   `json:"stopping,omitempty"`
	// Aborting says that the batches end at once, too.
	Aborting bool `json:"aborting,omitempty"`
	// Cancelled says that the crawl ends once its batches have ended, without the end of its run.
	Cancelled bool `json:"cancelled,omitempty"`
	// CancelWait is how long a cancelled crawl waits for its controller; 0: ControllerWait.
	CancelWait time.Duration `json:"cancel_wait,omitempty"`

	Progress   activities.Progress `json:"progress"` // of all members together
	TopicModel *topic.Model        `json:"learned,omitempty"`
	Submits    int                 `json:"submits,omitempty"`

	// Of a crawl that is spread over the workers of the ring: when its run began; those workers, as the crawl has last heard, and in which epoch; how often the
	// definition has changed; where the samples of the reference crawl lie; what the members share.
	Started   time.Time                      `json:"started,omitzero"`
	Ring      []activities.Member            `json:"ring,omitempty"`
	Former    *Former                        `json:"former,omitempty"`
	Uncounted bool                           `json:"uncounted,omitempty"` // what workers have done that earlier executions have given up
	RingEpoch uint64                         `json:"ring_epoch,omitempty"`
	Version   int                            `json:"version,omitempty"`
	Samples   []string                       `json:"samples,omitempty"`
	Budgets   map[crawl.Reason]*share.Budget `json:"budgets,omitempty"`
	Ending    share.Ending                   `json:"ending,omitzero"`
	// TimeFrom is from when its budget of time counts, by the clock of Temporal.
	TimeFrom time.Time `json:"time_from,omitzero"`
	Owing    []Owing   `json:"owing,omitempty"` // batches that have been committed, and deliver still
	// Parsed says that the definition that the execution is given is a value, not what somebody wrote.
	Parsed bool `json:"parsed,omitempty"`
}

// CrawlMember is a worker that takes part in a crawl.
type CrawlMember struct {
	activities.Member
	Progress activities.Progress `json:"progress,omitzero"` // as it last reported
	// Controller is where its last FetcherController left off.
	Controller ControllerInput `json:"controller,omitzero"`

	// The rest is of a crawl that is spread over the workers of the ring.
	Begun   bool   `json:"begun,omitempty"`   // it knows the run
	Version int    `json:"version,omitempty"` // of the definition that it has: CrawlState.Version
	Learned bool   `json:"learned,omitempty"` // it knows the topic
	Gone    bool   `json:"gone,omitempty"`    // it has left, or the ring has given it up; what it had done counts
	Counted bool   `json:"counted,omitempty"` // it is gone, and its numbers are what it has archived, not what it last reported
	Fault   string `json:"fault,omitempty"`   // why it cannot take part
	// Retiring says that it is gone, and that what the crawl has at it has not ended yet. Taken are the partitions whose owners have by then what it had
	// archived and not delivered.
	Retiring bool  `json:"retiring,omitempty"`
	Taken    []int `json:"taken,omitempty"`
	Absent   bool  `json:"absent,omitempty"` // it is gone, and was never a member that could claim: see giveUpAbsent
	// Account is its name in the budgets, and Allotments what it may use of them.
	Account    string                           `json:"account,omitempty"`
	Allotments map[crawl.Reason]share.Allotment `json:"allotments,omitempty"`
	// Life is that of its process when it began the run; 0 if it has begun it by an earlier version, which does not say it.
	Life uint64 `json:"life,omitempty"`

	// LastController is the workflow ID of its last controller; empty: it has had none, or an earlier version has started it, which names it by the worker.
	LastController string `json:"last_controller,omitempty"`

	// Unseeded says that it has begun the run and has not queued the seeds of all of its partitions, because some were on their way.
	Unseeded bool `json:"unseeded,omitempty"`
	// Unqueued is why it could not queue them, the last time; it is asked again.
	Unqueued string `json:"unqueued,omitempty"`

	phase     int   // that it knows: crawlRun.phase
	late      bool  // the crawl continues without its answer
	refusal   error // behind Fault
	seeding   bool  // see queueRest
	began     activities.BeginResult
	preparing bool
	cutOff    bool                         // its controller was terminated, or is replaced after a reset
	blocked   time.Duration                // its last controller could not be started for so long: one of an execution before a reset runs
	waits     bool                         // for the end of that one
	running   workflow.ChildWorkflowFuture // its controller; nil if none runs
}

// UnmarshalJSON reads the state, also that of a version in which a crawl had one worker.
func (s *CrawlState) UnmarshalJSON(text []byte) error {
	type plain CrawlState
	former := struct {
		*plain
		Member     activities.Member `json:"member"`
		Controller ControllerInput   `json:"controller"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &former); err != nil {
		return fmt.Errorf("state of the crawl: %w", err)
	}
	if len(s.Members) == 0 && former.Member.Worker != "" {
		s.Members = []*CrawlMember{{Member: former.Member, Progress: s.Progress, Controller: former.Controller}}
	}
	return nil
}

// Present are the members that are not gone.
func (s *CrawlState) Present() (list []*CrawlMember) {
	for _, m := range s.Members {
		if !m.Gone {
			list = append(list, m)
		}
	}
	return list
}

// Workers names the members that are not gone.
func (s *CrawlState) Workers() (names []string) {
	for _, m := range s.Present() {
		names = append(names, m.Worker)
	}
	return names
}

// member is the member of a worker that is not gone; nil if there is none.
func (s *CrawlState) member(worker string) *CrawlMember {
	for _, m := range s.Present() {
		if m.Worker == worker {
			return m
		}
	}
	return nil
}

// TakeProgress takes the progress that the controller of a member reports.
func (s *CrawlState) TakeProgress(p activities.Progress) {
	if m := s.reporter(p); m != nil {
		m.Progress = p
	}
	s.Progress = s.sum()
}

// reporter is the member whose progress that is; nil if it is gone, although its worker has another data folder by now.
func (s *CrawlState) reporter(p activities.Progress) *CrawlMember {
	if m := s.member(p.Worker); m != nil && (activities.Holder{Worker: p.Worker, Instance: p.Instance}).Is(m.Member) {
		return m
	}
	return nil
}

// CrawlResult is the result of a crawl.
type CrawlResult struct {
	Reason     crawl.Reason          `json:"reason"`
	Archive    string                `json:"archive"`
	Run        uint32                `json:"run"`
	Totals     frontier.Totals       `json:"totals"`
	Harvest    float64               `json:"harvest_ratio"`
	Top        []frontier.Top        `json:"top"`
	TopicModel *topic.Model          `json:"learned,omitempty"`
	Ends       []frontier.DroppedURL `json:"ends,omitempty"` // URLs that ended without a page, the last of each kind
	// Harvests is the harvest ratio of each tenth of the pages.
	Harvests []float64 `json:"harvests,omitempty"`
	frontier.Damage
	// Traps are the last patterns of URLs that were closed.
	Traps  []frontier.ClosedTrap `json:"traps,omitempty"`
	Report string                `json:"report,omitempty"` // key in the archive
}

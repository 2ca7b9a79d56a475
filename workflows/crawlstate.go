package workflows

import (
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// CrawlState is carried from execution to execution, and shown by the status query.
type CrawlState struct {
	Name     string                 `json:"name"`
	Phase    crawl.Phase            `json:"phase"`
	Owner    string                 `json:"owner"`
	Member   activities.Member      `json:"member"`
	Begun    activities.BeginResult `json:"begun"`
	Paused   bool                   `json:"paused,omitempty"`
	Stopping bool                   `json:"stopping,omitempty"`
	// Aborting says that the batches end at once, too.
	Aborting bool `json:"aborting,omitempty"`
	// Cancelled says that the crawl ends once its batches have ended, without the end of its run.
	Cancelled bool `json:"cancelled,omitempty"`
	// CancelWait is how long a cancelled crawl waits for its controller; 0: ControllerWait.
	CancelWait time.Duration `json:"cancel_wait,omitempty"`

	Progress   activities.Progress `json:"progress"`
	TopicModel *topic.Model        `json:"learned,omitempty"`
	Submits    int                 `json:"submits,omitempty"`
	// Parsed says that the definition that the execution is given is a value, not what somebody wrote.
	Parsed bool `json:"parsed,omitempty"`
	// Controller is where the last FetcherController left off.
	Controller ControllerInput `json:"controller,omitzero"`
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
	Report   string    `json:"report,omitempty"` // key in the archive
}

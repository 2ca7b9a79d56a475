package activities

import (
	"time"

	"github.com/muninn-archive/muninn/frontier"
)

// BatchInput is the input of a Batch workflow, and of its steps.
type BatchInput struct {
	Holder            // that claimed it
	Crawl  string     `json:"crawl"`
	Batch  string     `json:"batch"` // the name of its segment
	Claims []ClaimRef `json:"claims"`
	URLs   int        `json:"urls"`
	Shards int        `json:"shards"`
	// Attempts is how often an activity may fail for reasons of the batch itself before the batch fails; 0: DefaultAttempts.
	Attempts int `json:"attempts,omitempty"`
	// Spread says that the crawl is spread over the ring: what the batch finds for other workers is delivered before it is committed.
	Spread    bool  `json:"spread,omitempty"`
	Delivered []int `json:"delivered,omitempty"` // partitions for which that is done
	// Owes says that it is committed before some of these are delivered, see frontier.Owing.
	Owes bool `json:"owes,omitempty"`
	// Refused is which worker has refused the last delivery, and why: what it refused it refuses again, until an operator changes something.
	Refused string `json:"refused,omitempty"`
	// Version is that of the definition by which its claims were made, the earliest if they differ; see ConfigureInput.
	Version int `json:"definition_version,omitempty"`
	// Owed is what an earlier execution of the workflow has left to do, whose history grew too long; nil: all.
	Owed *Owed `json:"owed,omitempty"`
}

// Owed is what a batch that is committed has left to deliver.
type Owed struct {
	Left   DeliverInput `json:"left"`
	Until  time.Time    `json:"until,omitzero"`   // it is cancelled, and ends then
	Failed string       `json:"failed,omitempty"` // why it fails once all is delivered; empty: it does not
	Result BatchResult  `json:"result,omitzero"`
	// Unsaid says that the crawl was sent no word of it; false in what an earlier version wrote, which sent one.
	Unsaid bool `json:"unsaid,omitempty"`
}

// batch returns the batch in the frontier.
func (a *Activities) batch(in BatchInput) frontier.Batch {
	return a.Frontier.Crawl(in.Crawl).Batch(in.Batch)
}

// ClaimRef names a claim of a batch.
type ClaimRef struct {
	ID  string `json:"id"`
	PLD string `json:"pld"`
	IP  string `json:"ip"`
}

// BatchResult is the result of a Batch workflow.
type BatchResult struct {
	URLs     int            `json:"urls"`
	Fetched  *FetchResult   `json:"fetched,omitempty"`
	Analysed *AnalyseResult `json:"analysed,omitempty"`
	Scored   *ScoreResult   `json:"scored,omitempty"`
	Archived *ArchiveResult `json:"archived,omitempty"`
	Note     string         `json:"note,omitempty"`
}

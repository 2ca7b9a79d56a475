package activities

import (
	"encoding/json"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/score"
)

// Member is a worker that takes part.
type Member struct {
	Worker string `json:"worker"`
	Queue  string `json:"queue"` // its own task queue
}

// BeginInput begins or goes on with a run.
type BeginInput struct {
	Definition crawl.Definition `json:"definition"`
	Owner      string           `json:"owner"` // workflow ID "@" run ID of the first Crawl execution
}

// BeginResult says what the run starts from.
type BeginResult struct {
	Run     uint32 `json:"run"`
	Seeds   int    `json:"seeds"`
	Archive string `json:"archive"` // where the segments go
	// Former is where the segments went before, if that was another archive: pages are archived whole again.
	Former string `json:"former_archive,omitempty"`
}

// PhaseInput bounds the claims of a phase.
type PhaseInput struct {
	Crawl     string `json:"crawl"`
	Pages     int64  `json:"pages"` // 0: the budget alone
	Reference bool   `json:"reference"`
}

// ClaimInput asks for a round of claims.
type ClaimInput struct {
	Crawl   string             `json:"crawl"`
	Round   int64              `json:"round"`
	Reply   string             `json:"reply"`           // the controller's workflow ID
	Drain   bool               `json:"drain,omitempty"` // claim nothing, wait for what is out
	Hold    bool               `json:"hold,omitempty"`  // claim nothing, the crawl is paused
	Held    bool               `json:"held,omitempty"`  // the last round told that the crawl holds
	First   bool               `json:"first,omitempty"` // the first round of a controller: what no frontier knows any more is released
	Confirm frontier.Confirmed `json:"confirm,omitzero"`
}

// ClaimResult is a round; its asks, releases and renewals are on their way to Politeness already.
type ClaimResult struct {
	Sent     int                `json:"sent"` // shards that will answer
	Confirm  frontier.Confirmed `json:"confirm,omitzero"`
	Drained  bool               `json:"drained,omitempty"`
	Spent    crawl.Reason       `json:"spent,omitempty"`
	Idle     bool               `json:"idle,omitempty"`  // nothing is out, of a round that claims nothing
	Holds    string             `json:"holds,omitempty"` // why nothing was claimed
	Progress Progress           `json:"progress"`
}

// PolitenessInput is the input of a politeness shard. State and Unserved are nil but when it continues as new; Unserved
// holds the rounds that came while the last answers of the execution before were on their way.
type PolitenessInput struct {
	Shard    int                `json:"shard"`
	Shards   int                `json:"shards"`
	Lost     time.Time          `json:"lost,omitzero"` // when a former life of the shard ended, whose state is lost
	State    *politeness.State  `json:"state,omitempty"`
	Unserved []politeness.Round `json:"unserved,omitempty"`
}

// BorrowInput asks for a lease at once, for a few requests.
type BorrowInput struct {
	politeness.Ask
	Shards int `json:"shards"` // that the worker knows
}

// StartInput starts the batches of granted claims.
type StartInput struct {
	Crawl  string             `json:"crawl"`
	Grants []politeness.Grant `json:"grants"`
}

// BatchInput is the input of a Batch workflow, and of its steps.
type BatchInput struct {
	Crawl  string     `json:"crawl"`
	Batch  string     `json:"batch"` // the name of its segment
	Claims []ClaimRef `json:"claims"`
	URLs   int        `json:"urls"`
	Shards int        `json:"shards"`
	// Attempts is how often an activity may fail for reasons of the batch itself before the batch fails; 0: DefaultAttempts.
	Attempts int `json:"attempts,omitempty"`
}

// ClaimRef names a claim of a batch.
type ClaimRef struct {
	ID  string `json:"id"`
	PLD string `json:"pld"`
	IP  string `json:"ip"`
}

// OpenResult says what there is to do.
type OpenResult struct {
	Done     bool             `json:"done,omitempty"`     // committed, or nothing of it is left
	Archived bool             `json:"archived,omitempty"` // only the commit is missing
	URLs     int              `json:"urls"`
	Asks     []politeness.Ask `json:"asks,omitempty"` // leases that must be had before fetching
}

// AskLeasesInput asks a politeness shard for leases, or withdraws what was asked for.
type AskLeasesInput struct {
	Crawl    string           `json:"crawl"`
	Shard    int              `json:"shard"`
	Reply    string           `json:"reply"` // the workflow that is told of the grants
	Asks     []politeness.Ask `json:"asks"`
	Withdraw bool             `json:"withdraw,omitempty"`
}

// LeaseInput gives a batch the leases that it asked for.
type LeaseInput struct {
	BatchInput
	Grants []politeness.Grant `json:"grants"`
}

// FetchResult sums up a batch's fetching.
type FetchResult struct {
	URLs    int            `json:"urls"`
	Kinds   map[string]int `json:"kinds"` // outcomes by kind
	Bytes   int64          `json:"bytes"`
	Resumed int            `json:"resumed,omitempty"` // exchanges that an earlier attempt left
}

// AnalyseResult sums up what the helper found.
type AnalyseResult struct {
	Pages        int            `json:"pages"`
	Links        int            `json:"links"`
	Objects      int            `json:"objects"`
	Applications map[string]int `json:"applications,omitempty"`
	Broken       int            `json:"broken,omitempty"` // pages that the parser failed on; they are archived
}

// ScoreResult sums up the scores.
type ScoreResult struct {
	Pages    int     `json:"pages"`
	Relevant int     `json:"relevant"`
	Mean     float64 `json:"mean"`
}

// ArchiveResult names the segment.
type ArchiveResult struct {
	Manifest string `json:"manifest,omitempty"` // key; empty if there was nothing to archive
	WARC     string `json:"warc,omitempty"`
	Bytes    int64  `json:"bytes"`
	Pages    int    `json:"pages"`
	Revisits int    `json:"revisits"`
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

// LearnResult is what the reference crawl taught.
type LearnResult struct {
	Learned score.Learned `json:"learned"`
	Key     string        `json:"key"` // in the archive
}

// SubmitInput offers scored URLs.
type SubmitInput struct {
	Crawl string                `json:"crawl"`
	ID    string                `json:"id"`
	URLs  []frontier.Submission `json:"urls"`
}

// What one submit may hold: it lies in the crawl's history with its answers, where a payload has 2 MB at most.
const (
	MaxSubmitURLs  = 1000
	MaxSubmitBytes = 256 << 10 // of the URLs with what goes with them
)

// Progress is where a run stands: CLAIM makes it, the controller adds what it knows itself and tells its crawl, and the crawl
// shows it and ends with it.
type Progress struct {
	frontier.Progress
	Worker string `json:"worker"`
	State  string `json:"state"`
	// UnderWay counts URLs that are fetched, but whose batches are not committed yet.
	UnderWay int64     `json:"under_way"`
	At       time.Time `json:"at,omitzero"` // when it stood so
	// Holds is why the worker claims nothing for now; it goes on by itself.
	Holds string `json:"holds,omitempty"`
	// Leases is what claims wait for that have no lease yet; nil if none does.
	Leases *politeness.Waiting `json:"leases,omitempty"`
}

// EndResult closes a run.
type EndResult struct {
	Status  frontier.Status `json:"status"`
	Learned json.RawMessage `json:"learned,omitempty"`
	Report  string          `json:"report,omitempty"` // key in the archive
}

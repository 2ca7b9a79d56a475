package activities

import (
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/share"
)

// Progress is where a run stands: Claim makes it, the controller adds what it knows itself and sends it to its crawl; the crawl
// shows it, and it is part of the crawl's result.
type Progress struct {
	frontier.Progress
	Worker   string                `json:"worker"`
	Instance string                `json:"instance,omitempty"` // of its data folder; empty in what an earlier version says
	State    crawl.ControllerState `json:"state"`
	// InFlight counts URLs that are fetched, but whose batches are not committed yet.
	InFlight int64     `json:"under_way"`
	At       time.Time `json:"at,omitzero"` // when it stood so
	// Holds is why the worker claims nothing for now; it continues by itself.
	Holds string `json:"holds,omitempty"`
	// Leases is what claims wait for that have no lease yet; nil if none does.
	Leases *politeness.Waiting `json:"leases,omitempty"`
	// Of a crawl that is spread: Empty says that nothing is left to do at this worker for now, Quotas what it has used of the budgets.
	Empty  bool                               `json:"empty,omitempty"`
	Quotas map[crawl.Reason]share.QuotaReport `json:"quotas,omitempty"`
}

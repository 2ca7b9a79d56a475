package crawl

// Phase is what a run of a crawl is at, as status and the UI show it.
type Phase string

// Phases, in their order. Learning and reference are those of a crawl that learns its topic.
const (
	PhaseBeginning Phase = "beginning"
	PhaseReference Phase = "reference" // the small crawl that the topic is learned of (ARCOMEM §4.2)
	PhaseLearning  Phase = "learning"
	PhaseBroad     Phase = "broad"
	PhaseEnding    Phase = "ending" // batches are done, no more updates are taken
	PhaseEnded     Phase = "ended"
)

// Reason is why a phase or a run has ended.
type Reason string

// Reasons. Those from ReasonPages on name the field of the budget that is spent.
const (
	ReasonDrained  Reason = "drained"  // nothing is left to fetch
	ReasonStopped  Reason = "stopped"  // by an operator
	ReasonAborted  Reason = "aborted"  // by an operator, with its batches
	ReasonHandover Reason = "handover" // of a controller, which is started again
	ReasonPhase    Reason = "phase"    // the pages of the phase are fetched
	ReasonPages    Reason = "pages"
	ReasonRequests Reason = "requests"
	ReasonBytes    Reason = "bytes"
	ReasonTime     Reason = "time"
)

// String says it in words.
func (r Reason) String() string {
	switch r {
	case "":
		return ""
	case ReasonDrained:
		return "nothing is left to crawl"
	case ReasonStopped:
		return "it was stopped"
	case ReasonAborted:
		return "it was aborted"
	}
	return "the budget of " + string(r) + " is spent"
}

// BatchState is the search attribute of a batch that lists are made by.
type BatchState string

// States of a batch.
const (
	BatchFetching BatchState = "fetching"
	BatchWaiting  BatchState = "waiting" // for leases
	BatchDone     BatchState = "done"
	BatchFailed   BatchState = "failed"
)

// ControllerState is what the controller of a crawl is at, as its query and the crawl's status show it.
type ControllerState string

// States of a controller.
const (
	ControllerCrawling  ControllerState = "crawling"
	ControllerHolding   ControllerState = "holding"  // it claims nothing until a fault is removed
	ControllerPaused    ControllerState = "paused"   // by an operator
	ControllerStopping  ControllerState = "stopping" // it claims nothing more and waits for its batches
	ControllerCancelled ControllerState = "cancelled"
)

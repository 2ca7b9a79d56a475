package activities

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
)

// Holder names the worker and the data folder that hold what a step works on: the frontier, its claims and their working files.
type Holder struct {
	Worker   string `json:"worker,omitempty"`
	Instance string `json:"instance,omitempty"` // identity of the data folder; empty in what an earlier version started
}

// Is reports whether a member is that data folder; without an instance, whether it is any folder of the worker.
func (h Holder) Is(m Member) bool {
	return m.Worker == h.Worker && (h.Instance == "" || m.Instance == h.Instance)
}

// Holder is this worker, with its data folder.
func (a *Activities) holder() Holder { return Holder{a.Settings.Worker, a.Settings.Instance} }

// heldBy is what a step is given that works on what a worker holds of a crawl.
type heldBy interface {
	held() (by Holder, crawl, what string)
}

func (in BeginInput) held() (Holder, string, string) {
	return in.Holder, in.Definition.Name, "the run is begun"
}

func (in RestInput) held() (Holder, string, string) {
	return in.Holder, in.Crawl, "the run was begun"
}

func (in ClaimInput) held() (Holder, string, string) {
	return in.Holder, in.Crawl, "the run was begun"
}

func (in StartInput) held() (Holder, string, string) {
	return in.Holder, in.Crawl, "its URLs were claimed"
}

func (in BatchInput) held() (Holder, string, string) {
	return in.Holder, in.Crawl, "the batch " + in.Batch + " was claimed"
}

// checkHolder refuses what another data folder holds: this one knows nothing of it, or something else of the same name, and would take
// a batch that it does not know for one that was committed. If this frontier does not know the crawl the step is tried again: the
// worker may have been started on a wrong folder. Of a crawl that is spread it is tried again in any case: the ring has given the other folder up, and
// the crawl delivers what its open batches have found before it terminates them. A batch that failed here would not be among them.
func (a *Activities) checkHolder(arg any) error {
	in, is := arg.(heldBy)
	if !is {
		return nil
	}
	by, crawl, what := in.held()
	if by.Instance == "" || a.Settings.Instance == "" || by == a.holder() {
		return nil
	}
	text := fmt.Sprintf("%s by worker %q with the data folder %s; this is worker %q with the data folder %s (file %s in it)",
		what, by.Worker, by.Instance, a.Settings.Worker, a.Settings.Instance, InstanceFile)
	begin, begins := arg.(BeginInput)
	if begins && begin.Definition.Spread || a.Frontier.Spread(crawl) {
		return temporal.NewApplicationError(text+": the crawl, which is spread over the ring, ends what it has there once it knows that the ring has given that folder up", ErrorInstance)
	}
	if begins {
		return temporal.NewNonRetryableApplicationError(text+": start the crawl again", ErrorInstance, nil)
	}
	if a.Frontier.Knows(crawl) {
		return temporal.NewNonRetryableApplicationError(text+": a run that was begun here crawls its URLs again", ErrorInstance, nil)
	}
	return temporal.NewApplicationError(text+
		": start the worker on the other folder (setting data); if that is lost, terminate the crawl and start it again, which restores what the archive knows", ErrorInstance)
}

// InstanceFile holds the identity of a data folder.
const InstanceFile = "instance"

// EpochFile holds the last epoch of the ring that the worker of a data folder knew.
const EpochFile = "epoch"

package activities

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// AskInput asks the worker of a crawl.
type AskInput struct {
	Crawl string `json:"crawl"`
	Queue string `json:"queue"`         // of the worker; the status of the crawl has it; empty for an explanation: the worker that has the URL
	URL   string `json:"url,omitempty"` // of an explanation
	Dry   bool   `json:"dry,omitempty"` // only report what would be deleted
}

// checkKnown returns an error that says what to do if the frontier does not have the crawl.
func (a *Activities) checkKnown(name string) error {
	if a.Frontier.Knows(name) {
		return nil
	}
	return &crawl.InputError{Message: fmt.Sprintf("the frontier of worker %q does not know the crawl %s: its data folder was lost, or the crawl was forgotten; `muninn start` with its definition brings in what the archive knows", a.Settings.Worker, name)}
}

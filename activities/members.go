package activities

import "context"

// Member is a worker that takes part.
type Member struct {
	Worker string `json:"worker"`
	Queue  string `json:"queue"` // its own task queue
	// Instance is the identity of its data folder: a worker of the same name on another folder has other frontiers and claims.
	Instance string `json:"instance,omitempty"`
	// Process is that which the ring has accepted; empty in a crawl that is bound to its worker.
	Process string `json:"process,omitempty"`
	Lost    bool   `json:"lost,omitempty"`    // it is silent, and the ring waits for it
	Leaving bool   `json:"leaving,omitempty"` // it hands over what it owns
}

// Members names the worker that takes part in a crawl that is bound to it. It runs on the shared queue: the worker that takes it takes part.
func (a *Activities) Members(context.Context) ([]Member, error) {
	return []Member{{Worker: a.Settings.Worker, Queue: a.queue(), Instance: a.Settings.Instance}}, nil
}

package activities

import "context"

// Member is a worker that takes part.
type Member struct {
	Worker string `json:"worker"`
	Queue  string `json:"queue"` // its own task queue
	// Instance is the identity of its data folder: a worker of the same name on another folder has other frontiers and claims.
	Instance string `json:"instance,omitempty"`
}

// Members names the workers that take part. It runs on the shared queue: the worker that takes it takes part.
func (a *Activities) Members(context.Context) ([]Member, error) {
	return []Member{{Worker: a.Settings.Worker, Queue: a.queue(), Instance: a.Settings.Instance}}, nil
}

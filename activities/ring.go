package activities

import (
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// ClusterInput is the input of Cluster. State is nil but when it continues as new. Limits that are not set are the defaults.
type ClusterInput struct {
	Limits    ring.Limits `json:"limits,omitzero"`
	Forgotten time.Time   `json:"forgotten,omitzero"` // when a Cluster ended whose state is lost; zero if there was none
	State     *ring.State `json:"state,omitempty"`
}

// RingMember names a process of a worker.
type RingMember struct {
	Worker  string `json:"worker"`
	Process string `json:"process"`
}

// RingReports says what a worker has done of its tasks.
type RingReports struct {
	RingMember
	Exported []ring.Report `json:"exported,omitempty"`
	Loaded   []ring.Report `json:"loaded,omitempty"`
}

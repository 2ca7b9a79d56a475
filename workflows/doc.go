// Package workflows holds the order of a crawl's steps: Crawl, FetcherController, Batch, Politeness
// and Cluster; and of what operators ask: Explain, Report, Forget, Derive and Export. Each is a recipe; decisions are made by pure functions elsewhere, work is done by
// activities, and bodies and lists never pass through.
package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
)

// Registry is a worker, or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers the workflows under their names.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Crawl, workflow.RegisterOptions{Name: names.Crawl})
	r.RegisterWorkflowWithOptions(FetcherController, workflow.RegisterOptions{Name: names.FetcherController})
	r.RegisterWorkflowWithOptions(Batch, workflow.RegisterOptions{Name: names.Batch})
	r.RegisterWorkflowWithOptions(Host, workflow.RegisterOptions{Name: names.Host})
	r.RegisterWorkflowWithOptions(Explain, workflow.RegisterOptions{Name: names.Explain})
	r.RegisterWorkflowWithOptions(Report, workflow.RegisterOptions{Name: names.Report})
	r.RegisterWorkflowWithOptions(Forget, workflow.RegisterOptions{Name: names.Forget})
	r.RegisterWorkflowWithOptions(Derive, workflow.RegisterOptions{Name: names.Derive})
	r.RegisterWorkflowWithOptions(Export, workflow.RegisterOptions{Name: names.Export})
	r.RegisterWorkflowWithOptions(Cluster, workflow.RegisterOptions{Name: names.Cluster})
	r.RegisterWorkflowWithOptions(Politeness, workflow.RegisterOptions{Name: names.Politeness})
}

// steps names the activities; it is never called.
var steps *activities.Activities

// Package names builds the names by which Temporal knows Muninn: workflow types and IDs, task queues,
// signals, queries and search attributes. An operator meets them in the UI and the CLI.
package names

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
)

// Workflow types.
const (
	Crawl             = "Crawl"
	FetcherController = "FetcherController"
	Batch             = "Batch"
	Politeness        = "Politeness"
	Cluster           = "Cluster" // the ring of workers
	Host              = "Host"    // what a worker knows of a host
	Explain           = "Explain" // the state and score of a URL, and its position in its queue
	Report            = "Report"  // a crawl in tables and plots
	Forget            = "Forget"  // deletes a crawl from the frontier of its worker
	Derive            = "Derive"  // works something out of the segments of an archive
	Export            = "Export"  // copies captures of an archive, and what they need, into files for others
)

// TaskQueue is the default of the shared queue, of Crawl workflows and of what operators ask.
const TaskQueue = "muninn"

// ClusterQueue is the queue of Politeness and Cluster workflows. All workers of the namespace poll it, whatever their shared queue is:
// no crawl waits for a lease because one worker is retired.
const ClusterQueue = "muninn-cluster"

// WorkerQueue is the queue of what must run where a worker's frontier and spool are, and of the workflows that have it run.
func WorkerQueue(queue, worker string) string { return queue + "/" + worker }

// DeriveQueue is the queue of the activities that derive segments, and that export. All workers of a shared queue poll it, and take few of them at a time: each holds a page and its tree.
func DeriveQueue(queue string) string { return queue + "-derive" }

// ViewsQueue is the queue of the activities that add segments to the views of a database. Workers that have one poll it.
func ViewsQueue(queue string) string { return queue + "-views" }

// Signals and queries.
const (
	SignalPause     = "pause"      // Crawl and FetcherController: claim no more
	SignalResume    = "resume"     // claim again
	SignalStop      = "stop"       // finish the running batches and end the run; to Derive: finish the running segments and end
	SignalAbort     = "abort"      // to Crawl: the same, and the batches end at once
	SignalProgress  = "progress"   // FetcherController to Crawl, from time to time
	SignalHandover  = "handover"   // Crawl to FetcherController: end, to be started again
	SignalQuota     = "quota"      // Crawl to FetcherController: what its worker may use of the budgets
	SignalRound     = "round"      // to Politeness
	SignalGrants    = "grants"     // from Politeness
	SignalOwes      = "owes"       // Batch to Crawl: what a batch has found is delivered after its claims are given back, or is
	SignalMove      = "move"       // to Politeness: continue as new on ClusterQueue
	QueryStatus     = "status"     // of Crawl, FetcherController, Politeness, Derive and Export
	QueryDefinition = "definition" // of Crawl: as it is now, with what was configured
	QueryWaiting    = "waiting"    // of Politeness: what the ask for a lease waits for, by address and lease
	QueryHost       = "host"       // of Politeness: what is known of a host, by its pay-level domain, and of addresses
	UpdateRound     = "round"      // of Politeness: a round of a controller, answered at once
	UpdateBorrow    = "borrow"     // of Politeness: a lease at once, for a few requests
	UpdateSubmit    = "submit"     // of Crawl: scored URLs, each of which is answered
	UpdateRegister  = "register"   // of Cluster: a worker wants to be in the ring
	UpdateReport    = "report"     // of Cluster: what a worker has done with partitions
	UpdateLeave     = "leave"      // of Cluster: a worker wants to leave in peace
	QueryView       = "view"       // of Cluster: the ring, as one worker is to see it
	UpdateConfig    = "configure"  // of Crawl: fields of the definition that may change while it runs
)

// CrawlID is the ID of a crawl's workflow.
func CrawlID(crawl string) string { return "crawl/" + crawl }

// ControllerID is the ID of a worker's FetcherController.
func ControllerID(crawl, worker string) string { return CrawlID(crawl) + "/fetchers/" + worker }

// FolderControllerID is that of a data folder of a worker, in a crawl that is spread: while what a former folder has left is taken over, the new one has
// a controller already.
func FolderControllerID(crawl, worker, instance string) string {
	return ControllerID(crawl, worker) + "@" + instance
}

// ControllerOf is the worker whose controller has an ID; false if it is no controller of the crawl.
func ControllerOf(crawl, id string) (worker string, is bool) {
	rest, is := strings.CutPrefix(id, ControllerID(crawl, ""))
	worker, _, _ = strings.Cut(rest, "@")
	return worker, is
}

// HostID is the ID of a question about a host.
func HostID(host string) string { return "host/" + host }

// ExplainID is the ID of an explanation; ReportID that of the making of a report.
func ExplainID(crawl string) string { return CrawlID(crawl) + "/explain" }

// ReportID is the ID of the making of a report.
func ReportID(crawl string) string { return CrawlID(crawl) + "/report" }

// ForgetID is the ID of the forgetting of a crawl.
func ForgetID(crawl string) string { return CrawlID(crawl) + "/forget" }

// DeriveID is the ID of the derivation of a crawl; without one, of all crawls of the archive of the workers.
func DeriveID(crawl string) string {
	if crawl == "" {
		return "derive"
	}
	return CrawlID(crawl) + "/derive"
}

// ExportID is the ID of an export, by the name that its files begin with and a hash of its order: the same one is not made twice at a time.
func ExportID(name, order string) string { return "export/" + name + "/" + order }

// PolitenessID is the ID of a politeness shard.
func PolitenessID(shard int) string { return fmt.Sprintf("politeness/%d", shard) }

// ClusterID is the ID of the ring of workers.
const ClusterID = "cluster"

// MemoInstance is the field of the memo of a batch of a spread crawl that names the data folder that holds it.
const MemoInstance = "instance"

// Search attributes.
var (
	AttrCrawl  = temporal.NewSearchAttributeKeyKeyword("MuninnCrawl")
	AttrPLD    = temporal.NewSearchAttributeKeyKeyword("MuninnPLD") // of a bundle: the first
	AttrWorker = temporal.NewSearchAttributeKeyKeyword("MuninnWorker")
	AttrState  = temporal.NewSearchAttributeKeyKeyword("MuninnState")
	AttrPages  = temporal.NewSearchAttributeKeyInt64("MuninnPages")
	AttrErrors = temporal.NewSearchAttributeKeyInt64("MuninnErrors")
)

// SearchAttributes lists the search attributes by name and type, for registration.
var SearchAttributes = map[string]string{
	AttrCrawl.GetName(): "Keyword", AttrPLD.GetName(): "Keyword", AttrWorker.GetName(): "Keyword",
	AttrState.GetName(): "Keyword", AttrPages.GetName(): "Int", AttrErrors.GetName(): "Int",
}

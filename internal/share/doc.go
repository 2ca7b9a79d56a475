// Package share holds what a crawl shares among its workers: its budgets, and the knowledge that nothing is left to do. Both are pure
// state machines, without clock, without Temporal and without I/O. Crawls that are spread over the ring use them.
//
// Budget is the side of the crawl, Quota that of a worker. They exchange reports and allotments, any of which may be late, repeated, lost
// or out of order. What they promise:
//
//   - The limits of all quotas together are at most the budget, whatever is lost. A worker that claims only while its quota has room
//     exceeds it by its last batch at most, and so the crawl exceeds its budget by one batch a worker.
//   - What a worker does not use comes back, and goes to one that asks for it: no worker waits without end while another one has a
//     quota that it cannot use.
//
// Ending finds that all workers are idle: nothing waits, nothing is in progress and nothing is on its way, in one epoch of the ring.
package share

// Package frontier keeps the known URLs of a worker's partitions and decides which are fetched next
// (paper §4.4, the Adaptive Heritrix frontier): one record per URL, one queue per pay-level domain
// ordered by priority, claims that take URLs out of queues for a batch, and the commits that bring
// their outcomes and outlinks back. It lies in Badger; heads of queues and claims are in memory too.
//
// Every write that is acknowledged is on disk. All methods are safe for concurrent use.
package frontier

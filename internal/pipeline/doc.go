// Package pipeline is what happens to the pages of a batch between fetching and the commit to the frontier. It knows nothing of
// Temporal and of the network: the live activities call it, and the laboratory calls it for recorded webs, so that both crawl
// alike.
//
// A page goes through four states, each with its type:
//
//	fetched   Exchange  a request and its response, in the spool of the batch: durable
//	parsed    Parsed    what the parser says of it (crawl.Page) and the helper (crawl.Findings): in memory alone
//	judged    Judged    and what the judge says of it and of its links (crawl.Verdict): in memory alone
//	archived  Result    outcomes and outlinks, all that the frontier is to know: durable before the archive commits
//
// What lies in memory (Handover) is never needed: Parse and Judge make a state again of the exchanges if it is not there, after
// a restart, because others needed the room, or because it is of another run of the batch's workflow. So each step is
// "everything up to here, unless memory has it", and may be run any number of times. A batch leaves memory when it is archived
// (Remember), for the crawl counts each page once, or when it is given back (Drop). Its result stays until it is committed.
//
// Beside the batches stand what a crawl learns of its pages (Learn, Rescore, KeepSnapshot) and what a frontier that was lost
// gets back from the archive (Inherit, Restore, Recover).
package pipeline

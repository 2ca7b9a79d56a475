// Package frontier keeps the known URLs of a worker's crawls and decides which are fetched next (paper §4.4, the Adaptive Heritrix
// frontier): one record per URL, one queue per pay-level domain ordered by priority, claims that take URLs out of queues for a
// batch, and the commits that bring their outcomes and outlinks back.
//
// A Frontier is one folder. Its handles are values, each with the methods of one thing:
//
//	Frontier          Open, Begin, Forget, Export, Import, Drop …
//	└─ Crawl          the run: Plan, Configure, Status, Commit, Inherit, End …
//	   ├─ Claims      rounds: Claim, Confirm, Withdraw, Leases, Weights …
//	   ├─ Batch       Start, Reopen, Renew, GiveBack, Life …
//	   ├─ Lane        a claim that is fetched: LeaseUntil, KeepRest, Yield, Borrow, End …
//	   ├─ URLs        Offer, Submit, Explain, Recrawl …
//	   └─ Learning    Teach, Order, Snapshot, Restore …
//
// Every write that is acknowledged is on disk. All methods are safe for concurrent use.
//
// # A queue
//
//	on disk     q  entries, highest priority first      R  the record of each URL
//	               · · · · · ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
//	               deleted   held by claim C             waiting
//	                         │              │                   │
//	in memory                Floor          Best                Sweep          queue.Queue
//	            C  the claim: its URLs, lease, deadline                        claims.Set
//	            m  next time, failures, pages, Crawl-delay                     fields of queue.Queue
//
// What moves the cursors:
//
//	Claim     reads from Floor on and passes over URLs that claims have. It moves Floor to the first live entry and Best to the
//	          first that it leaves; where the order learns, it weighs entries from Sweep on, and moves Sweep behind them.
//	Commit    deletes the entries of URLs that have ended: they stay a gap before Floor until the next Claim. What waits for
//	          another attempt goes to W, and back into the queue when its time has come. A new entry moves Floor and Best to it if
//	          it stands before them.
//	GiveBack  deletes the claim alone: its entries never left the queue. Best goes back to Floor.
//	Open      reads q and C, and sets Floor and Best from them.
//
// The package queue defines the cursors and the schedule of queues, claims what becomes of claims, leases and loans, store the keys,
// record the values, learner what an order learns.
//
// # Memory and disk
//
// A mutation reads the disk and what memory says, writes in a transaction, and returns a function that brings memory up to date.
// The writer makes up to eight that arrive together durable in one transaction, and then, under Frontier.mu, calls their functions:
// memory never shows what is not on disk. Mutations of one group that rest on the same queue are tried one by one (transaction.touch).
package frontier

// Package queue decides which of a crawl's queues is claimed from next, and where in a queue reading begins. It is pure: it knows
// neither disk nor lock nor clock.
//
// # A queue
//
// There is one for each PLD. On disk its entries stand in the order of their positions: highest priority first, among equals the
// oldest first. Memory holds only these cursors:
//
//	 deleted         held by a claim              waiting
//	· · · · · · ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
//	            │                      │                    │          │
//	            Floor                  Best                 Sweep      Last
//
//	Floor   No live entry stands before it: a claim begins to read here. Entries that were deleted leave tombstones in the store
//	        before it; without Floor each claim would pass all of them again.
//	Best    The first entry that no claim has, or a better position: the schedule compares queues by it. It may be too good (the
//	        entry was claimed, or moved), never too bad: a queue that was compared by too bad a position could wait without end.
//	Sweep   Where a claim continues to weigh waiting entries, if the order learns; the zero position is the end of the queue.
//	Since   Of the entries that came in while a claim reads, the first; Last if none did. What was read does not show them, so that
//	        EndRead moves Floor and Best back to it.
//
// A new entry moves Floor, Best and Since to its position if it stands before them (Add). A claim goes through
//
//	Pop → StartRead … EndRead → (the claim is in progress: Busy) → Free
//
// While Busy, a queue stands in no heap of claims: one claim of a queue is in progress at a time.
//
// # The schedule
//
// Queues that may be claimed from stand in the heap of ready ones, ordered by the value of their first entry, or of later ones,
// ordered by their time (Due). Queues without entries stand idle, ordered by their time, until the frontier evicts them.
// A queue for whose address enough claims wait is parked: it stands among the later ones, and is recalled when such a claim is over.
// Beside these, three heaps count queues for displays, so that nobody walks over all queues to ask: see counts.go.
package queue

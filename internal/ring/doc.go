// Package ring holds the rules by which the partitions of the frontier belong to workers: pure state machines, without clock,
// without Temporal and without I/O. The workflow Cluster carries it, and every worker is in it. Spread crawls follow it; bound ones stay with their worker.
//
// State is the side of the cluster: who is in the ring, who is to own each partition (Table), and how far each hand-over is.
// Membership is the side of a worker: what it knows of the ring, and by it what it may do. They exchange registrations,
// views and reports, any of which may be late, repeated or lost.
//
// What they promise:
//
//   - At most one worker may claim in a partition at any moment. The next owner may claim once the former owner has exported
//     the partition, which it does when no batch of it is in progress, or once the former owner is dead: its permit has run out by then.
//   - A worker that may claim has all that was committed in the partition: it had it all the time, or loaded what its last owner
//     exported, or rebuilt it from the archive after the death of its last owner.
//   - A partition is without an owner for no longer than Limits.CloseWithin, an export and a load; after a death, for
//     Limits.Heartbeat, Limits.Grace and a rebuild. The grace of a worker counts only while another one is there to take its partitions:
//     when all have stopped, each finds what it had when it is started again. A change of the ring meanwhile may start one of these again. This holds of workers that do
//     what they are asked: one whose heart beats, and that neither exports nor loads, is waited for.
//   - When the n-th worker joins, at most ceil(1024/n) partitions get another owner, and all of them the new one. When a
//     worker leaves or dies, only its own do. When all is quiet, the shares of any two workers differ by one partition at most.
//   - An epoch is the number of a change and never goes back. Every claim, batch, ask and delivery carries the epoch of
//     the view by which it was made. View.Check refuses what is older than the tenure of the owner.
//
// All times of a State are its caller's. What goes to workers and comes from them are durations: a worker counts its permit by
// its own clock, from before it sent the heartbeat that was answered, so that clocks that differ do not matter.
package ring

// Package simulation plays a cluster of many workers on a large web under a simulated clock: the pure code that decides in the real one
// (frontier/internal/queue, internal/ring, internal/politeness), without Temporal, disk and network. It has tests only.
package simulation

// Package store holds what the frontier keeps on disk, in Badger, which is known here alone: typed keys and their values.
//
// A Reader shows one state of the store. A Tx is a transaction as a value: a Reader that shows its own writes as well, which
// all come into force together, or not at all. What a transaction writes is on disk when Update returns.
package store

// Package spool keeps a batch's working files on the disk of its worker, between activities: what was
// claimed, what went over the wire, and what was understood of it. A step that is run again finds
// what the one before left, and FETCH continues after the last complete exchange.
package spool

package query

import "fmt"

// Error is a fault of a query.
type Error struct {
	At      int    // the character at which the fault is, from 0
	Message string // what is wrong, and what to do
}

// Error implements error. It counts characters from 1.
func (e *Error) Error() string { return fmt.Sprintf("query, character %d: %s", e.At+1, e.Message) }

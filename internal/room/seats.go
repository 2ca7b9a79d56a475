package room

import (
	"context"
	"net/http"
	"sync"
)

// seats bounds the requests that are worked on at a time, and apart from them the answers that are being sent: a reader who takes long to receive one
// keeps nobody from working.
type seats struct{ work, sending chan struct{} }

func newSeats() seats {
	return seats{make(chan struct{}, maxSeats), make(chan struct{}, maxSending)}
}

// take waits for a seat until the context ends; nil: there is none. The answer must be written by what it returns, which is left at the end.
func (s seats) take(ctx context.Context, w http.ResponseWriter) *seated {
	select {
	case s.work <- struct{}{}:
		return &seated{ResponseWriter: w, seats: s, held: s.work}
	case <-ctx.Done():
		return nil
	}
}

// seated is the answer of a request that has a seat. It is given up with the first byte of the answer, unless too many are being sent.
type seated struct {
	http.ResponseWriter
	seats seats
	begun sync.Once
	held  chan struct{}
}

func (s *seated) Write(b []byte) (int, error) {
	s.begun.Do(func() {
		select {
		case s.seats.sending <- struct{}{}:
			s.leave()
			s.held = s.seats.sending
		default:
		}
	})
	return s.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (s *seated) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *seated) leave() { <-s.held }

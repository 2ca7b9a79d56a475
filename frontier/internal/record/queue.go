package record

import (
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
)

// Queue is what is kept of a queue beside its entries. Times are Unix milliseconds, durations milliseconds.
type Queue struct {
	Name  string `cbor:"1,keyasint"` // its PLD
	Next  int64  `cbor:"2,keyasint,omitempty"`
	Fails int    `cbor:"3,keyasint,omitempty"`
	Done  int64  `cbor:"4,keyasint,omitempty"` // pages
	Run   uint32 `cbor:"5,keyasint"`           // that the counts are of
	Rest  int64  `cbor:"6,keyasint,omitempty"`
	Pace  int64  `cbor:"7,keyasint,omitempty"`
	Delay int64  `cbor:"8,keyasint,omitempty"`
	Asked int64  `cbor:"20,keyasint,omitempty"` // requests

	Judged int64   `cbor:"24,keyasint,omitempty"` // pages
	Worth  float64 `cbor:"25,keyasint,omitempty"` // of them

	Unread map[string]int `cbor:"23,keyasint,omitempty"` // 21 was a number
}

// OfQueue is a queue as it is kept.
func OfQueue(q *queue.Queue) Queue {
	r := Queue{
		Name: q.Name, Next: Millis(q.Next), Fails: q.Fails, Unread: q.Unread, Done: q.Done.Pages, Asked: q.Done.Requests, Judged: q.Done.Judged, Worth: q.Done.Worth,
		Pace: q.Pace.Milliseconds(), Delay: q.Delay.Milliseconds(),
	}
	r.SetRest(q.Rest)
	return r
}

// SetRest changes until when the queue rests; the zero time: not at all.
func (r *Queue) SetRest(until time.Time) {
	if r.Rest = 0; !until.IsZero() {
		r.Rest = Millis(until)
	}
}

// Restore brings a queue up to what was kept of it. Counts of another run than the present one are past.
func (r *Queue) Restore(q *queue.Queue, run uint32) {
	q.Delay = time.Duration(r.Delay) * time.Millisecond
	if q.Pace = time.Duration(r.Pace) * time.Millisecond; r.Next > 0 {
		q.Next = time.UnixMilli(r.Next)
	}
	if r.Run != run {
		return
	}
	q.Done, q.Fails, q.Unread = queue.Tally{Pages: r.Done, Requests: r.Asked, Judged: r.Judged, Worth: r.Worth}, r.Fails, r.Unread
	if r.Rest != 0 {
		q.Rest = time.UnixMilli(r.Rest)
	}
}

// Host is what is kept of a host that rests, for all crawls.
type Host struct {
	Next int64 `cbor:"1,keyasint"` // Unix milliseconds
}

// Millis is a time as it is kept: in whole milliseconds, and never earlier than it is.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return t.UnixMilli()
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}

package intake

import (
	"container/list"
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// keys remembers the answers to requests by their idempotency keys, for a time and up to a number; the oldest are forgotten first.
type keys struct {
	mu   sync.Mutex
	most int
	keep time.Duration
	now  func() time.Time
	by   map[string]*list.Element
	all  *list.List // of *remembered, the oldest first
}

type remembered struct {
	id    string
	body  [sha256.Size]byte
	since time.Time
	done  chan struct{} // closed when there is an answer, or none will be
	out   *Answered
}

func newKeys(most int, keep time.Duration, now func() time.Time) *keys {
	return &keys{most: most, keep: keep, now: now, by: map[string]*list.Element{}, all: list.New()}
}

// once answers a request once for each key: the same request gets the same answer, and waits for it if another is being answered. A
// request that failed may be repeated.
func (k *keys) once(ctx context.Context, id string, body [sha256.Size]byte, answer func() (*Answered, error)) (*Answered, error) {
	for {
		r, mine := k.enter(id, body)
		if r.body != body {
			return nil, refuse(http.StatusUnprocessableEntity, "the Idempotency-Key was used for another list: take another key")
		}
		if mine {
			out, err := answer()
			k.leave(r, out, err)
			return out, err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, refuse(http.StatusGatewayTimeout, "an earlier request with this Idempotency-Key is not answered yet: send it again")
		}
		if r.out != nil {
			return r.out, nil
		}
	}
}

// enter finds what is remembered of a key, or remembers it; mine says that the caller is to answer.
func (k *keys) enter(id string, body [sha256.Size]byte) (r *remembered, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	for first := k.all.Front(); first != nil; first = k.all.Front() {
		if old := first.Value.(*remembered); now.Sub(old.since) <= k.keep && len(k.by) < k.most {
			break
		}
		k.forget(first)
	}
	if known, ok := k.by[id]; ok {
		return known.Value.(*remembered), false
	}
	r = &remembered{id: id, body: body, since: now, done: make(chan struct{})}
	k.by[id] = k.all.PushBack(r)
	return r, true
}

func (k *keys) leave(r *remembered, out *Answered, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.out = out; err != nil {
		r.out = nil
		if at, ok := k.by[r.id]; ok && at.Value == r {
			k.forget(at)
		}
	}
	close(r.done)
}

func (k *keys) forget(at *list.Element) {
	delete(k.by, at.Value.(*remembered).id)
	k.all.Remove(at)
}

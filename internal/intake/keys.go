package intake

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/cache"
)

// keys remembers the answers to requests by their idempotency keys, for a time and up to a number of keys and of bytes; the oldest are
// forgotten first.
type keys struct {
	limits Limits
	now    func() time.Time

	mu    sync.Mutex
	by    *cache.LRU[string, *remembered] // only looked at by Peek: the oldest are those that came first
	bytes int64                           // of all answers
}

type remembered struct {
	body  [sha256.Size]byte
	since time.Time
	done  chan struct{} // closed when there is an answer, or none will be
	out   *Answered
	bytes int64 // of out
}

func newKeys(limits Limits, now func() time.Time) *keys {
	k := &keys{limits: limits, now: now}
	k.by = cache.NewLRU(limits.Keys, func(_ string, r *remembered) { k.bytes -= r.bytes })
	return k
}

// answerBytes is what an answer takes beside its texts.
const answerBytes = 64

func (a *Answered) size() (bytes int64) {
	for _, u := range a.Answers {
		bytes += answerBytes + int64(len(u.URL)+len(u.Answer)+len(u.Reason))
	}
	return bytes
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
			k.leave(id, r, out, err)
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
	for _, old, any := k.by.Oldest(); any && (now.Sub(old.since) > k.limits.KeyTime || k.by.Len() >= k.limits.Keys); _, old, any = k.by.Oldest() {
		k.by.RemoveOldest()
	}
	if known, ok := k.by.Peek(id); ok {
		return known, false
	}
	r = &remembered{body: body, since: now, done: make(chan struct{})}
	k.by.Put(id, r)
	return r, true
}

func (k *keys) leave(id string, r *remembered, out *Answered, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(r.done)
	at, ok := k.by.Peek(id)
	held := ok && at == r // else it was forgotten meanwhile
	if err != nil {
		if held {
			k.by.Remove(id)
		}
		return
	}
	if r.out = out; !held {
		return
	}
	r.bytes = out.size()
	for k.bytes += r.bytes; k.bytes > k.limits.KeyBytes && k.by.Len() > 0; {
		k.by.RemoveOldest()
	}
}

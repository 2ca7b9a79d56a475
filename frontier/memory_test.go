package frontier

import (
	"bytes"
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// TestMemory: the memory of a crawl is complete after a restart, and nothing of the former memory is left.
func TestMemory(t *testing.T) {
	r := newRig(t, nil)
	if raw, err := r.Learning().Memory(); err != nil || raw != nil {
		t.Fatalf("%d bytes are remembered of nothing, %v", len(raw), err)
	}
	long := bytes.Repeat([]byte("remembered "), store.PartBytes/4)
	for _, raw := range [][]byte{long, []byte("short"), long[:store.PartBytes], {}, long[7:]} {
		if err := r.Learning().Remember(raw); err != nil {
			t.Fatal(err)
		}
		r.reopen()
		got, err := r.Learning().Memory()
		if err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("%d bytes of %d are remembered: %v", len(got), len(raw), err)
		}
		parts := 0
		err = r.store.View(func(txn store.Reader) error {
			return txn.Keys(append(r.crawls[testCrawl].keys.All(store.Memories), 'p'), func(_ store.Key) (bool, error) {
				parts++
				return true, nil
			})
		})
		if want := (len(raw) + store.PartBytes - 1) / store.PartBytes; err != nil || parts != want {
			t.Errorf("%d parts lie there of %d bytes, want %d: %v", parts, len(raw), want, err)
		}
	}
	if err := r.Frontier.Crawl("unknown").Learning().Remember(long); !errors.Is(err, ErrNoCrawl) {
		t.Errorf("of a crawl that is not known: %v", err)
	}
	if _, err := r.Frontier.Crawl("unknown").Learning().Memory(); !errors.Is(err, ErrNoCrawl) {
		t.Errorf("of a crawl that is not known: %v", err)
	}
}

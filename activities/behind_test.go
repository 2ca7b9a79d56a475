package activities

import (
	"testing"
	"time"
)

// TestBehind: the age of the oldest batch that waits for its deliveries; one that looks no more is forgotten.
func TestBehind(t *testing.T) {
	var b Behind
	start := time.Unix(1_800_000_000, 0)
	after := func(d time.Duration) time.Time { return start.Add(d) }
	first, second, other := BatchInput{Crawl: "c", Batch: "a"}, BatchInput{Crawl: "c", Batch: "b"}, BatchInput{Crawl: "cc", Batch: "a"}
	b.note(first, start)
	b.note(second, after(time.Minute))
	b.note(other, after(2*time.Minute))
	b.note(first, after(3*time.Minute))
	is := func(crawl string, now, want time.Duration) {
		t.Helper()
		if got := b.Oldest(crawl, after(now)); got != want {
			t.Errorf("%s after %s: %s, want %s", crawl, now, got, want)
		}
	}
	is("c", 4*time.Minute, 4*time.Minute)
	is("cc", 4*time.Minute, 2*time.Minute)
	b.end(first)
	is("c", 5*time.Minute, 4*time.Minute)
	is("c", time.Minute+staleFault+time.Second, 0)
	is("none", 5*time.Minute, 0)
}

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func batch(t testing.TB) *Batch {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s.Batch("ravens", "example.org/1")
}

// sample is an exchange with everything that is hard to encode: times, bytes that are not UTF-8.
func sample(i int) crawl.Exchange {
	return crawl.Exchange{
		Kind: crawl.ExchangePage, URL: fmt.Sprintf("http://a.test/%d", i), Claim: "c",
		Started: time.Date(2026, 11, 21, 8, 0, 0, 123456789+i, time.UTC), Elapsed: time.Duration(i), Status: 200,
		HeaderBytes: 3, MIME: "text/html; charset=\xe9", Location: "/caf\xe9\x00",
		Outcome: crawl.Outcome{Kind: crawl.OutcomeRetry, After: time.Date(2026, 11, 21, 8, 0, 1, 7, time.UTC)},
	}
}

func body(i int) string { return strings.Repeat(fmt.Sprintf("%d:", i), i%7*13) }

func appendTo(t testing.TB, l *Log, i int) {
	t.Helper()
	if err := l.Append(sample(i), []byte("GET "+body(i)), strings.NewReader("HTT"+body(i)), int64(3+len(body(i)))); err != nil {
		t.Fatal(err)
	}
}

func readAll(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func check(t testing.TB, e *Entry, i int) {
	t.Helper()
	want := sample(i)
	if !e.Started.Equal(want.Started) || !e.Outcome.After.Equal(want.Outcome.After) {
		t.Errorf("entry %d: started %s, after %s", i, e.Started, e.Outcome.After)
	}
	if e.URL != want.URL || e.MIME != want.MIME || e.Location != want.Location || e.Status != 200 {
		t.Errorf("entry %d: %+v", i, e.Exchange)
	}
	req, resp, b := readAll(t, e.Request()), readAll(t, e.Response()), readAll(t, e.Body())
	if req != "GET "+body(i) || resp != "HTT"+body(i) || b != body(i) {
		t.Errorf("entry %d: request %q, response %q, body %q", i, req, resp, b)
	}
	if e.RequestN != int64(len(req)) || e.ResponseN != int64(len(resp)) {
		t.Errorf("entry %d: %d and %d bytes", i, e.RequestN, e.ResponseN)
	}
}

func filled(t testing.TB, n int) (*Batch, []byte, int64) {
	t.Helper()
	b := batch(t)
	l, old, err := b.OpenLog()
	if err != nil || len(old) != 0 {
		t.Fatal(old, err)
	}
	var last int64
	for i := range n {
		last = l.Size()
		appendTo(t, l, i)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(b.Dir(), logName))
	if err != nil {
		t.Fatal(err)
	}
	return b, raw, last
}

func entries(t testing.TB, b *Batch) []Entry {
	t.Helper()
	list, closer, err := b.Entries()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer() })
	return list
}

func TestRoundTrip(t *testing.T) {
	b, _, _ := filled(t, 20)
	list := entries(t, b)
	if len(list) != 20 {
		t.Fatalf("%d entries", len(list))
	}
	for i := range list {
		check(t, &list[i], i)
	}
	l, old, err := b.OpenLog()
	if err != nil || len(old) != 20 {
		t.Fatal(len(old), err)
	}
	appendTo(t, l, 20)
	check(t, &old[19], 19) // entries of an open log can be read
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list = entries(t, b)
	check(t, &list[20], 20)
}

func TestEntryWithoutResponse(t *testing.T) {
	b := batch(t)
	l, _, err := b.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(sample(1), nil, nil, 99); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	e := entries(t, b)[0]
	if e.ResponseN != 0 || readAll(t, e.Response()) != "" || readAll(t, e.Body()) != "" {
		t.Errorf("%+v", e)
	}
}

// TestTornTail cuts the log at every byte of its last frame: all other frames stay, and entries can be appended.
func TestTornTail(t *testing.T) {
	b, raw, last := filled(t, 6)
	path := filepath.Join(b.Dir(), logName)
	for cut := last; cut < int64(len(raw)); cut++ {
		for name, tail := range map[string][]byte{"cut": nil, "zeros": make([]byte, int64(len(raw))-cut)} {
			if err := os.WriteFile(path, append(bytes.Clone(raw[:cut]), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			l, old, err := b.OpenLog()
			if err != nil || len(old) != 5 || l.Size() != last {
				if bytes.HasSuffix(raw, tail) && len(old) == 6 {
					_ = l.Close()
					continue // the frame ends in these very zeros
				}
				t.Fatalf("%s at %d: %d entries, %v", name, cut, len(old), err)
			}
			appendTo(t, l, 9)
			if err := l.file.Close(); err != nil { // without the sync, for there are many cuts
				t.Fatal(err)
			}
			list, closer, err := b.Entries()
			if err != nil || len(list) != 6 {
				t.Fatalf("%s at %d: %d entries after appending, %v", name, cut, len(list), err)
			}
			check(t, &list[4], 4)
			check(t, &list[5], 9)
			_ = closer()
		}
	}
}

// TestFlippedBit: a damaged frame is never read as a whole one.
func TestFlippedBit(t *testing.T) {
	b, raw, last := filled(t, 4)
	path := filepath.Join(b.Dir(), logName)
	for at := last; at < int64(len(raw)); at++ {
		bad := bytes.Clone(raw)
		bad[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		list, closer, err := b.Entries()
		if err != nil || len(list) != 3 {
			t.Fatalf("byte %d: %d entries, %v", at, len(list), err)
		}
		_ = closer()
	}
}

func TestFailedAppendLeavesNothing(t *testing.T) {
	b, _, _ := filled(t, 2)
	l, _, err := b.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	size := l.Size()
	// more than the write buffer holds, so that pieces of it have reached the file
	if err := l.Append(sample(7), nil, io.LimitReader(zeros{}, 1<<20), 2<<20); err == nil {
		t.Error("a response that ends early is taken")
	}
	info, err := os.Stat(filepath.Join(b.Dir(), logName))
	if err != nil || info.Size() != size || l.Size() != size {
		t.Errorf("the log has %d bytes, had %d: %v", info.Size(), size, err)
	}
	huge := sample(8)
	huge.Location = strings.Repeat("x", maxHead)
	if err := l.Append(huge, nil, nil, 0); err == nil {
		t.Error("a description is taken that cannot be read again")
	}
	appendTo(t, l, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list := entries(t, b)
	check(t, &list[2], 2)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestConcurrentAppends(t *testing.T) {
	b := batch(t)
	l, _, err := b.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for lane := range 8 {
		wg.Go(func() {
			for i := range 25 {
				appendTo(t, l, lane*25+i)
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	list := entries(t, b)
	for i := range list {
		var n int
		if _, err := fmt.Sscanf(list[i].URL, "http://a.test/%d", &n); err != nil {
			t.Fatal(err)
		}
		check(t, &list[i], n)
		seen[list[i].URL] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d entries", len(seen))
	}
}

func TestLargeResponse(t *testing.T) {
	b := batch(t)
	l, _, err := b.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	const n = 48 << 20
	if err := l.Append(sample(1), nil, zeros{}, n); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list := entries(t, b)
	if len(list) != 2 || list[0].ResponseN != n {
		t.Fatalf("%d entries", len(list))
	}
	if m, err := io.Copy(io.Discard, list[0].Response()); m != n || err != nil {
		t.Errorf("%d bytes: %v", m, err)
	}
	check(t, &list[1], 2)
}

func TestNoLog(t *testing.T) {
	if _, _, err := batch(t).Entries(); !errors.Is(err, ErrMissing) {
		t.Errorf("%v", err)
	}
}

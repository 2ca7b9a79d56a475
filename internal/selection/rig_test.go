package selection

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

func newStore(t *testing.T) archive.Store {
	t.Helper()
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newLog(t *testing.T, store archive.Store) *Log {
	t.Helper()
	l, err := Create(t.Context(), store, "ravens", "ann", "", Creation{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func put(t *testing.T, l *Log, e Entry) uint64 {
	t.Helper()
	if e.Who == "" {
		e.Who = "ann"
	}
	n, err := l.Append(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ofURL(v Verdict, url string) Entry {
	return Entry{Decisions: []Decision{{URL: url, Verdict: v}}}
}

func ofGroup(v Verdict, g Group) Entry {
	return Entry{Decisions: []Decision{{Group: g, Verdict: v}}}
}

// contains is a query that is a part of a URL; "?" cannot be read.
type contains string

func (c contains) Match(f *Facts) bool { return strings.Contains(f.URL, string(c)) }

func parse(query string) (Matcher, error) {
	if query == "?" {
		return nil, errors.New("at character 1: a question mark")
	}
	return contains(query), nil
}

func stateOf(t *testing.T, l *Log) *State {
	t.Helper()
	s, err := l.State(0, parse)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func page(n int) *Facts {
	return &Facts{
		URL: fmt.Sprintf("https://www.example.org/p/%d", n), Host: "www.example.org", Site: "example.org", Score: -1,
		Application: "phpBB", Level: "thread", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

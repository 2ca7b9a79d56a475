package integration

import (
	"encoding/json"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// A worker is killed while a claim of it waits for the address that its robots.txt lies at. Temporal keeps the ask, and the shard
// grants it to nobody. The lane is cut short when FETCH runs again: it owes its host a pause, and the other lanes of its bundle have
// ended. So it does not ask again, and the loan must not stay held for politeness.LoanTTL.
func TestLoanOfAKilledWorker(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, manners.New(webworld.Options{FirstIP: netip.MustParseAddr("127.96.2.1")}))
	worker := newKilledWorker(t, t.TempDir(), server.Address, filepath.Join(t.TempDir(), "archive"), archive.S3{}, world)
	worker.start(t)
	t.Cleanup(func() { worker.kill(t) })

	other := politeness.Ask{Lease: "lender.test-1", IP: world.Resolve()[manners.LenderHost].String(), PerIP: 1, Crawl: "other", Worker: "other"}
	send := func(r politeness.Round) {
		t.Helper()
		Until(t, soon, "the shard takes a round", func() string {
			if err := server.Client.SignalWorkflow(t.Context(), names.PolitenessID(0), "", names.SignalRound, r); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	send(politeness.Round{From: "other", Asks: []politeness.Ask{other}})
	d := Definition("loan-killed", world)
	d.Order.PerQueue = 2
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(killDelay), crawl.Duration(5*time.Second)
	StartCrawl(t, server.Client, d)
	var loan string
	Until(t, soon, "a claim waits for the address", func() string {
		_, waiting := server.loans(t)
		if len(waiting) == 0 {
			return "none does; the worker says:\n" + worker.lastWords()
		}
		loan = waiting[0]
		return ""
	})
	worker.kill(t)
	killed := time.Now()
	send(politeness.Round{From: "other", Releases: []politeness.Release{other.Withdrawal()}})
	worker.start(t)
	Until(t, soon, "the ask is served", func() string {
		if _, waiting := server.loans(t); slices.Contains(waiting, loan) {
			return loan + " waits"
		}
		return ""
	})
	Until(t, politeness.LoanTTL/2, "the loan comes back", func() string {
		if held, _ := server.loans(t); slices.Contains(held, loan) {
			return loan + " is held"
		}
		return ""
	})
	t.Logf("the address is free %v after the kill", time.Since(killed).Round(100*time.Millisecond))
}

// loans lists the loans that the first politeness shard has granted, and those that are asked for.
func (s *Server) loans(t *testing.T) (held, waiting []string) {
	t.Helper()
	state := s.shard(t)
	raw, err := state.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	type lease struct{ Lease string }
	var shown struct {
		Addresses map[string]struct{ Holders, Waiters []lease }
	}
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	for _, ip := range slices.Sorted(maps.Keys(shown.Addresses)) {
		for _, h := range shown.Addresses[ip].Holders {
			held = append(held, h.Lease)
		}
		for _, w := range shown.Addresses[ip].Waiters {
			waiting = append(waiting, w.Lease)
		}
	}
	claims := func(lease string) bool { return !strings.Contains(lease, "@") }
	return slices.DeleteFunc(held, claims), slices.DeleteFunc(waiting, claims)
}

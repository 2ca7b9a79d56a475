package politeness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/scripttest"
)

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts in testdata. Times are counted from the start of the script; t= moves the clock.
//
//	ask LEASE[@IP]… ip= per_ip= crawl= worker= reply= rest= host= group=   release LEASE… ip= crawl= next= grant= host= host_next= trouble=
//	renew LEASE… ip= grant= rest=
//	known LEASE… crawl= worker= at=   undelivered LEASE   tick   wake   apart   state   ttl DURATION   lost TIME
//
// of= is the claim that borrows the lease.
// grant= counts the grants of a lease from 1: a release or a renewal names the last one unless it says otherwise, grant=0 none.
// The state may be encoded and decoded before any command, and must behave the same afterwards.
func TestScripts(t *testing.T) {
	scripttest.Carried(t, func(t *testing.T) (func(words []string) []string, func()) {
		i := &interpreter{t: t, state: New(0, 0), ips: map[string]string{}, owners: map[string]LeaseID{}, numbers: map[string][]int64{}}
		return i.command, func() { i.state = copyOf(t, i.state) }
	})
}

// failer is a test, or a run of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func copyOf(t failer, s *State) *State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again State
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return &again
}

type interpreter struct {
	t     *testing.T
	state *State
	now   time.Duration
	// The address and the owner of each lease, so that a script need not repeat them.
	ips    map[string]string
	owners map[string]LeaseID

	numbers map[string][]int64 // of the grants of each lease
}

func (i *interpreter) command(words []string) []string {
	names, args := scripttest.Args(words, map[string]string{"per_ip": "1", "reply": "r"})
	if t, ok := args["t"]; ok {
		i.now = i.duration(t)
	}
	now := start.Add(i.now)
	var r Round
	var rest time.Duration
	if text, ok := args["rest"]; ok {
		rest = i.duration(text)
	}
	if words[0] == "ask" || words[0] == "release" || words[0] == "renew" {
		for _, name := range names {
			name, own, _ := strings.Cut(name, "@")
			if ip := cmp.Or(own, args["ip"]); ip != "" {
				i.ips[name] = ip
			}
			if of, ok := args["of"]; ok {
				i.ips[LoanOf(of, i.ips[name])] = i.ips[name]
				name = LoanOf(of, i.ips[name])
			}
			owner := LeaseID{cmp.Or(args["crawl"], i.owners[name].Crawl), cmp.Or(args["worker"], i.owners[name].Worker, "w"), name}
			i.owners[name] = owner
			ask := Ask{Lease: name, IP: i.ips[name], PerIP: i.number(args["per_ip"]), Crawl: owner.Crawl, Worker: owner.Worker, Reply: args["reply"], Rest: rest, Host: args["host"], Group: args["group"], Permit: args["permit"] != ""}
			switch words[0] {
			case "ask":
				r.Asks = append(r.Asks, ask)
			case "renew":
				r.Renewals = append(r.Renewals, Renewal{ask, i.grant(name, args)})
			case "release":
				release := Release{Lease: name, Crawl: ask.Crawl, Worker: ask.Worker, IP: ask.IP, Number: i.grant(name, args)}
				if next, ok := args["next"]; ok {
					release.Rest = RestOf(start.Add(i.duration(next)), now)
				}
				release.Trouble = Trouble(args["trouble"])
				if next, ok := args["host_next"]; ok {
					release.Host, release.HostRest = args["host"], RestOf(start.Add(i.duration(next)), now)
				}
				r.Releases = append(r.Releases, release)
			}
		}
	}
	switch words[0] {
	case "known":
		r.Known = &Known{Crawl: args["crawl"], Worker: cmp.Or(args["worker"], "w"), Leases: names, At: now}
		if text, ok := args["at"]; ok {
			r.Known.At = start.Add(i.duration(text))
		}
	case "gone":
		r.Gone = []Gone{{Worker: names[0], At: now, Left: args["left"] != ""}}
		if text, ok := args["at"]; ok {
			r.Gone[0].At = start.Add(i.duration(text))
		}
	case "undelivered":
		number := i.grant(names[0], args)
		return i.answers(i.state.Undelivered(now, []Grant{{Lease: names[0], IP: i.ips[names[0]], Number: number}}))
	case "tick":
		return i.answers(i.state.Tick(now))
	case "apart":
		i.state.KeepHostsApart(true)
		return nil
	case "wake":
		if at, ok := i.state.Wake(); ok {
			return []string{"wake at " + at.Sub(start).String()}
		}
		return []string{"no wake"}
	case "state":
		return i.describe()
	case "ttl":
		i.state = New(i.duration(names[0]), 0)
		return nil
	case "lost":
		i.state = New(0, 0)
		i.state.Lost(start.Add(i.duration(names[0])))
		return nil
	case "ask", "release", "renew":
	default:
		i.t.Fatalf("no command %q", words)
	}
	if words[0] == "renew" { // the answer lists refused renewals
		r.From, r.Round = "r", 1
	}
	return i.answers(i.state.Serve(now, []Round{r}))
}

// grant is the number of the grant that a command names.
func (i *interpreter) grant(lease string, args map[string]string) int64 {
	had := i.numbers[lease]
	n := len(had)
	if text, ok := args["grant"]; ok {
		n = i.number(text)
	}
	if n == 0 {
		return 0
	}
	return had[n-1]
}

func (i *interpreter) answers(answers []Answer) []string {
	var lines []string
	for _, a := range answers {
		for _, g := range a.Grants {
			from := "at once"
			if !g.NotBefore.IsZero() {
				from = "not before " + g.NotBefore.Sub(start).String()
			}
			if !g.HostNotBefore.IsZero() {
				from += ", its host not before " + g.HostNotBefore.Sub(start).String()
			}
			if !g.SlowUntil.IsZero() {
				from += ", slowed down until " + g.SlowUntil.Sub(start).String()
			}
			i.numbers[g.Lease] = append(i.numbers[g.Lease], g.Number)
			lines = append(lines, fmt.Sprintf("%s gets %s on %s %s, until %s", a.To, g.Lease, g.IP, from, g.Deadline.Sub(start)))
		}
		for _, k := range a.Refused {
			lines = append(lines, k.Lease+" is refused")
		}
	}
	return lines
}

func (i *interpreter) describe() []string {
	held, waiting, _ := i.state.Counts()
	lines := []string{fmt.Sprintf("%d held, %d waiting", held, waiting)}
	for _, ip := range slices.Sorted(maps.Keys(i.state.addresses)) {
		a := i.state.addresses[ip]
		line := ip + " held by"
		for _, h := range a.holders {
			line += fmt.Sprintf(" %s(%s until %s)", h.Lease, h.Worker, h.Deadline.Sub(start))
		}
		line += ", awaited by"
		for _, w := range a.waiters {
			line += " " + w.Lease
		}
		if !a.next.IsZero() {
			line += ", next " + a.next.Sub(start).String()
		}
		lines = append(lines, line)
	}
	return lines
}

func (i *interpreter) duration(text string) time.Duration { return scripttest.Duration(i.t, text) }

func (i *interpreter) number(text string) int { return scripttest.Number(i.t, text) }

package claims

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/scripttest"
)

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts in testdata. Times are counted from the start of the script; t= moves the clock before the command. The
// longest pause is 10 s, a claim lasts 30 min and waits 2 min for its lease.
//
//	claim ID PLD URL… [ip=]              claims URLs of a queue
//	grant ID BATCH number= [not-before=] [host=] [slow=] [rest=] [elsewhere=] [delay=] [batch]
//	                                     a lease for the claim: batch says that the batch has asked for it, host= and slow= that another worker
//	                                     reports a rest of the host, rest= and elsewhere= what this worker knows
//	open BATCH ID PLD                    the batch begins to fetch, or again
//	owe ID host= [delay=]                what is owed to the host
//	yield ID next= until=                gives the lease back while an answer is read
//	end ID [address=] [host=] [trouble=]         its fetching has ended
//	borrow ID PLD until= [delay=] [next=] [asked]      another host
//	return ID PLD [next=]
//	borrow-address ID IP, refused ID IP, return-address ID IP number= [next=]
//	drop ID…                             commits, gives back or withdraws the claims
//	confirm [released=LEASE:NUMBER] [renewed=LEASE:NUMBER] [refused=LEASE:NUMBER] [until=]
//	show                                 the claims, the journal, what is late, expired and to be renewed
//
// A command that makes a change prints it: claims as they are then, dropped ones, releases, and until when hosts rest.
func TestScripts(t *testing.T) {
	scripttest.Files(t, func(t *testing.T, script string) string {
		i := &interpreter{t: t, set: NewSet(), terms: Terms{Now: start, MaxDelay: 10 * time.Second, ClaimTTL: 30 * time.Minute, LeaseWait: 2 * time.Minute}}
		return scripttest.Run(script, i.command)
	})
}

type interpreter struct {
	t     *testing.T
	set   *Set
	terms Terms
}

// words are those of a command, without its name and its settings.
type words struct {
	i        *interpreter
	plain    []string
	settings map[string]string
}

func (w words) time(name string) time.Time {
	text, set := w.settings[name]
	if !set {
		return time.Time{}
	}
	return start.Add(w.i.duration(text))
}

func (w words) has(flag string) bool { return slices.Contains(w.plain, flag) }

func (i *interpreter) duration(text string) time.Duration {
	i.t.Helper()
	if text == "" {
		return 0
	}
	return scripttest.Duration(i.t, text)
}

func (i *interpreter) number(text string) int64 { return int64(scripttest.Number(i.t, text)) }

func (i *interpreter) command(line []string) []string {
	i.t.Helper()
	plain, settings := scripttest.Args(line, nil)
	w := words{i, plain, settings}
	if at := w.time("t"); !at.IsZero() {
		i.terms.Now = at
	}
	if line[0] == "show" {
		return i.show()
	}
	ch, out, err := i.decide(line[0], w)
	if err != nil {
		return []string{err.Error()}
	}
	out = append(out, i.print(ch)...)
	if i.set.Apply(ch); len(out) == 0 {
		out = []string{"nothing changes"}
	}
	return out
}

func (i *interpreter) decide(command string, w words) (ch Change, out []string, err error) {
	i.t.Helper()
	pld := func(n int) uint64 { return hashed(w.plain[n]) }
	switch command {
	case "claim":
		c := Claim{ID: w.plain[0], PLD: w.plain[1], Queue: pld(1), IP: "192.0.2.1", Asked: i.terms.Now, Deadline: i.terms.Now.Add(i.terms.ClaimTTL)}
		for _, u := range w.plain[2:] {
			c.URLs = append(c.URLs, hashed(u))
		}
		ch.Claims = []Claim{c}
	case "grant":
		ch = i.grant(w)
	case "open":
		was := Claim{ID: w.plain[1], PLD: w.plain[2], Queue: pld(2)}
		c, held := i.set.Open(was, w.plain[0], Life{Nonce: "fresh"})
		if ch.Claims = []Claim{c}; !held {
			out = []string{"not held"}
		}
	case "owe":
		ch, _ = i.set.Owe(w.plain[0], LaneEnd{Host: w.time("host"), Delay: i.duration(w.settings["delay"])})
	case "yield":
		ch = i.set.Yield(w.plain[0], w.time("next"), w.time("until"))
	case "end":
		ch, _ = i.set.End(w.plain[0], LaneEnd{Address: w.time("address"), Host: w.time("host"), Trouble: politeness.Trouble(w.settings["trouble"])}, i.terms)
	case "borrow":
		host := Host{PLD: pld(1), Name: w.plain[1], Asked: w.has("asked"), Next: w.time("next"), Delay: i.duration(w.settings["delay"])}
		var next time.Time
		if ch, next, err = i.set.BorrowHost(w.plain[0], host, w.time("until"), i.terms); err == nil {
			out = []string{"may be asked from " + since(next) + " on"}
		}
	case "return":
		ch = i.set.ReturnHost(w.plain[0], pld(1), w.time("next"))
	case "borrow-address":
		ch, err = i.set.BorrowAddress(w.plain[0], w.plain[1])
	case "refused":
		ch = i.set.AddressRefused(w.plain[0], w.plain[1])
	case "return-address":
		ch = i.set.ReturnAddress(w.plain[0], w.plain[1], i.number(w.settings["number"]), w.time("next"))
	case "drop":
		ch = i.set.Drop(i.set.Where(func(c *Claim) bool { return w.has(c.ID) }), i.terms)
	case "confirm":
		ch = i.set.Confirm(Confirmed{Releases: i.keys(w, "released"), Renewed: i.keys(w, "renewed"), Refused: i.keys(w, "refused"), Until: w.time("until")}, i.terms.Now)
	default:
		i.t.Fatalf("unknown command %s", command)
	}
	return ch, out, err
}

func (i *interpreter) grant(w words) Change {
	i.t.Helper()
	g := Grant{
		Grant: politeness.Grant{
			Lease: w.plain[0], IP: "192.0.2.1", Number: i.number(w.settings["number"]),
			Deadline: i.terms.Now.Add(15 * time.Minute), NotBefore: w.time("not-before"), HostNotBefore: w.time("host"), SlowUntil: w.time("slow"),
		},
		Batch: w.plain[1], Fresh: Life{Nonce: "life of " + w.plain[1]}, HostRest: w.time("rest"), Elsewhere: w.time("elsewhere"),
		Delay: i.duration(w.settings["delay"]),
	}
	if w.has("batch") {
		g.Asker = BatchAsked
	}
	return i.set.Grant(g, i.terms)
}

func (i *interpreter) keys(w words, name string) (keys []politeness.Key) {
	i.t.Helper()
	if text, set := w.settings[name]; set {
		lease, number, _ := strings.Cut(text, ":")
		keys = append(keys, politeness.Key{Lease: lease, Number: i.number(number)})
	}
	return keys
}

// hashed is the number of a PLD or a URL: short names are their own.
func hashed(name string) (n uint64) {
	for _, b := range []byte(name) {
		n = n<<8 | uint64(b)
	}
	return n
}

func nameOf(n uint64) (name string) {
	for ; n > 0; n >>= 8 {
		name = string(rune(n&0xff)) + name
	}
	return name
}

func since(at time.Time) string {
	if at.IsZero() {
		return "now"
	}
	return at.Sub(start).String()
}

func (i *interpreter) print(ch Change) (out []string) {
	for k := range ch.Claims {
		out = append(out, i.claim(&ch.Claims[k]))
	}
	for _, d := range ch.Dropped {
		out = append(out, d.ID+" is dropped")
	}
	for _, r := range ch.Releases {
		out = append(out, "release of "+release(r))
	}
	for _, lease := range ch.Confirmed {
		out = append(out, "the release of "+lease+" leaves the journal")
	}
	for _, pld := range slices.Sorted(maps.Keys(ch.Rests)) {
		out = append(out, nameOf(pld)+" rests until "+since(ch.Rests[pld]))
	}
	return out
}

func (i *interpreter) claim(c *Claim) string {
	out := c.ID + " of no batch"
	if c.Batch != "" {
		out = fmt.Sprintf("%s of %s (%s)", c.ID, c.Batch, c.Nonce)
	}
	switch {
	case c.Ended:
		out += " has ended"
	case !c.Reading.IsZero():
		out += " reads until " + since(c.Reading)
	case !c.Lease.IsZero():
		out += fmt.Sprintf(" has grant %d until %s, from %s on", c.Grant, since(c.Lease), since(c.NotBefore))
	default:
		out += " waits"
	}
	if c.Delay > 0 {
		out += ", Crawl-delay " + c.Delay.String()
	}
	for _, b := range c.Borrowed {
		out += fmt.Sprintf(", has borrowed %s until %s", nameOf(b.Queue), since(b.Until))
	}
	for _, ip := range c.Addresses {
		out += ", asks for " + ip
	}
	for _, pld := range c.Asks() {
		if until := c.Keeps(pld, i.terms); !until.IsZero() {
			out += fmt.Sprintf("; keeps %s until %s", nameOf(pld), since(until))
		}
	}
	return out
}

func release(r EndedLease) string {
	out := fmt.Sprintf("%s at %s, grant %d, asked from %s on", r.Lease, r.IP, r.Number, since(r.Next))
	if r.Host != "" {
		out += fmt.Sprintf(", %s from %s on", r.Host, since(r.HostNext))
	}
	if r.Trouble != "" {
		out += ", because of " + string(r.Trouble)
	}
	return out
}

func (i *interpreter) show() (out []string) {
	for _, c := range i.set.Where(func(*Claim) bool { return true }) {
		out = append(out, i.claim(c))
	}
	for _, r := range i.set.Releases() {
		out = append(out, "journal: "+release(r))
	}
	ids := func(list []*Claim) (ids []string) {
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		return ids
	}
	renewals, next := i.set.Renewals(i.terms.Now, 15*time.Minute)
	return append(out,
		fmt.Sprintf("%d claims have %d URLs, leases %v, asking %v", i.set.Len(), i.set.URLs(), i.set.Leases(), i.set.Asking(func(c *Claim) string { return c.IP })),
		fmt.Sprintf("late %v, unstarted %v, expired %v, renewals %v, the next from %s on", ids(i.set.Late(i.terms)), i.set.Unstarted(0), i.set.Expired(i.terms.Now), ids(renewals), since(next)),
	)
}

// TestErrors: a claim that may not borrow says why, so that its lane waits or gives up.
func TestErrors(t *testing.T) {
	set, terms := NewSet(), Terms{Now: start}
	set.Apply(Change{Claims: []Claim{{ID: "a", Batch: "b", Queue: 1}}})
	if _, _, err := set.BorrowHost("a", Host{PLD: 2, Asked: true}, start.Add(time.Minute), terms); !errors.Is(err, ErrAsked) {
		t.Error(err)
	}
	var rests *RestsError
	if _, _, err := set.BorrowHost("a", Host{PLD: 2, Next: start.Add(time.Hour)}, start.Add(time.Minute), terms); !errors.As(err, &rests) || !rests.Until.Equal(start.Add(time.Hour)) {
		t.Error(err)
	}
	set.Apply(Change{Releases: []EndedLease{{Lease: politeness.LoanOf("a", "192.0.2.9")}}})
	if _, err := set.BorrowAddress("a", "192.0.2.9"); !errors.Is(err, ErrUnreturned) {
		t.Error(err)
	}
}

// Package politeness holds the rules by which leases on IP addresses are granted: a pure state
// machine, without clock and without Temporal.
//
// What it promises of a shard of addresses, over all crawls and workers:
//
//   - At most per_ip leases are held on an address at a time, and none before the address's next time. A lease is held from
//     its grant until it is released or its deadline has passed; its holder treats it as over Margin earlier.
//   - A grant has a number, and numbers only grow, also over a loss of the state. A release names the grant that it ends,
//     so that one which comes late cannot end a newer grant of the same lease.
//   - A renewal holds again what is free, and is refused if another holds the address. A holder that is refused, or is not
//     answered, does not continue after the end that it knows.
//   - A shard that lost its state grants nothing for TTL (State.Floor). By then each lease of its former life has been
//     renewed, and is known again, or is over.
//   - A host is asked under the leases of one claim at a time, at whatever addresses of the shard, and after the pause of the lane before (State.KeepHostsApart).
//   - A host rests for longer than its address for a Crawl-delay or Retry-After: releases say so, and grants report it to the worker that asks
//     it next, at any address, also at those of other shards (Release.Notice). The address is free meanwhile for the other hosts that lie at it.
//   - A host that answers 429 or 503, or does not answer, is slowed down for all crawls (SlowDown): its rests double up to MaxSlow,
//     until it has made no trouble for ForgiveAfter. All hosts of a host group are slowed down together.
//   - A server that takes no connection, or answers so for several hosts, rests between two lanes (ServerSlow), MaxServerRest at most.
//   - What is asked for again is confirmed, not granted twice, and an ask keeps its place in the line.
//   - So many asks of a crawl wait for an address as they say themselves (Ask.Line); others are answered busy. No worker of a crawl is answered so
//     without end while others get the address.
//
// All times of a State are Temporal's. What comes from workers are durations, counted from when they are served; what goes
// to workers is converted by Clock.
package politeness

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Limits and defaults.
const (
	// DefaultTTL is how long a lease lasts if it is neither renewed nor released.
	DefaultTTL = 15 * time.Minute
	// LoanTTL is how long a lease lasts that is borrowed for a robots.txt, and which nobody renews: Margin, the longest
	// Crawl-delay and the exchange, a minute each by default. A worker that is killed with it, or while it waits for it, gives it
	// back when the claim ends (frontier.Lane.BorrowAddress): an address is left to nobody so long only if the disk is lost, too.
	LoanTTL = 3 * time.Minute
	// Margin is how much before its deadline a holder treats its lease as over: for clocks that run at different speeds,
	// and for the time that a grant takes to its holder.
	Margin = time.Minute
	// GrantAhead is how far before an address's next time a lease is granted already: the holder
	// waits the rest out itself, which saves a timer.
	GrantAhead = 2 * time.Second
	// MaxPause bounds how far ahead a release can set an address's next time.
	MaxPause = 24 * time.Hour
	// DefaultRest is how long an address rests after a lease that ran out, if its ask did not say.
	DefaultRest = 30 * time.Second
	// MaxBytes bounds the JSON form of a shard's state, which is the input of its next execution: Temporal takes 2 MB.
	// Beyond it, the addresses that rest shortest are forgotten, MaxFloor at most, and those of which nothing is known rest until
	// then; if leases, asks and longer rests alone are too many, further asks are not taken.
	MaxBytes = 1_500_000
	// restRoom is the part of MaxBytes that asks leave to rests, of addresses and of hosts: they become known when leases end.
	restRoom = MaxBytes / 10
	// MaxFloor bounds how long addresses rest of which nothing is known, because others had to be forgotten.
	MaxFloor = time.Minute
)

// LeaseID names a lease. The frontier of each worker numbers the claims of each crawl by itself, so that two crawls may have
// claims of the same ID: a lease named by the claim alone would be granted, renewed and released for another crawl's claim.
type LeaseID struct{ Crawl, Worker, Claim string }

// String writes it in one text.
func (id LeaseID) String() string { return id.Crawl + "/" + id.Worker + "/" + id.Claim }

// LoanOf is the ID of the lease that a claim borrows on another address than its own.
func LoanOf(claim, ip string) string { return claim + loanMark + ip }

const loanMark = "@"

// Ask is a claim's request for a lease on an address.
type Ask struct {
	Lease  string        `json:"lease"` // the claim's ID, unique within its crawl and worker
	IP     string        `json:"ip,omitempty"`
	PerIP  int           `json:"per_ip"`
	Crawl  string        `json:"crawl,omitempty"`
	Worker string        `json:"worker"`
	Reply  string        `json:"reply,omitempty"`  // the workflow that gets the grant; none if the ask is an update
	Rest   time.Duration `json:"rest,omitempty"`   // how long the address rests if the lease runs out; 0: DefaultRest
	Loan   bool          `json:"loan,omitempty"`   // it lasts for LoanTTL, at most
	Host   string        `json:"host,omitempty"`   // that is asked there, by its PLD
	Weight int           `json:"weight,omitempty"` // of the crawl, beside others that wait for the address; 0 counts as 1
	Permit bool          `json:"permit,omitempty"` // its lane makes requests only while its worker has the permit of the ring
	Group  string        `json:"group,omitempty"`  // that the host belongs to: all that belongs to it counts as one address
	// Line is how many asks of its crawl, itself included, may wait for each lease of the address; one too many is answered busy, and does not
	// wait. 0: any number. It is not kept with the ask.
	Line int `json:"line,omitempty"`
}

// ID names the lease that is asked for.
func (a Ask) ID() LeaseID { return LeaseID{a.Crawl, a.Worker, a.Lease} }

// Withdrawal is a release of the lease that is asked for, whatever was granted of it.
func (a Ask) Withdrawal() Release {
	return Release{Lease: a.Lease, Crawl: a.Crawl, Worker: a.Worker, IP: a.IP}
}

// Key names a grant of a lease of the crawl and worker that it is exchanged with.
type Key struct {
	Lease  string `json:"lease"`
	Number int64  `json:"number"`
	// Revision is that of a release: a grant may be released once more, with what is known by then. It is none of politeness' concern.
	Revision int64 `json:"revision,omitempty"`
}

// Release ends a grant of a lease. Number 0 is that of a holder that knows of no grant: it withdraws the ask, and ends whatever was
// granted.
type Release struct {
	Lease  string        `json:"lease"`
	IP     string        `json:"ip"` // empty: the address is another shard's, see Notice
	Crawl  string        `json:"crawl,omitempty"`
	Worker string        `json:"worker"`
	Number int64         `json:"number,omitempty"`
	Rest   time.Duration `json:"rest,omitempty"`  // how long the address is not to be asked, from when this is served
	Asked  bool          `json:"asked,omitempty"` // a request was made, and the lane has ended: it says how
	// Host rests for HostRest, from when this is served, at whatever address: a Crawl-delay or Retry-After is
	// the host's, not its address's. It replaces what the same lease has said of its host before.
	Host     string        `json:"host,omitempty"`
	HostRest time.Duration `json:"host_rest,omitempty"`
	// Trouble says what slows Host down, in all crawls: its last answer was 429 or 503, or it did not answer; empty if none of these.
	Trouble Trouble `json:"trouble,omitempty"`
}

// Notice is what the shards of other addresses are sent of the release: how its host rests, and what it was slowed down for; false if it says nothing of its host. Numbers of grants
// are times, so those of two shards can be compared: a trouble counts once at each.
func (r Release) Notice() (Release, bool) {
	r.IP, r.Rest, r.Asked = "", 0, false
	return r, r.Host != ""
}

// notice reports whether the release is what Notice returns.
func (r Release) notice() bool { return r.IP == "" }

// ID names the lease that is released.
func (r Release) ID() LeaseID { return LeaseID{r.Crawl, r.Worker, r.Lease} }

// Renewal puts off the deadline of a grant.
type Renewal struct {
	Ask
	Number int64 `json:"number"`
}

// Grant gives a lease. The holder makes no request before NotBefore or after Deadline.
type Grant struct {
	Lease     string    `json:"lease"`
	IP        string    `json:"ip"`
	Number    int64     `json:"number"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Deadline  time.Time `json:"deadline"`
	ID        LeaseID   `json:"-"` // whom it is for, as long as it is not sent
	Reply     string    `json:"-"`
	// HostNotBefore is when the host of the ask may be asked; zero if at once. The address is not kept for it: a holder that
	// would wait long gives the lease back.
	HostNotBefore time.Time `json:"host_not_before,omitzero"`
	// SlowUntil is until when the host rests because it is slowed down, HostNotBefore or earlier. No release takes it back.
	SlowUntil time.Time `json:"slow_until,omitzero"`
}

// Known lists the leases that the frontier of a worker knows of a crawl, at a moment of Temporal's time. What a shard has
// of that crawl and worker beside them, from before that moment, belongs to a run that is gone.
type Known struct {
	Crawl  string    `json:"crawl"`
	Worker string    `json:"worker"`
	Leases []string  `json:"leases,omitempty"`
	At     time.Time `json:"at"`
}

// Gone says that the ring of workers has given a worker up, at a moment of Temporal's time. What it has asked for before that moment and
// was not granted is withdrawn: nobody would use the lease or give it back, and the address would be kept until its deadline. So are its
// leases that go by its permit. Its other leases stay until their deadlines, because it may be at work.
type Gone struct {
	Worker string    `json:"worker"`
	At     time.Time `json:"at"`
	// Left says that the worker was leaving: it may be started again, and the asks that do not go by its permit wait for it.
	Left bool `json:"left,omitempty"`
	// Epoch is that of the ring, in which the worker was no member. What its process asks for by an earlier one, and comes later, is refused if it goes by its permit. 0: not known.
	Epoch uint64 `json:"epoch,omitempty"`
}

// Waiting reports what an asker waits for: how many of its asks do, and of one of them, the first, for whom and until when.
type Waiting struct {
	Asks  int       `json:"asks"`
	Lease string    `json:"lease"`
	IP    string    `json:"ip"`
	Host  string    `json:"host,omitempty"` // that By asks at another address, or that rests; empty if the address is what it waits for
	By    string    `json:"by,omitempty"`   // CRAWL/WORKER that holds the address; empty if it rests
	Until time.Time `json:"until"`          // the end of that lease if nobody renews or releases it, or of the rest
}

// String is its form for people.
func (w Waiting) String() string {
	awaited := cmp.Or(w.Host, w.IP)
	what := fmt.Sprintf("%d claims wait for leases; %s, for the first of them,", w.Asks, awaited)
	if w.Asks == 1 {
		what = "a claim waits for a lease: " + awaited
	}
	at := w.Until.UTC().Format(time.DateTime) + " UTC"
	if w.By == "" {
		return what + " rests until " + at
	}
	return what + " is held by " + w.By + ", until " + at + " at the latest"
}

// Round is what a shard is sent at a time. Round counts those of a sender that waits for an answer, from 1.
type Round struct {
	From     string    `json:"from"`
	Round    int64     `json:"round"`
	Shards   int       `json:"shards,omitempty"` // that the sender knows
	Worker   string    `json:"worker,omitempty"` // the sender's
	Groups   string    `json:"groups,omitempty"` // hash of its host groups
	Epoch    uint64    `json:"epoch,omitempty"`  // of the ring, by which the sender acts; 0: not known
	Known    *Known    `json:"known,omitempty"`
	Gone     []Gone    `json:"gone,omitempty"`
	Releases []Release `json:"releases,omitempty"`
	Renewals []Renewal `json:"renewals,omitempty"`
	Asks     []Ask     `json:"asks,omitempty"`
}

// Answer carries leases to the one that asked. Round is set in the answer to a round, Fault if the round was not served.
type Answer struct {
	To      string   `json:"-"`
	Shard   int      `json:"shard"`
	Round   int64    `json:"round,omitempty"`
	Grants  []Grant  `json:"grants,omitempty"`
	Refused []Key    `json:"refused,omitempty"` // renewals
	Busy    []string `json:"busy,omitempty"`    // leases that were asked for and are not waited for: the line is full, see Ask.Line
	Waiting *Waiting `json:"waiting,omitempty"` // what the asker waits for now
	Fault   string   `json:"fault,omitempty"`
	// Differing are workers that have lately sent another hash of host groups than the asker.
	Differing []string `json:"differing,omitempty"`
}

// Split parts an answer: what a round asked for, with all that the answer says of it, and the grants of earlier asks.
func (a Answer) Split(r Round) (of, earlier Answer) {
	of, earlier = a, Answer{To: a.To, Waiting: a.Waiting}
	of.Grants = nil
	for _, g := range a.Grants {
		if slices.ContainsFunc(r.Asks, func(ask Ask) bool { return ask.ID() == g.ID }) ||
			slices.ContainsFunc(r.Renewals, func(renewal Renewal) bool { return renewal.ID() == g.ID }) {
			of.Grants = append(of.Grants, g)
		} else {
			earlier.Grants = append(earlier.Grants, g)
		}
	}
	return of, earlier
}

// Distinct returns one grant a lease: the last one, at the place of the first. A lease that is asked for twice is granted
// twice, because an answer may be lost; a receiver must act on each grant once. Grants that were sent are those of one crawl and
// worker.
func Distinct(grants []Grant) []Grant {
	type key struct {
		id    LeaseID
		lease string
	}
	at := make(map[key]int, len(grants))
	var out []Grant
	for _, g := range grants {
		k := key{g.ID, g.Lease}
		i, seen := at[k]
		switch {
		case !seen:
			at[k] = len(out)
			out = append(out, g)
		case g.Number > out[i].Number || g.Number == out[i].Number && g.Deadline.After(out[i].Deadline):
			out[i] = g
		}
	}
	return out
}

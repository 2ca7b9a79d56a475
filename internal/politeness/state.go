package politeness

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// State is the state of one shard. Its JSON form carries it over continue-as-new.
type State struct {
	TTL    time.Duration
	Shards int       // of all of Politeness; 0: not known
	Last   int64     // number of the last grant or ask
	Floor  time.Time // before it no address is granted of which nothing is known
	Fair   bool      // crawls that wait for an address take turns; else asks are served as they came
	// Servers are slowed down, and hosts have a bound of their own, see CountServers.
	Servers bool
	Lines   bool // asks that say so are answered busy when the line is full, see Ask.Line; in executions of earlier versions all wait
	Apart   bool // a host is asked under the leases of one claim at a time, see KeepHostsApart
	Ends    bool // a release that does not say how its lane has ended says nothing of its server; in earlier executions it was one without a trouble
	Exact   bool // see grantsAt, makeRoom and late; executions of earlier versions are not
	Notices bool // notices take half of the room of hosts at most, whatever is known; in executions of earlier versions those of hosts that are known take all
	Turned  int  // asks that were not taken because there was no room

	addresses     map[string]*address // and host groups, by GroupKey
	joined        map[string]string   // the group's key, by address
	groups        map[string]groupsOf // by worker
	busy          agenda              // addresses with leases or asks, by when something is to be done
	idle          agenda              // addresses that rest, by their next time
	held, waiting int
	bytes         int                  // of the JSON form, at most
	asksByReply   map[string][]*waiter // asks that wait, by whom they are answered to, in the order in which they came
	uses          map[string]*hostUse  // of hosts that are asked, wanted, or rest as an address does
	hosts         map[string]hostRest  // that rest longer than the address that they were asked at
	hostsLeft     int                  // by the last sweep
	hostBytes     int                  // of bytes, what hosts take
	departed      map[string]departure // by worker that the ring has given up, see late
}

// address is what is known of one IP address, or of a host group.
type address struct {
	ip      string
	members []string // addresses that are joined to the group
	holders []*holder
	waiters []*waiter // first come, first served
	next    time.Time
	last    string           // the host that was asked last, see State.setLast
	turns   map[string]int64 // by crawl, see countTurn
	refused []refusedWorker  // for which places are kept, see admits

	due  time.Time // of the agenda that it is in
	at   int       // its place there
	list *agenda
}

// holder is a lease that is held.
type holder struct {
	Ask
	Number   int64     `json:"number"`
	First    int64     `json:"first,omitempty"` // number of the first grant; none if the lease was held again by a renewal
	Deadline time.Time `json:"deadline"`
}

// waiter is an ask that waits.
type waiter struct {
	Ask
	Since int64 `json:"since"` // a number, as grants have
}

// New returns the state of a shard of which there are so many, without any leases; ttl 0 means DefaultTTL.
func New(ttl time.Duration, shards int) *State {
	s := &State{TTL: ttl, Shards: shards}
	if ttl <= 0 {
		s.TTL = DefaultTTL
	}
	s.init()
	return s
}

// NewPresent is New with all rules, as executions have that begin now: see workflows.Politeness.
func NewPresent(ttl time.Duration, shards int) *State {
	s := New(ttl, shards)
	s.Fair, s.Ends, s.Lines, s.Exact, s.Notices = true, true, true, true, true
	s.CountServers()
	s.KeepHostsApart(true)
	return s
}

// Lost says that the shard had a former life that ended then, of which it knows nothing: leases may be out.
func (s *State) Lost(ended time.Time) { s.Floor = ceilMillis(ended.Add(s.TTL)) }

// Counts returns the numbers of leases held, of asks waiting, and of addresses known.
func (s *State) Counts() (held, waiting, addresses int) {
	return s.held, s.waiting, len(s.addresses)
}

func (s *State) init() {
	s.addresses, s.asksByReply, s.hosts, s.joined = map[string]*address{}, map[string][]*waiter{}, map[string]hostRest{}, map[string]string{}
	s.groups, s.uses, s.departed = map[string]groupsOf{}, map[string]*hostUse{}, map[string]departure{}
	s.bytes = stateBytes
}

// What a state's JSON form takes beside the strings in it, at most.
const (
	stateBytes   = 256
	addressBytes = 96
	leaseBytes   = 224
	joinedBytes  = 8
)

// sizeOf is what an ask takes. What an earlier version did not send counts only where it is set: sizes decide which asks are refused, also when a
// history of that version is replayed.
func sizeOf(a Ask) int {
	return leaseBytes + len(a.Lease) + len(a.Crawl) + len(a.Worker) + len(a.Reply) + len(a.Host) + groupBytes(a)
}

// groupBytes is what the weight, the permit and the group of an ask take, and its address beside a group.
func groupBytes(a Ask) int {
	n := 0
	if a.Weight != 0 {
		n = len(`"weight":100,`)
	}
	if a.Permit {
		n += len(`"permit":true,`)
	}
	if a.Group == "" {
		return n
	}
	return n + len(`"group":"","ip":"",`) + len(a.Group)
}

// stateJSON is the JSON form of a state. Addresses that only rest, which are the most, have a short one.
type stateJSON struct {
	TTL       time.Duration        `json:"ttl"`
	Shards    int                  `json:"shards,omitempty"`
	Last      int64                `json:"last,omitempty"`
	Floor     time.Time            `json:"floor,omitzero"`
	Turned    int                  `json:"turned,omitempty"`
	Fair      bool                 `json:"fair,omitempty"`
	Servers   bool                 `json:"servers,omitempty"`
	Ends      bool                 `json:"ends,omitempty"`
	Lines     bool                 `json:"lines,omitempty"`
	Apart     bool                 `json:"apart,omitempty"`
	Exact     bool                 `json:"exact,omitempty"`
	Notices   bool                 `json:"notices,omitempty"`
	Addresses map[string]*busyJSON `json:"addresses"`
	Resting   map[string]time.Time `json:"resting,omitempty"`
	Hosts     map[string]hostRest  `json:"hosts,omitempty"`
	Joined    map[string]string    `json:"joined,omitempty"`
	AskedLast map[string]string    `json:"asked_last,omitempty"` // the host, by address
	Groups    map[string]groupsOf  `json:"groups,omitempty"`
	Departed  map[string]departure `json:"departed,omitempty"`
}

type busyJSON struct {
	Holders []holder         `json:"holders,omitempty"`
	Waiters []waiter         `json:"waiters,omitempty"`
	Next    time.Time        `json:"next,omitzero"`
	Turns   map[string]int64 `json:"turns,omitempty"`
	Refused []refusedWorker  `json:"refused,omitempty"`
}

// MarshalJSON writes the state out.
func (s *State) MarshalJSON() ([]byte, error) {
	out := stateJSON{TTL: s.TTL, Shards: s.Shards, Last: s.Last, Floor: s.Floor, Turned: s.Turned, Fair: s.Fair, Servers: s.Servers, Ends: s.Ends, Lines: s.Lines, Apart: s.Apart, Exact: s.Exact, Notices: s.Notices, Departed: s.departed, Addresses: map[string]*busyJSON{}, Resting: map[string]time.Time{}, AskedLast: map[string]string{}}
	for _, ip := range slices.Sorted(maps.Keys(s.addresses)) {
		a := s.addresses[ip]
		if a.last != "" {
			out.AskedLast[ip] = a.last
		}
		if a.empty() {
			out.Resting[ip] = a.next
			continue
		}
		b := &busyJSON{Next: a.next, Turns: a.turns, Refused: a.refused}
		for _, h := range a.holders {
			b.Holders = append(b.Holders, *h)
			omitKey(&b.Holders[len(b.Holders)-1].Ask, ip)
		}
		for _, w := range a.waiters {
			b.Waiters = append(b.Waiters, *w)
			omitKey(&b.Waiters[len(b.Waiters)-1].Ask, ip)
		}
		out.Addresses[ip] = b
	}
	out.Hosts, out.Joined, out.Groups = s.hosts, s.joined, s.groups
	return json.Marshal(out)
}

// omitKey leaves the address of an ask out that stands below it.
func omitKey(a *Ask, ip string) {
	if a.IP == ip {
		a.IP = ""
	}
}

// UnmarshalJSON reads what MarshalJSON wrote, and builds what is derived of it again.
func (s *State) UnmarshalJSON(raw []byte) error {
	var in stateJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*s = State{TTL: in.TTL, Shards: in.Shards, Last: in.Last, Floor: in.Floor, Turned: in.Turned, Fair: in.Fair, Servers: in.Servers, Ends: in.Ends, Lines: in.Lines, Exact: in.Exact, Notices: in.Notices}
	s.init()
	if in.Apart {
		s.KeepHostsApart(true)
	}
	var lines []*waiter
	for _, ip := range slices.Sorted(maps.Keys(in.Addresses)) {
		b := in.Addresses[ip]
		a := s.add(ip, b.Next)
		for _, h := range b.Holders {
			h.IP = cmp.Or(h.IP, ip)
			s.addHolder(a, &h)
		}
		for _, w := range b.Waiters {
			w.IP = cmp.Or(w.IP, ip)
			a.waiters = append(a.waiters, &w)
			s.useAsWaiter(&w)
			s.waiting++
			s.bytes += sizeOf(w.Ask)
			lines = append(lines, &w)
		}
		for crawl, turn := range b.Turns {
			s.setTurn(a, crawl, turn)
		}
		s.setRefused(a, b.Refused)
	}
	slices.SortFunc(lines, func(a, b *waiter) int { return cmp.Compare(a.Since, b.Since) })
	for _, w := range lines {
		s.asksByReply[w.Reply] = append(s.asksByReply[w.Reply], w)
	}
	for _, ip := range slices.Sorted(maps.Keys(in.Resting)) {
		s.add(ip, in.Resting[ip])
	}
	s.restoreJoined(in.Joined)
	for worker, groups := range in.Groups {
		s.setGroups(worker, groups)
	}
	for _, host := range slices.Sorted(maps.Keys(in.Hosts)) {
		s.addHost(host, in.Hosts[host])
	}
	s.hostsLeft = len(s.hosts)
	for worker, d := range in.Departed {
		s.depart(worker, d)
	}
	s.restoreLast(in.AskedLast)
	for _, ip := range slices.Sorted(maps.Keys(s.addresses)) { // when is known by all of the above
		s.schedule(s.addresses[ip], time.Time{})
	}
	return nil
}

// add makes an address known.
func (s *State) add(ip string, next time.Time) *address {
	a := &address{ip: ip, next: next}
	s.addresses[ip] = a
	s.bytes += addressBytes + len(ip)
	return a
}

func (s *State) remove(a *address) {
	s.forgetMembers(a)
	s.clearTurns(a)
	s.setRefused(a, nil)
	s.setLast(a, "")
	delete(s.addresses, a.ip)
	s.bytes -= addressBytes + len(a.ip)
}

func (s *State) addHolder(a *address, h *holder) {
	a.holders = append(a.holders, h)
	s.useAsHolder(h)
	s.held++
	s.bytes += sizeOf(h.Ask)
}

// end takes a lease off its address.
func (s *State) end(a *address, h *holder) {
	a.holders = slices.DeleteFunc(a.holders, func(other *holder) bool { return other == h })
	s.endUseAsHolder(h)
	s.held--
	s.bytes -= sizeOf(h.Ask)
}

// enqueue puts an ask at the end of the line.
func (s *State) enqueue(a *address, w *waiter) {
	a.waiters = append(a.waiters, w)
	s.useAsWaiter(w)
	s.asksByReply[w.Reply] = append(s.asksByReply[w.Reply], w)
	s.waiting++
	s.bytes += sizeOf(w.Ask)
}

// withdraw takes an ask out of the line.
func (s *State) withdraw(a *address, w *waiter) {
	is := func(other *waiter) bool { return other == w }
	a.waiters = slices.DeleteFunc(a.waiters, is)
	s.endUseAsWaiter(w)
	if left := slices.DeleteFunc(s.asksByReply[w.Reply], is); len(left) > 0 {
		s.asksByReply[w.Reply] = left
	} else {
		delete(s.asksByReply, w.Reply)
	}
	s.waiting--
	s.bytes -= sizeOf(w.Ask)
}

func (a *address) empty() bool { return len(a.holders)+len(a.waiters) == 0 }

func (a *address) holder(id LeaseID) *holder {
	for _, h := range a.holders {
		if h.ID() == id {
			return h
		}
	}
	return nil
}

// grant finds a holder by the number of its last grant.
func (a *address) grant(number int64) *holder {
	for _, h := range a.holders {
		if h.Number == number {
			return h
		}
	}
	return nil
}

func (a *address) waiter(id LeaseID) *waiter {
	for _, w := range a.waiters {
		if w.ID() == id {
			return w
		}
	}
	return nil
}

// free reports whether an asker's per_ip and that of every holder leave room for one more.
func (a *address) free(perIP int) bool {
	limit := max(perIP, 1)
	for _, h := range a.holders {
		limit = min(limit, max(h.PerIP, 1))
	}
	return len(a.holders) < limit
}

func (a *address) push(next time.Time) {
	if next = ceilMillis(next); next.After(a.next) {
		a.next = next
	}
}

// ceilMillis rounds a time up to milliseconds, in which next times are kept: their JSON form is short.
func ceilMillis(t time.Time) time.Time {
	if cut := t.Truncate(time.Millisecond); !cut.Equal(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

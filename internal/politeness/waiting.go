package politeness

import "strings"

// Waiting reports what an asker waits for; nil if it waits for nothing.
func (s *State) Waiting(reply string) *Waiting {
	line := s.asksByReply[reply]
	if len(line) == 0 {
		return nil
	}
	w := s.waits(s.at(line[0].IP), line[0])
	w.Asks = len(line)
	return &w
}

// Find reports what the ask for a lease waits for; nil if there is no such ask.
func (s *State) Find(ip string, lease LeaseID) *Waiting {
	a := s.at(ip)
	if a == nil {
		return nil
	}
	w := a.waiter(lease)
	if w == nil {
		return nil
	}
	waits := s.waits(a, w)
	return &waits
}

// owner is who has the lease, as CRAWL/WORKER.
func (h *holder) owner() string { return strings.Trim(h.Crawl+"/"+h.Worker, "/") }

func (s *State) waits(a *address, w *waiter) Waiting {
	out := Waiting{Asks: 1, Lease: w.Lease, IP: w.IP, Until: a.next}
	for i, h := range a.holders {
		if i == 0 || h.Deadline.Before(out.Until) {
			out.By, out.Until = h.owner(), h.Deadline
		}
	}
	if h := s.askedBy(w.Ask); h != nil && out.By == "" {
		out.Host, out.By, out.Until = w.Host, h.owner(), h.Deadline
	} else if rests := s.hostRests(w.Host); out.By == "" && rests.After(out.Until) {
		out.Host, out.Until = w.Host, rests
	}
	return out
}

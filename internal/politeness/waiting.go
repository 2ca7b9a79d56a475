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

func (s *State) waits(a *address, w *waiter) Waiting {
	out := Waiting{Asks: 1, Lease: w.Lease, IP: w.IP, Until: a.next}
	for i, h := range a.holders {
		if i == 0 || h.Deadline.Before(out.Until) {
			out.By, out.Until = strings.Trim(h.Crawl+"/"+h.Worker, "/"), h.Deadline
		}
	}
	return out
}

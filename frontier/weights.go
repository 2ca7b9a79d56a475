package frontier

// Weights returns the weight of a crawl, and the sum of the weights of all crawls of the worker that have something to do, this one among
// them.
func (f *Frontier) Weights(crawl string) (own, all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own = 1
	for name, s := range f.crawls {
		weight := max(s.Definition.Politeness.Weight, 1)
		switch {
		case name == crawl:
			own = weight
		case s.Active && !s.asleep && (s.claims.Len() > 0 || s.waitingLive() > 0):
			all += weight
		}
	}
	return own, all + own
}

package frontier

import "slices"

// Crawls lists the names of the crawls that the frontier knows.
func (f *Frontier) Crawls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]string, 0, len(f.crawls))
	for name := range f.crawls {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

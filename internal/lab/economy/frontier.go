package economy

import "slices"

// frontier holds the URLs that have been found and not fetched. It drops URLs that cannot be reached before the budget is
// spent, so that an endless site needs no endless memory.
type frontier struct {
	ranks []rank             // the highest priority first
	known map[string]float64 // priority of what is or was in a rank
	taken map[string]bool
	left  int // requests that the budget still allows
	cut   bool
}

// rank is the queue of one priority.
type rank struct {
	priority float64
	urls     []string
	waiting  int // of the urls, those that are not out of date
	at       int
}

func newFrontier(budget int) *frontier {
	return &frontier{known: map[string]float64{}, taken: map[string]bool{}, left: budget}
}

// add adds a URL, or raises the priority of a known one.
func (f *frontier) add(url string, priority float64) {
	before, known := f.known[url]
	if known && (f.taken[url] || before >= priority) {
		return
	}
	ahead := 0
	for _, r := range f.ranks {
		if r.priority >= priority {
			ahead += r.waiting
		}
	}
	if ahead >= f.left {
		f.cut = true
		return
	}
	if known {
		f.ranks[f.place(before)].waiting--
	}
	f.known[url] = priority
	r := &f.ranks[f.place(priority)]
	r.urls = append(r.urls, url)
	r.waiting++
}

// place is the index of a priority's queue. It makes the queue if there is none.
func (f *frontier) place(priority float64) int {
	i, ok := slices.BinarySearchFunc(f.ranks, priority, func(r rank, p float64) int {
		switch {
		case r.priority > p:
			return -1
		case r.priority < p:
			return 1
		}
		return 0
	})
	if !ok {
		f.ranks = slices.Insert(f.ranks, i, rank{priority: priority})
	}
	return i
}

// next returns the next URL; false if there is none or the budget is spent.
func (f *frontier) next() (url string, ok bool) {
	if f.left == 0 {
		f.cut = f.cut || f.waiting() > 0
		return "", false
	}
	for i := range f.ranks {
		r := &f.ranks[i]
		for r.at < len(r.urls) {
			url := r.urls[r.at]
			r.urls[r.at] = ""
			r.at++
			if f.taken[url] || f.known[url] != r.priority {
				continue // it has risen
			}
			r.waiting--
			f.taken[url] = true
			f.left--
			return url, true
		}
	}
	return "", false
}

func (f *frontier) waiting() int {
	n := 0
	for _, r := range f.ranks {
		n += r.waiting
	}
	return n
}

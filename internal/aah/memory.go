package aah

import "sync"

// was is what a host was found to be: an application, on how many of its pages.
type was struct {
	app, version string
	pages, of    int
}

// share tells how sure a host's history is; one page says little.
func (w was) share() float64 {
	if w.of < enoughPages {
		return 0
	}
	return float64(w.pages) / float64(w.of)
}

// aged lets old pages weigh less.
func (w was) aged() was {
	if w.of >= 1000 {
		w.of, w.pages = w.of/2, w.pages/2
	}
	return w
}

// enoughPages must be seen of a host before its history counts.
const enoughPages = 3

// memory remembers what hosts were found to be; when it is full, a host is forgotten for each new one.
type memory struct {
	mu    sync.Mutex
	hosts map[string]was
	room  int
}

func newMemory(room int) *memory { return &memory{hosts: map[string]was{}, room: max(room, 1)} }

func (m *memory) of(host string) was {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hosts[host]
}

// miss takes a page into account that bears no mark of what the host was found to be, and has nothing of what such
// pages hold.
func (m *memory) miss(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w, known := m.hosts[host]; known {
		w.of++
		m.hosts[host] = w.aged()
	}
}

// note takes a page into account that was recognised by its own marks. A host that changes is learned anew.
func (m *memory) note(host string, r recognised) {
	if r.rule == "host" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w, known := m.hosts[host]
	if !known && len(m.hosts) >= m.room {
		for other := range m.hosts {
			delete(m.hosts, other)
			break
		}
	}
	w.of++
	switch {
	case w.app == r.app.Name:
		w.pages++
		if r.version != "" {
			w.version = r.version
		}
	case w.pages*2 <= w.of:
		w = was{app: r.app.Name, version: r.version, pages: 1, of: 1}
	}
	m.hosts[host] = w.aged()
}

package recognise

import (
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/cache"
)

// Host is what a host was found to be: an application, on how many of its pages.
type Host struct {
	app, version string
	pages, of    int
}

// share is the share of the host's pages that were of its application; 0 while few were seen.
func (h Host) share() float64 {
	if h.of < enoughPages {
		return 0
	}
	return float64(h.pages) / float64(h.of)
}

// aged halves the counts of a long history, so that old pages weigh less.
func (h Host) aged() Host {
	if h.of >= 1000 {
		h.of, h.pages = h.of/2, h.pages/2
	}
	return h
}

// enoughPages must be seen of a host before its history counts.
const enoughPages = 3

// Hosts remembers what hosts were found to be. When it is full, the host goes whose last page was seen the longest ago: the same pages
// in the same order give the same findings. It is safe for concurrent use.
type Hosts struct {
	mu    sync.Mutex
	hosts *cache.LRU[string, Host]
}

// NewHosts makes an empty memory of so many hosts.
func NewHosts(room int) *Hosts { return &Hosts{hosts: cache.NewLRU[string, Host](room, nil)} }

// carriers are hosts, with those below them, that show pages of other hosts: what one page of theirs is says nothing of the next.
var carriers = []string{
	"web.archive.org", "archive.org", "archive.today", "archive.ph", "archive.is", "archive-it.org", "arquivo.pt", "webarchive.org.uk", "webarchive.nationalarchives.gov.uk", "webarchive.loc.gov",
	"translate.goog", "translate.google.com", "webcache.googleusercontent.com", "cc.bingj.com", "cdn.ampproject.org",
}

func carries(host string) bool {
	return slices.ContainsFunc(carriers, func(name string) bool { return host == name || strings.HasSuffix(host, "."+name) })
}

// Of returns what a host was found to be; nothing of one that shows pages of others.
func (m *Hosts) Of(host string) Host {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, _ := m.hosts.Get(host)
	return h
}

// Miss takes a page into account that bears no mark of what the host was found to be, and has nothing of what such
// pages hold.
func (m *Hosts) Miss(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h, known := m.hosts.Get(host); known {
		h.of++
		m.hosts.Put(host, h.aged())
	}
}

// Note takes a page into account that was recognised by its own marks. A host that changes is learned again.
func (m *Hosts) Note(host string, r Result) {
	if r.Rule == ByHost || carries(host) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h, _ := m.hosts.Get(host)
	h.of++
	switch {
	case h.app == r.Profile.Application.Name:
		h.pages++
		if r.Version != "" {
			h.version = r.Version
		}
	case h.pages*2 <= h.of:
		h = Host{app: r.Profile.Application.Name, version: r.Version, pages: 1, of: 1}
	}
	m.hosts.Put(host, h.aged())
}

// Len is how many hosts are remembered.
func (m *Hosts) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hosts.Len()
}

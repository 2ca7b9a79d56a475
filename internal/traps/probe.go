package traps

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The rules of probes.
const (
	// doubtful is how many pages of a host must have brought nothing new for it to be probed.
	doubtful = 2
	// maxProbed is how many hosts of a pay-level domain are probed.
	maxProbed = 32
	// probeName is what the name of a probe begins with.
	probeName = "muninn-probe-"
)

// probed is a host that was asked for a URL that cannot exist.
type probed struct {
	_          struct{} `cbor:",toarray"`
	Host       uint64
	Words      int    // of its answer; 0 if that was an error, or has not come yet
	All        uint64 // of its answer; of the page for which it is asked, as long as that has not come
	Requisites uint64
	Followed   bool // the links of a page of the run were followed that read like the answer
}

func (h *probed) reads(p *crawl.Print) bool {
	return p != nil && h.Words > 0 && h.Requisites == p.Requisites && alike(h.All, p.All)
}

// ProbeOf returns a URL beside another one that cannot exist: of the same host, in the same folder, with the same ending.
func ProbeOf(u urls.URL) string {
	path, _, _ := strings.Cut(u.RequestURI(), "?")
	slash := strings.LastIndexByte(path, '/') + 1
	ending := ""
	if dot := strings.LastIndexByte(path, '.'); dot > slash && len(path)-dot <= 6 && !strings.ContainsAny(path[dot:], ";%") {
		ending = path[dot:]
	}
	folder := strings.TrimSuffix(u.String(), u.RequestURI()) + path[:slash]
	return fmt.Sprintf("%s%s%016x%s", folder, probeName, mix(hash(folder)), ending)
}

// IsProbe reports whether a URL is one that ProbeOf returns.
func IsProbe(url string) bool {
	slash := strings.LastIndexByte(url, '/') + 1
	rest, is := strings.CutPrefix(url[slash:], probeName)
	if !is || len(rest) < 16 {
		return false
	}
	sum, err := strconv.ParseUint(rest[:16], 16, 64)
	return err == nil && sum == mix(hash(url[:slash]))
}

// probe asks for a probe of the host of a page, if the pages of the host are doubtful, and it was not asked before.
func (m *Memory) probe(p *Page) {
	at, known := m.find(p.Shape.patterns[levelHost])
	if !m.Probing || !known || p.URL == "" || at.Pages-at.Useful < doubtful || len(m.Hosts) >= maxProbed {
		return
	}
	if m.host(p.URL) != nil {
		return
	}
	if u, err := urls.Trusted(p.URL); err == nil {
		m.Hosts = append(m.Hosts, probed{Host: hash(urls.HostOf(p.URL)), All: p.Print.All, Requisites: p.Print.Requisites})
		m.wanted = append(m.wanted, Probe{URL: ProbeOf(u), Via: p.URL})
	}
}

// host returns what is known of the host of a URL; nil if it was not probed.
func (m *Memory) host(url string) *probed {
	if len(m.Hosts) == 0 {
		return nil
	}
	host := hash(urls.HostOf(url))
	for i := range m.Hosts {
		if m.Hosts[i].Host == host {
			return &m.Hosts[i]
		}
	}
	return nil
}

// Probe is a URL that cannot exist, and the page for which it is asked for.
type Probe struct{ URL, Via string }

// Probes returns the probes that Learn has asked for since they were last returned.
func (m *Memory) Probes() (list []Probe) {
	list, m.wanted = m.wanted, nil
	return list
}

// Answered takes in what came of a probe; p is nil if that was no page.
func (m *Memory) Answered(url string, p *crawl.Print) {
	h := m.host(url)
	if h == nil {
		if len(m.Hosts) >= maxProbed {
			return
		}
		m.Hosts = append(m.Hosts, probed{Host: hash(urls.HostOf(url))})
		h = &m.Hosts[len(m.Hosts)-1]
	}
	was := *h
	*h = probed{Host: was.Host, Followed: was.Followed}
	if p == nil {
		return
	}
	h.Words, h.All, h.Requisites = p.Words, p.All, p.Requisites
	if was.Words == 0 && was.All != 0 {
		h.Followed = h.reads(&crawl.Print{All: was.All, Requisites: was.Requisites})
	}
}

// Missing reports whether a page reads like what its host answers to a URL that cannot exist. The first such page of a run is none: a host may answer with one of its pages,
// such as its entering page, whose links are followed once.
func (m *Memory) Missing(url string, p *crawl.Print) bool {
	h := m.host(url)
	return h != nil && h.Followed && h.reads(p)
}

// follow notes that the links of a page were followed.
func (m *Memory) follow(p *Page) {
	if h := m.host(p.URL); h != nil && h.reads(p.Print) {
		h.Followed = true
	}
}

package adapt

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/disk"
)

// MaxSites bounds the sites that are held in memory; the others are read again when they are met.
const MaxSites = 10_000

// Store keeps what was learned, a file a site. It is safe for concurrent use.
type Store struct {
	dir   string // "": in memory only
	mu    sync.Mutex
	sites *cache.LRU[string, *Site]
}

// OpenStore opens a folder, and makes it if it is not there; "" keeps all in memory.
func OpenStore(dir string) (*Store, error) {
	s := &Store{dir: dir, sites: cache.NewLRU[string, *Site](MaxSites, nil)}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open what was learned: %w", err)
	}
	return s, nil
}

// Update lets fn see and change what was learned of a host; if fn returns true it is kept.
func (s *Store) Update(host string, fn func(*Site) (changed bool)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	site, err := s.site(host)
	if err != nil {
		return err
	}
	if !fn(site) || s.dir == "" {
		return nil
	}
	return s.save(site)
}

// Rules returns copies of the rules learned for an application on a host, the best first.
func (s *Store) Rules(host, application string) (rules []SiteRule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	site, err := s.site(host)
	if err != nil || len(site.Rules) == 0 {
		return nil
	}
	return site.rulesFor(application)
}

func (s *Store) site(host string) (*Site, error) {
	if site, held := s.sites.Get(host); held {
		return site, nil
	}
	site := &Site{Host: host}
	if s.dir != "" {
		raw, err := os.ReadFile(s.file(host))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read what was learned of %s: %w", host, err)
		default:
			if err := json.Unmarshal(raw, site); err != nil || site.Host != host { // it can be learned again
				site = &Site{Host: host}
			}
			site.Rules = slices.DeleteFunc(site.Rules, func(r *SiteRule) bool { return r == nil })
		}
	}
	s.sites.Put(host, site)
	return site, nil
}

func (s *Store) file(host string) string {
	return filepath.Join(s.dir, (&Site{Host: host}).File("")+".json")
}

// File is the host as the name of a file, with the application if there is more than one. Hosts that are no file
// names have a checksum beside.
func (s *Site) File(application string) string {
	name := s.Host
	if apps := s.Applications(); application != "" && len(apps) > 1 {
		name += "-" + strings.ToLower(application)
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.TrimLeft(name, "."))
	if safe != name {
		safe += fmt.Sprintf("-%08x", crc32.ChecksumIEEE([]byte(name)))
	}
	return safe
}

// InForce reports whether any rule of the site may be used.
func (s *Site) InForce() bool { return slices.ContainsFunc(s.Rules, (*SiteRule).InForce) }

func (s *Store) save(site *Site) error {
	raw, err := json.MarshalIndent(site, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".new-")
	if err != nil {
		return fmt.Errorf("keep what was learned of %s: %w", site.Host, err)
	}
	err = disk.Place(f, s.file(site.Host), os.Rename, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep what was learned of %s: %w", site.Host, err)
	}
	return nil
}

// Sites calls fn with what was learned of each host, as it is kept; it does not hold up those who learn meanwhile.
// Files that cannot be read are left out and named.
func (s *Store) Sites(fn func(*Site) error) (bad []string, err error) {
	if s.dir == "" {
		for _, site := range s.copies() {
			if err := fn(site); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		site := &Site{}
		if err != nil || json.Unmarshal(raw, site) != nil || slices.Contains(site.Rules, nil) {
			bad = append(bad, name)
			continue
		}
		if err := fn(site); err != nil {
			return bad, err
		}
	}
	return bad, nil
}

// copies are the sites in memory.
func (s *Store) copies() (list []*Site) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, host := range s.sites.Keys() {
		site, _ := s.sites.Peek(host)
		c := &Site{Host: site.Host, Attempts: site.Attempts}
		for _, r := range site.Rules {
			rule := *r
			c.Rules = append(c.Rules, &rule)
		}
		list = append(list, c)
	}
	return list
}

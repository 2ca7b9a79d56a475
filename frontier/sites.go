package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/bandit"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// sites are what was learned of the hosts that a transaction touches: which groups of links
// lead to relevant pages. What an order has learned of the whole crawl stands beside it.
type sites struct {
	store   store.Reader
	keys    store.Keys
	learner *learner.Learner // nil: the order does not learn
	known   map[siteOf]*bandit.Site
	changed map[siteOf]bool
}

// siteOf names a host: its PLD says where it is kept.
type siteOf struct {
	pld  uint64
	host string
}

func openSites(r store.Reader, keys store.Keys, whole *learner.Learner) *sites {
	return &sites{store: r, keys: keys, learner: whole}
}

// of returns what was learned of a host. What cannot be read is learned again.
func (s *sites) of(at siteOf) (*bandit.Site, error) {
	if site := s.known[at]; site != nil {
		return site, nil
	}
	site := &bandit.Site{}
	_, err := s.store.Get(s.keys.Site(at.pld, at.host), func(raw []byte) error {
		if read, err := bandit.Decode(raw); err == nil {
			site = read
		}
		return nil
	})
	if s.known == nil { // most transactions touch no site
		s.known, s.changed = map[siteOf]*bandit.Site{}, map[siteOf]bool{}
	}
	s.known[at] = site
	return site, err
}

// assign gives a link its group, by where it stands.
func (s *sites) assign(at siteOf, tagPath string) (group int, err error) {
	site, err := s.of(at)
	if err != nil {
		return 0, err
	}
	s.changed[at] = true
	return site.Assign(tagPath), nil
}

// reward gives the score of a page of a PLD to the group of the link that led to it.
func (s *sites) reward(pld uint64, r *record.Record, o crawl.PageOutcome, threshold float64) error {
	if r.Group == 0 || !o.Success() || o.Score < 0 {
		return nil
	}
	at := siteOf{pld, urls.HostOf(r.URL)}
	site, err := s.of(at)
	if err != nil {
		return err
	}
	value := 1.0
	if threshold > 0 {
		value = min(o.Score/threshold, 1)
	}
	site.Reward(r.Group, value)
	s.changed[at] = true
	return nil
}

// priority is the place of a URL of a PLD in the order: before all pages, if a page needs it to be shown; else its score, what was learned since it was scored, and what is to be
// expected of its group.
func (s *sites) priority(pld uint64, r *record.Record, d *crawl.Definition) (uint16, error) {
	if crawl.IsRequisite(r.Path) {
		return queue.Requisite, nil
	}
	value, sum := r.Scores.Value(d.Order.Update), d.Order.Update == crawl.UpdateSum
	if s.learner != nil && len(r.Features) > 0 {
		_, now := counts(s.learner.Order, r, d.Order.Update)
		value += now - float64(r.FeaturesScore)
	}
	if r.Group == 0 || sum || !d.ByPlaces() {
		return queue.Priority(value, sum), nil
	}
	site, err := s.of(siteOf{pld, urls.HostOf(r.URL)})
	if err != nil {
		return 0, err
	}
	share := 1.0
	if d.Order.Strategy == crawl.StrategyWeighted {
		share = d.Weights.Helper / max(d.Weights.Sum(), 1e-9)
	}
	return queue.Priority((1-share)*value+share*site.Value(r.Group), false), nil
}

func (s *sites) save(tx store.Tx) error {
	for at := range s.changed {
		if err := tx.Set(s.keys.Site(at.pld, at.host), s.known[at].Encode()); err != nil {
			return err
		}
	}
	return nil
}

// Reward rewards the groups of pages by their scores, for a frontier that is restored from the archive. It is
// idempotent by id.
func (h Learning) Reward(id string, scores map[string]float64) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		e, marker := h.f.edit(tx, s), s.keys.Batch(id, "end")
		if done, err := tx.Has(marker); done || err != nil {
			return nil, err
		}
		for url, score := range scores {
			u, err := urls.Trusted(url)
			if err != nil {
				continue
			}
			k := record.KeyOf(u)
			r, found, err := tx.Record(s.keys.Record(k))
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
			o := crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 200}, Score: score}
			if err := e.sites.reward(k.PLD, &r, o, e.rec.Definition.Topic.Threshold); err != nil {
				return nil, err
			}
		}
		if err := e.sites.save(tx.Tx); err != nil {
			return nil, err
		}
		return nil, tx.Set(marker, nil)
	})
}

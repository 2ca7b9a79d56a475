package topic

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/text"
)

// Memory is what a crawl remembers from batch to batch.
type Memory struct {
	DocumentFrequencies *DocumentFrequencies // nil: all terms weigh the same
	SiteHistory         *SiteHistory         // nil: nothing is remembered of hosts and folders
}

// Observation is what a scored page adds to the memory of its crawl. Observe adds it only when the page is archived, so that a page
// that is scored again after a failure counts once.
type Observation struct {
	URL     string
	Score   float64       // in [0,1]; below 0: the page has none
	Lexicon *text.Lexicon // that has numbered Terms
	Terms   []uint32      // empty for relevant pages, which DocumentFrequencies does not count
}

// Observe adds pages to the memory.
func (m Memory) Observe(pages ...Observation) {
	for _, p := range pages {
		if m.DocumentFrequencies != nil && len(p.Terms) > 0 {
			m.DocumentFrequencies.Add(p.Lexicon, p.Terms)
		}
		if m.SiteHistory != nil && p.Score >= 0 {
			m.SiteHistory.Add(p.URL, p.Score)
		}
	}
}

// keptMemory is the stored form of a memory.
type keptMemory struct {
	Topic string              `cbor:"1,keyasint"` // its canonical text: scores for another topic do not count
	Pages float64             `cbor:"2,keyasint"`
	Terms []text.Term         `cbor:"3,keyasint"` // how many pages have a term
	Young map[string]scoreSum `cbor:"4,keyasint"` // by host or folder
	Old   map[string]scoreSum `cbor:"5,keyasint"`
}

// Encode encodes the memory of a crawl with this topic. It leaves out terms beyond the 100,000 commonest.
func (m Memory) Encode(topic string) ([]byte, error) {
	k := keptMemory{Topic: topic}
	k.Pages, k.Terms = m.DocumentFrequencies.Commonest(maxKeptTerms)
	k.Young, k.Old = m.SiteHistory.generations()
	return codec.Marshal(k)
}

// Restore takes over what Encode wrote; nothing if that was for another topic. An error leaves the memory as it is.
func (m Memory) Restore(topic string, raw []byte) error {
	var k keptMemory
	if err := codec.Unmarshal(raw, &k); err != nil {
		return fmt.Errorf("read the stored memory of pages: %w", err)
	}
	if k.Topic != topic {
		return nil
	}
	m.DocumentFrequencies.restore(k.Pages, k.Terms)
	m.SiteHistory.restore(k.Young, k.Old)
	return nil
}

package topic

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// Memory is what a crawl remembers from batch to batch.
type Memory struct {
	DocumentFrequencies *DocumentFrequencies // nil: all terms weigh alike
	SiteHistory         *SiteHistory         // nil: nothing is remembered of hosts and folders
}

// Observation is what a scored page adds to the memory of its crawl, by Observe: once it is archived, so that a page that is
// scored again after a failure counts once.
type Observation struct {
	URL     string
	Score   float64       // below 0: it has none
	Lexicon *text.Lexicon // of Terms
	Terms   []uint32      // of pages that are not relevant
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

// keptMemory is a memory as it is kept on disk.
type keptMemory struct {
	Topic string              `cbor:"1,keyasint"` // its canonical text: what was worth much to another is not known of this one
	Pages float64             `cbor:"2,keyasint"`
	Terms []text.Term         `cbor:"3,keyasint"` // how many pages have a term
	Young map[string]scoreSum `cbor:"4,keyasint"` // by host or folder
	Old   map[string]scoreSum `cbor:"5,keyasint"`
}

// Encode writes the memory of a topic's crawl, of which Restore makes the same again but for terms beyond the 100,000 commonest.
func (m Memory) Encode(topic string) ([]byte, error) {
	k := keptMemory{Topic: topic}
	k.Pages, k.Terms = m.DocumentFrequencies.Commonest(maxKeptTerms)
	k.Young, k.Old = m.SiteHistory.generations()
	return cbor.Marshal(k)
}

// Restore takes over what Encode has written, if it was of the same topic.
func (m Memory) Restore(topic string, raw []byte) error {
	var k keptMemory
	if err := cbor.Unmarshal(raw, &k); err != nil {
		return fmt.Errorf("read what was remembered of pages: %w", err)
	}
	if k.Topic != topic {
		return nil
	}
	m.DocumentFrequencies.restore(k.Pages, k.Terms)
	m.SiteHistory.restore(k.Young, k.Old)
	return nil
}

package score

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// Memory is what a crawl remembers from batch to batch.
type Memory struct {
	Background *Background // nil: all terms weigh alike
	Past       *Past       // nil: nothing is remembered of hosts and folders
}

// Visit is what a scored page adds to the memory of its crawl, by Take: once it is archived, so that a page that is scored
// again after a failure counts once.
type Visit struct {
	url   string
	score float64       // silent: it has none
	in    *text.Lexicon // of terms
	terms []uint32      // of pages that are not relevant
}

// Take adds pages to the memory.
func (m Memory) Take(visits ...Visit) {
	for _, v := range visits {
		if m.Background != nil && len(v.terms) > 0 {
			m.Background.add(v.in, v.terms)
		}
		if m.Past != nil && v.score >= 0 {
			m.Past.Add(v.url, v.score)
		}
	}
}

// keptMemory is a memory as it is kept on disk.
type keptMemory struct {
	Topic string           `cbor:"1,keyasint"` // its canonical text: what was worth much to another is not known of this one
	Pages float64          `cbor:"2,keyasint"`
	Terms []text.Term      `cbor:"3,keyasint"` // how many pages have a term
	Young map[string]worth `cbor:"4,keyasint"` // by host or folder
	Old   map[string]worth `cbor:"5,keyasint"`
}

// Encode writes the memory of a topic's crawl, of which Restore makes the same again but for terms beyond the 100,000 commonest.
func (m Memory) Encode(topic string) ([]byte, error) {
	k := keptMemory{Topic: topic}
	k.Pages, k.Terms = m.Background.commonest(maxKept)
	k.Young, k.Old = m.Past.generations()
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
	m.Background.restore(k.Pages, k.Terms)
	m.Past.restore(k.Young, k.Old)
	return nil
}

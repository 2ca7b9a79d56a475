package topic

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// Model is what the reference crawl taught: with the definition it makes the Intelligent Crawl
// Definition (paper §3). Frontiers hold it, as do the archive and the histories of workflows.
type Model struct {
	Pages    int         `json:"pages"`    // looked at
	Relevant int         `json:"relevant"` // that the terms were taken from
	Terms    []text.Term `json:"terms"`
	Words    []string    `json:"words,omitempty"`    // the terms as the most pages write them; empty if that is not known
	Examples []string    `json:"examples,omitempty"` // URLs of the most relevant pages
	// Telling are the terms that the relevant pages have more often than the others, the most telling first, as words; Names
	// the names in them; Languages those of the relevant pages and Hosts where they lie, with how many there are.
	Telling   []text.Term `json:"telling,omitempty"`
	Names     []text.Term `json:"names,omitempty"`
	Languages []text.Term `json:"languages,omitempty"`
	Hosts     []text.Term `json:"hosts,omitempty"`
	// DocumentFrequencies are how many of the pages have a term, the commonest first.
	DocumentFrequencies []text.Term `json:"background,omitempty"`
	// Paths are pages that orders are trained with.
	Paths []Path `json:"paths,omitempty"`
}

// Encode writes the model as frontiers keep it.
func (m Model) Encode() ([]byte, error) { return cbor.Marshal(m) }

// DecodeModel reads what Encode wrote; nil if there is nothing, for then no reference crawl was learned from.
func DecodeModel(raw []byte) (*Model, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	m := &Model{}
	if err := cbor.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("read the topic model of the reference crawl: %w", err)
	}
	return m, nil
}

// Brief is what people want to see of it, and what is short enough for the history of a workflow.
func (m Model) Brief() Model {
	m.DocumentFrequencies, m.Paths = nil, nil
	return m
}

// TopWords are the first terms as people write them, n at most.
func (m Model) TopWords(n int) []string {
	words := make([]string, 0, n)
	for i, t := range m.Terms[:min(n, len(m.Terms))] {
		if i < len(m.Words) {
			words = append(words, m.Words[i])
		} else {
			words = append(words, t.Text)
		}
	}
	return words
}

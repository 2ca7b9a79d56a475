package topic

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/text"
)

// Model is what was learned from the reference crawl. With the definition it makes the Intelligent Crawl Definition (paper §3).
// Frontiers, archives and histories of workflows hold it.
type Model struct {
	Pages    int         `json:"pages"`    // of the reference crawl
	Relevant int         `json:"relevant"` // pages that the terms were taken from
	Terms    []text.Term `json:"terms"`
	Words    []string    `json:"words,omitempty"`    // the terms in the form that most pages write; empty if that is not known
	Examples []string    `json:"examples,omitempty"` // URLs of the most relevant pages
	// Telling are the words that relevant pages have more often than the others, by falling log odds. Names are the names in
	// relevant pages, Languages and Hosts the languages and hosts of relevant pages, each with the number of pages.
	Telling   []text.Term `json:"telling,omitempty"`
	Names     []text.Term `json:"names,omitempty"`
	Languages []text.Term `json:"languages,omitempty"`
	Hosts     []text.Term `json:"hosts,omitempty"`
	// DocumentFrequencies are the commonest terms, with the number of pages that have them.
	DocumentFrequencies []text.Term `json:"background,omitempty"`
	// Paths are pages that orders are trained with.
	Paths []Path `json:"paths,omitempty"`
}

// Encode encodes the model as frontiers store it.
func (m Model) Encode() ([]byte, error) { return codec.Marshal(m) }

// DecodeModel decodes what Encode wrote. It returns nil for an empty raw: the crawl has no reference crawl.
func DecodeModel(raw []byte) (*Model, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	m := &Model{}
	if err := codec.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("read the topic model of the reference crawl: %w", err)
	}
	return m, nil
}

// Brief is the model without what only the worker uses: short enough for the history of a workflow, and for people.
func (m Model) Brief() Model {
	m.DocumentFrequencies, m.Paths = nil, nil
	return m
}

// TopWords are the first n terms as words, or fewer.
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

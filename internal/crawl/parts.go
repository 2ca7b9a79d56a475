package crawl

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
)

// PartName names an analyser, and its weight in the definition.
type PartName string

// Names of parts.
const (
	PartDocument  PartName = "document"
	PartParagraph PartName = "paragraph"
	PartAnchor    PartName = "anchor"
	PartURL       PartName = "url"
	PartHelper    PartName = "helper"
	PartTokens    PartName = "tokens"
	PartEntities  PartName = "entities"
	PartHistory   PartName = "history"
	PartLanguage  PartName = "language"
	PartFreshness PartName = "freshness"
	PartSpam      PartName = "spam"
	PartSocial    PartName = "social"
)

// Part is what one analyser says of a page or link, in [0,1].
type Part struct {
	Name  PartName
	Score float64
}

// Parts are the scores of which a score is averaged: of those analysers that spoke. In JSON they are an object.
type Parts []Part

// Of returns the score of a part; false if it said nothing.
func (p Parts) Of(name PartName) (float64, bool) {
	for i := range p {
		if p[i].Name == name {
			return p[i].Score, true
		}
	}
	return 0, false
}

// MarshalJSON writes an object.
func (p Parts) MarshalJSON() ([]byte, error) { return p.Append(nil), nil }

// Append appends what MarshalJSON writes: six digits of each score.
func (p Parts) Append(b []byte) []byte {
	b = append(b, '{')
	for i := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, string(p[i].Name))
		score := p[i].Score
		if math.IsNaN(score) || math.IsInf(score, 0) {
			score = 0
		}
		b = strconv.AppendFloat(append(b, ':'), score, 'g', 6, 64)
	}
	return append(b, '}')
}

// UnmarshalJSON reads an object; parts of −1, as former versions wrote them, said nothing.
func (p *Parts) UnmarshalJSON(raw []byte) error {
	*p = nil
	dec := json.NewDecoder(bytes.NewReader(raw))
	switch t, err := dec.Token(); {
	case err != nil:
		return err
	case t == nil: // null
		return nil
	case t != json.Delim('{'):
		return errors.New("the parts of a score must be an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var score *float64
		if err := dec.Decode(&score); err != nil {
			return err
		}
		if text, ok := name.(string); ok && score != nil && *score >= 0 {
			*p = append(*p, Part{PartName(text), *score})
		}
	}
	return nil
}

// PartNames are the names of all parts. New ones come last: the frontier keeps their numbers. Number 12 was that of "names", which
// is retired: frontiers may hold it, so that a new part must get 13, with "" before it.
var PartNames = []PartName{
	PartDocument, PartParagraph, PartAnchor, PartURL, PartHelper, PartTokens, PartEntities,
	PartHistory, PartLanguage, PartFreshness, PartSpam, PartSocial,
}

// Encode writes each part as two bytes: its number in PartNames, and its score in 255ths.
func (p Parts) Encode() []byte {
	if len(p) == 0 {
		return nil
	}
	b := make([]byte, 0, 2*len(p))
	for i := range p {
		if n := slices.Index(PartNames, p[i].Name); n >= 0 {
			b = append(b, byte(n), byte(min(max(p[i].Score, 0), 1)*255+0.5))
		}
	}
	return b
}

// DecodeParts reads what Encode wrote.
func DecodeParts(b []byte) (parts Parts) {
	for ; len(b) >= 2; b = b[2:] {
		if int(b[0]) < len(PartNames) {
			parts = append(parts, Part{PartNames[b[0]], float64(b[1]) / 255})
		}
	}
	return parts
}

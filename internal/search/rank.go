package search

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/muninn-archive/muninn/internal/search/terms"
)

// The ranking: BM25 of the text, of the title and of the anchor texts that lead to the URL, the sum multiplied by a factor that grows with the
// document score. Anchor texts change the rank of what matches by its own text; by themselves they bring no hit, so that totals and
// facets do not depend on them.
const (
	// TitleBoost weighs the words of the title, beside their part of the text.
	TitleBoost = 1.5
	// AnchorBoost weighs anchor texts.
	AnchorBoost = 1.0
	// RelevanceWeight is what a document score of 1 adds to the factor 1.
	RelevanceWeight = 0.5
	// MaxAnchorTargets bounds the URLs that anchor texts of a query credit: those that they fit best.
	MaxAnchorTargets = 64
)

// Factor is that of a document score, by which the sum is multiplied.
func Factor(score float64) float64 { return 1 + RelevanceWeight*max(0, min(score, 1)) }

// Bounds of the anchor texts of a segment that are indexed.
const (
	// maxTargets is the number of URLs, in a language each.
	maxTargets = 4096
	// maxAnchor is the length of the texts of a URL, in bytes.
	maxAnchor = 256
)

// ContentOf names what a document says, so that documents with the same content have the same name: the payload of a capture, the texts of
// a web object.
func ContentOf(d *Document) string {
	if d.N == WholePage && d.Digest != "" {
		return d.Digest
	}
	h := sha256.New()
	for _, s := range []string{d.Type, d.Author, d.Title, d.Text} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return "text:" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// Target is a URL with the anchor texts of a language that lead to it, a line each.
type Target struct{ URL, Language, Text string }

// Targets are the URLs that the anchors of a segment lead to, in the order of their first anchor.
func (s *Segment) Targets() (list []Target) {
	at := map[Anchor]int{} // by URL and language
	seen := map[Anchor]bool{}
	for _, a := range s.Anchors {
		text := strings.Join(strings.Fields(a.Text), " ")
		target := Anchor{URL: a.URL, Language: terms.Class(a.Language)}
		anchor := target
		anchor.Text = strings.ToLower(text)
		if text == "" || len(text) > maxAnchor || seen[anchor] {
			continue
		}
		i, known := at[target]
		switch {
		case !known && len(list) == maxTargets:
			continue
		case !known:
			at[target] = len(list)
			list = append(list, Target{a.URL, target.Language, text})
		case len(list[i].Text)+1+len(text) > maxAnchor:
			continue
		default:
			list[i].Text += "\n" + text
		}
		seen[anchor] = true
	}
	return list
}

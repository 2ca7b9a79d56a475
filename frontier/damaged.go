package frontier

import (
	"slices"
	"strings"
)

const (
	// maxDamaged is how many objects of the archive that could not be read a run remembers.
	maxDamaged = 20
	// maxDamagedText is how long what is said of one may be, in bytes.
	maxDamagedText = 600
)

// NoteDamaged remembers, for operators, which object of the archive could not be read and was passed over in this run, and what is lost by that. The crawl
// need not have begun here.
func (h Crawl) NoteDamaged(text string) error {
	text = strings.ToValidUTF8(text[:min(len(text), maxDamagedText)], "")
	return h.change(func(rec *crawlRecord) { rec.Damaged = AddDamaged(rec.Damaged, []string{text}) })
}

// AddDamaged joins what two workers, or two notes, say of damaged objects: each once, and maxDamaged at most.
func AddDamaged(a, b []string) []string {
	a = slices.Clip(a)
	for _, text := range b {
		if len(a) < maxDamaged && !slices.Contains(a, text) {
			a = append(a, text)
		}
	}
	return a
}

package frontier

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

const (
	// maxDamaged is how many objects of the archive that could not be read a run names. Of others it knows their number.
	maxDamaged = 20
	// maxDamagedText is how long what is said of one may be, in bytes.
	maxDamagedText = 600
	// maxDamagedSums is how many of those that are not named a frontier knows when they come again, by their hashes. Beyond that an attempt that is repeated counts again.
	maxDamagedSums = 1000
)

// Damage is what a run says of objects of the archive that could not be read and were passed over, and of what is lost by that.
type Damage struct {
	Damaged     []string `json:"damaged,omitempty" cbor:"27,keyasint,omitempty"`      // at most maxDamaged
	DamagedMore int      `json:"damaged_more,omitempty" cbor:"30,keyasint,omitempty"` // so many are not named
}

// NoteDamaged remembers, for operators, which object of the archive could not be read and was passed over in this run, and what is lost by that. The crawl
// need not have begun here.
func (h Crawl) NoteDamaged(text string) error {
	text = strings.ToValidUTF8(text[:min(len(text), maxDamagedText)], "")
	return h.change(func(rec *crawlRecord) {
		sum := xxhash.Sum64String(text)
		if slices.Contains(rec.DamagedSums, sum) {
			return
		}
		before := rec.DamagedMore
		rec.Damage = rec.Damage.Add(Damage{Damaged: []string{text}})
		if rec.DamagedMore > before && len(rec.DamagedSums) < maxDamagedSums {
			rec.DamagedSums = append(slices.Clip(rec.DamagedSums), sum)
		}
	})
}

// Add joins what two workers, or two notes, say of damaged objects: each once that both name.
func (d Damage) Add(o Damage) Damage {
	out := Damage{slices.Clip(d.Damaged), d.DamagedMore + o.DamagedMore}
	for _, text := range o.Damaged {
		switch {
		case slices.Contains(out.Damaged, text):
		case len(out.Damaged) < maxDamaged:
			out.Damaged = append(out.Damaged, text)
		default:
			out.DamagedMore++
		}
	}
	return out
}

// Join joins what is said at two times by the same workers.
func (d Damage) Join(o Damage) Damage {
	most := max(len(d.Damaged)+d.DamagedMore, len(o.Damaged)+o.DamagedMore)
	out := Damage{d.Damaged, 0}.Add(Damage{o.Damaged, 0})
	out.DamagedMore = max(most-len(out.Damaged), 0)
	return out
}

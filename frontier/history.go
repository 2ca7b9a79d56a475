package frontier

import (
	"slices"
	"time"
)

// Point is where a run stood at a time.
type Point struct {
	At       time.Time `json:"at" cbor:"1,keyasint"`
	Pages    int64     `json:"pages" cbor:"2,keyasint"`
	Scored   int64     `json:"scored" cbor:"3,keyasint"`
	Relevant int64     `json:"relevant" cbor:"4,keyasint"`
	Bytes    int64     `json:"bytes" cbor:"5,keyasint"`
	Errors   int64     `json:"errors" cbor:"6,keyasint"`
}

// maxPoints bounds the points of a run. When there are so many, every other one goes, and the next come half as often.
const maxPoints = 240

// addPoint adds a point to the history of a run if it is time for one, and makes it durable.
func (e *edit) addPoint() error {
	rec := e.rec
	step := max(rec.HistoryStep, 1)
	if n := len(rec.History); n > 0 && rec.Totals.Pages < rec.History[n-1].Pages+step {
		return nil
	}
	t := rec.Totals
	rec.History = append(slices.Clip(rec.History), Point{e.f.opts.Now().UTC().Truncate(time.Millisecond), t.Pages, t.Scored, t.Relevant, t.Bytes, t.Errors})
	if len(rec.History) >= maxPoints {
		var kept []Point
		for i := 1; i < len(rec.History); i += 2 {
			kept = append(kept, rec.History[i])
		}
		rec.History, rec.HistoryStep = kept, 2*step
	}
	return e.Save(e.s.keys.History(), rec.History)
}

// Lately is the harvest ratio of the last part of a run: of the last tenth of its scored pages, as far as there are points.
func Lately(history []Point) float64 {
	n := len(history)
	if n == 0 {
		return 0
	}
	last := history[n-1]
	from := Point{}
	for _, p := range history[:n-1] {
		if p.Scored <= last.Scored*9/10 {
			from = p
		}
	}
	if last.Scored == from.Scored {
		return 0
	}
	return float64(last.Relevant-from.Relevant) / float64(last.Scored-from.Scored)
}

// Harvests are the harvest ratios of equal parts of a run, by scored pages, as near as there are points: images and style
// sheets are pages too, and say nothing. A part in which there is no point has the ratio of the part before. nil if there are
// fewer points than parts, or nothing was scored.
func Harvests(history []Point, parts int) []float64 {
	if len(history) < parts || history[len(history)-1].Scored == 0 {
		return nil
	}
	out := make([]float64, parts)
	from, at, all := Point{}, 0, history[len(history)-1].Scored
	for i := range out {
		for history[at].Scored == 0 || history[at].Scored < all*int64(i+1)/int64(parts) {
			at++
		}
		if to := history[at]; to.Scored > from.Scored {
			out[i] = float64(to.Relevant-from.Relevant) / float64(to.Scored-from.Scored)
			from = to
		} else {
			out[i] = out[i-1]
		}
	}
	return out
}

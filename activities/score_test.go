package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/pipeline"
)

// TestScored: what the SCORE step says of a batch. Pages that nothing was said of count nowhere.
func TestScored(t *testing.T) {
	for name, c := range map[string]struct {
		scores    []float64
		threshold float64
		want      ScoreResult
	}{
		"no page":               {want: ScoreResult{}},
		"nothing was said":      {scores: []float64{-1, -1}, want: ScoreResult{}},
		"above and below":       {scores: []float64{0.75, 0.25}, threshold: 0.5, want: ScoreResult{Pages: 2, Relevant: 1, Mean: 0.5}},
		"the threshold itself":  {scores: []float64{0.5}, threshold: 0.5, want: ScoreResult{Pages: 1, Relevant: 1, Mean: 0.5}},
		"silent ones are left":  {scores: []float64{-1, 1, -1}, threshold: 0.5, want: ScoreResult{Pages: 1, Relevant: 1, Mean: 1}},
		"none is relevant":      {scores: []float64{0, 0.25}, threshold: 0.5, want: ScoreResult{Pages: 2, Mean: 0.125}},
		"without any threshold": {scores: []float64{0}, want: ScoreResult{Pages: 1, Relevant: 1}},
	} {
		var batch pipeline.JudgedBatch
		for _, score := range c.scores {
			var p pipeline.Judged
			p.Verdict.Score = score
			batch.Pages = append(batch.Pages, p)
		}
		if got := scored(&batch, c.threshold); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

package text

import "math"

// IDF holds the inverse document frequencies of terms: ln(1 + N/df). It is never changed, so it is safe for concurrent use.
type IDF struct {
	weight []float32
	unseen float32
}

// NewIDF makes the weights of the terms of a lexicon: pages is the number of pages, having[id] how many of them have a term.
func NewIDF(pages float64, having []float32) *IDF {
	w := &IDF{weight: make([]float32, len(having)), unseen: float32(math.Log(1 + pages))}
	for id, n := range having {
		w.weight[id] = float32(math.Log(1 + pages/math.Max(float64(n), 1)))
	}
	return w
}

// Of is the weight of a term. It is 1 for all terms if w is nil.
func (w *IDF) Of(id uint32) float64 {
	switch {
	case w == nil:
		return 1
	case int(id) < len(w.weight):
		return float64(w.weight[id])
	}
	return float64(w.unseen)
}

// Sublinear damps the frequency of a term: 1 + ln n, and n itself below 1.
func Sublinear(n float64) float64 {
	if n < 1 {
		return n
	}
	if n < float64(len(logs)) && n == math.Trunc(n) {
		return logs[int(n)]
	}
	return 1 + math.Log(n)
}

var logs = func() (table [64]float64) {
	for i := range table {
		table[i] = 1 + math.Log(math.Max(float64(i), 1))
	}
	return table
}()

package proposal

import (
	"math"
)

// The limits of topics.
const (
	maxSample = 20_000 // candidates that topics are made of: of more, every second, third, … one
	sweeps    = 4      // of the iteration
)

// topics are directions in which candidates differ most: the first right singular vectors of the matrix of their vectors (latent
// semantic analysis, Deerwester et al. 1990), by subspace iteration (Halko, Martinsson, Tropp 2011, algorithm 4.4). Pages that have no
// word in common are near each other in them, if others join the words. The result is a row of k numbers for each feature; it is always
// the same, because it begins with fixed numbers.
func (p *Pool) topics(k int) [][]float32 {
	stride := 1 + (p.Len()-1)/maxSample
	var sample [][]term
	for i := 0; i < p.Len(); i += stride {
		sample = append(sample, p.vectors[i])
	}
	k = min(k, len(sample), p.features-1)
	if k < 1 {
		return nil
	}
	basis := matrix(p.features, k)
	random := uint64(1)
	for _, row := range basis {
		for j := range row {
			random = random*6364136223846793005 + 1442695040888963407
			row[j] = float32(int64(random>>33)-1<<30) / (1 << 30)
		}
	}
	left := matrix(len(sample), k)
	for range sweeps {
		for i, v := range sample { // left = A · basis
			project(v, basis, left[i])
		}
		orthonormal(left)
		for _, row := range basis {
			clear(row)
		}
		for i, v := range sample { // basis = Aᵀ · left
			for _, t := range v {
				row := basis[t.id]
				for j, x := range left[i] {
					row[j] += t.weight * x
				}
			}
		}
	}
	orthonormal(basis)
	return basis
}

func matrix(rows, columns int) [][]float32 {
	all := make([]float32, rows*columns)
	out := make([][]float32, rows)
	for i := range out {
		out[i], all = all[:columns:columns], all[columns:]
	}
	return out
}

// project writes where a vector lies among the topics.
func project(v []term, basis [][]float32, out []float32) {
	clear(out)
	for _, t := range v {
		for j, x := range basis[t.id] {
			out[j] += t.weight * x
		}
	}
}

// orthonormal makes the columns of a matrix orthogonal to each other and of length 1 (modified Gram-Schmidt); one that depends on the
// others becomes 0.
func orthonormal(m [][]float32) {
	if len(m) == 0 {
		return
	}
	k := len(m[0])
	dots := make([]float64, k)
	for j := range k {
		norm := 0.0
		for _, row := range m {
			norm += float64(row[j]) * float64(row[j])
		}
		scale := float32(0)
		if norm > 1e-20 {
			scale = float32(1 / math.Sqrt(norm))
		}
		clear(dots)
		for _, row := range m {
			x := row[j] * scale
			row[j] = x
			if x != 0 {
				for l := j + 1; l < k; l++ {
					dots[l] += float64(x) * float64(row[l])
				}
			}
		}
		for _, row := range m {
			if x := row[j]; x != 0 {
				for l := j + 1; l < k; l++ {
					row[l] -= x * float32(dots[l])
				}
			}
		}
	}
}

// addTopics appends to the vector of each candidate where it lies among the topics, with a length of weight beside its own of 1.
func (p *Pool) addTopics(k int, weight float64) {
	basis := p.topics(k)
	if basis == nil || weight == 0 {
		return
	}
	k = len(basis[0])
	at := make([]float32, k)
	first := int32(p.features)
	p.features += k
	for i, v := range p.vectors {
		project(v, basis, at)
		norm := 0.0
		for _, x := range at {
			norm += float64(x) * float64(x)
		}
		if norm == 0 {
			continue
		}
		scale := float32(weight / math.Sqrt(norm))
		for j, x := range at {
			v = append(v, term{first + int32(j), x * scale})
		}
		p.vectors[i] = v
	}
}

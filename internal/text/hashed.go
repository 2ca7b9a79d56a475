package text

import (
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// HashedVector is a sparse vector of term weights, sorted by term. Terms are known by hashes of 32 bits: two terms of a page
// have the same hash on one page in a thousand.
type HashedVector []HashedTerm

// HashedTerm is a term and its weight.
type HashedTerm struct {
	ID     uint32 // its Hash
	Weight float32
}

// Hash is the 32-bit FNV-1a hash of a term. Frontiers and archives hold such hashes: it must never change.
func Hash(term string) uint32 { return fnv.Sum32(term) }

// NewHashedVector makes a vector of terms and their frequencies.
func NewHashedVector(v Vector) HashedVector {
	t := make(HashedVector, 0, len(v))
	for term, w := range v {
		t = append(t, HashedTerm{Hash(term), float32(w)})
	}
	return t.Sorted()
}

// Sorted sorts terms in place, and adds up the weights of equal ones.
func (t HashedVector) Sorted() HashedVector {
	var room [64]uint64
	packed := append(room[:0], make([]uint64, len(t))...)
	t.sortInto(packed)
	for i, x := range packed {
		t[i] = HashedTerm{uint32(x >> 32), math.Float32frombits(uint32(x))}
	}
	out := t[:0]
	for _, x := range t {
		if n := len(out); n > 0 && out[n-1].ID == x.ID {
			out[n-1].Weight += x.Weight
			continue
		}
		out = append(out, x)
	}
	return out
}

// sortInto writes the terms as numbers, in the order of their hashes and then of their weights. As numbers they are sorted in a
// fraction of the time that a comparing function takes.
func (t HashedVector) sortInto(packed []uint64) {
	if len(t) >= manyTerms && t.spreadInto(packed) {
		return
	}
	for i, x := range t {
		packed[i] = x.packed()
	}
	slices.Sort(packed)
}

func (x HashedTerm) packed() uint64 { return uint64(x.ID)<<32 | uint64(math.Float32bits(x.Weight)) }

// manyTerms is from how many terms on it is quicker to divide them before they are sorted.
const manyTerms = 40

// spreadInto is sortInto for many terms. Hashes are spread evenly: divided by their first byte, each term stands near its place, and
// is moved there. False if they are not spread: then each would be moved far.
func (t HashedVector) spreadInto(packed []uint64) bool {
	var next [256]int // where the next term with a first byte goes
	most := 0
	for _, x := range t {
		next[x.ID>>24]++
		most = max(most, next[x.ID>>24])
	}
	if most > 16+len(t)/64 {
		return false
	}
	at := 0
	for i, n := range next {
		next[i], at = at, at+n
	}
	for _, x := range t {
		packed[next[x.ID>>24]] = x.packed()
		next[x.ID>>24]++
	}
	for i := 1; i < len(packed); i++ {
		x, j := packed[i], i
		for ; j > 0 && packed[j-1] > x; j-- {
			packed[j] = packed[j-1]
		}
		packed[j] = x
	}
	return true
}

// Add is the sum of two vectors, the second times a factor.
func (t HashedVector) Add(o HashedVector, factor float32) HashedVector {
	out := make(HashedVector, 0, len(t)+len(o))
	i, j := 0, 0
	for i < len(t) || j < len(o) {
		switch {
		case j == len(o) || i < len(t) && t[i].ID < o[j].ID:
			out = append(out, t[i])
			i++
		case i == len(t) || o[j].ID < t[i].ID:
			out = append(out, HashedTerm{o[j].ID, o[j].Weight * factor})
			j++
		default:
			out = append(out, HashedTerm{t[i].ID, t[i].Weight + o[j].Weight*factor})
			i, j = i+1, j+1
		}
	}
	return out
}

// Norm is the Euclidean length.
func (t HashedVector) Norm() float64 {
	sum := 0.0
	for _, x := range t {
		sum += float64(x.Weight) * float64(x.Weight)
	}
	return math.Sqrt(sum)
}

// Dot is the inner product.
func (t HashedVector) Dot(o HashedVector) (sum float64) {
	for i, j := 0, 0; i < len(t) && j < len(o); {
		switch {
		case t[i].ID < o[j].ID:
			i++
		case o[j].ID < t[i].ID:
			j++
		default:
			sum += float64(t[i].Weight) * float64(o[j].Weight)
			i, j = i+1, j+1
		}
	}
	return sum
}

// Cosine is the similarity of two vectors (Batsakis et al. 2009, Eq. 1): in [0,1] if no weight is negative, 0 if a vector is
// empty.
func Cosine(a, b HashedVector) float64 {
	n := a.Norm() * b.Norm()
	if n == 0 {
		return 0
	}
	return min(a.Dot(b)/n, 1)
}

// NewHashedSet makes a vector of features, at length 1.
func NewHashedSet(features []uint32) HashedVector {
	return NewHashedSetIn(make(HashedVector, 0, len(features)), features)
}

// NewHashedSetIn is NewHashedSet in the memory of a vector that is not needed any more.
func NewHashedSetIn(room HashedVector, features []uint32) HashedVector {
	t := room[:0]
	for _, id := range features {
		t = append(t, HashedTerm{id, 1})
	}
	return t.Sorted().Unit()
}

// Damped is the vector with ln(1 + weight) for each weight, at length 1.
func (t HashedVector) Damped() HashedVector { return t.DampedIn(nil) }

// DampedIn is Damped in the memory of a vector that is not needed any more.
func (t HashedVector) DampedIn(room HashedVector) HashedVector {
	out := append(room[:0], t...)
	for i := range out {
		out[i].Weight = float32(math.Log1p(float64(out[i].Weight)))
	}
	return out.Unit()
}

// Unit brings a vector to length 1, in place.
func (t HashedVector) Unit() HashedVector {
	if n := float32(t.Norm()); n > 0 {
		for i := range t {
			t[i].Weight /= n
		}
	}
	return t
}

// Heaviest is a vector of the n heaviest terms, at length 1, and t itself if it has no more. Of terms with the same weight, it has
// the first.
func (t HashedVector) Heaviest(n int) HashedVector {
	if len(t) <= n {
		return t
	}
	if n <= 0 {
		return nil
	}
	weights := make([]float32, len(t))
	for i, x := range t {
		weights[i] = x.Weight
	}
	least := nth(weights, len(t)-n)
	same := n // how many terms with the weight least there is room for
	for _, x := range t {
		if x.Weight > least {
			same--
		}
	}
	out := make(HashedVector, 0, n)
	for _, x := range t {
		if x.Weight == least {
			if same--; same < 0 {
				continue
			}
		}
		if x.Weight >= least {
			out = append(out, x)
		}
	}
	return out.Unit()
}

// nth is the number that would stand at an index if the list were sorted. It alters the order (Hoare's selection): to sort all takes
// several times as long. Equal numbers are passed over together, so that the few frequencies that terms have bound the time.
func nth(list []float32, at int) float32 {
	for {
		a, b, c := list[0], list[len(list)/2], list[len(list)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		below, above := 0, len(list) // list[:below] is less, list[above:] greater
		for i := 0; i < above; {
			switch x := list[i]; {
			case x < pivot:
				list[i], list[below] = list[below], x
				below++
				i++
			case x > pivot:
				above--
				list[i], list[above] = list[above], x
			default:
				i++
			}
		}
		switch {
		case at < below:
			list = list[:below]
		case at >= above:
			list, at = list[above:], at-above
		default:
			return pivot
		}
	}
}

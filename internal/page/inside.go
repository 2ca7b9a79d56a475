package page

// inside is the set of places in tags where the reader may be. Beside them it may always be outside of all tags: which
// "<" begins a tag depends on what is before it. So an attribute of the tree is one of some place of the set.
type inside uint8

const (
	inName inside = 1 << iota
	beforeKey
	inKey
	afterKey
	beforeValue
	unquoted
	quoted  // "
	aquoted // '
)

// step goes one byte on, and reports whether an attribute begins with it.
func (in inside) step(c byte) (next inside, attribute bool) {
	k := kinds[c]
	return steps[k][in], in&begins[k] != 0
}

// The kinds of byte that a tag is made of, and the places at which an attribute begins with one.
const (
	letter = iota // or anything else
	blank
	slash
	equals
	double
	single
	ends
)

// endsName reports which bytes end the name of a tag.
var endsName = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '\f': true, '/': true, '>': true}

var (
	kinds = [256]uint8{
		' ': blank, '\n': blank, '\t': blank, '\r': blank, '\f': blank,
		'/': slash, '=': equals, '"': double, '\'': single, '>': ends,
	}
	begins = [...]inside{letter: beforeKey | afterKey, equals: beforeKey, double: beforeKey | afterKey, single: beforeKey | afterKey, ends: 0}
	steps  = allSteps()
)

func allSteps() (all [ends + 1][256]inside) {
	for k := range all {
		for in := range all[k] {
			all[k][in] = inside(in).after(k)
		}
	}
	return all
}

// after reports where a byte of a kind leads to (HTML §13.2.5.8 and §13.2.5.32-40).
func (in inside) after(kind int) inside {
	next := in & (quoted | aquoted)
	switch kind {
	case ends:
		return next
	case blank:
		next |= in & (beforeKey | afterKey | beforeValue)
		return next | in.to(inName|unquoted, beforeKey) | in.to(inKey, afterKey)
	case slash:
		return next | in.to(inName|beforeKey|inKey|afterKey, beforeKey) | in.to(beforeValue|unquoted, unquoted)
	case equals:
		return next | in&inName | in.to(beforeKey, inKey) | in.to(inKey|afterKey, beforeValue) | in.to(beforeValue|unquoted, unquoted)
	case double:
		next = in&aquoted | in.to(quoted, beforeKey) | in.to(beforeValue, quoted)
	case single:
		next = in&quoted | in.to(aquoted, beforeKey) | in.to(beforeValue, aquoted)
	case letter:
		next |= in.to(beforeValue, unquoted)
	}
	return next | in&(inName|unquoted) | in.to(beforeKey|inKey|afterKey, inKey)
}

// to is the place to which the reader goes from some others, if it may be at one of them.
func (in inside) to(from, place inside) inside {
	if in&from != 0 {
		return place
	}
	return 0
}

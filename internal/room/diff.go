package room

import "strings"

// Bounds of a comparison.
const (
	// maxLines bounds the lines of a text that are compared; further ones are left out.
	maxLines = 5_000
	// maxCells bounds the product of the lines of two texts that differ, between what both begin and end with: beyond it lines are only
	// looked for in the other text, wherever they stand. All web objects of two captures share one such bound.
	maxCells = 4_000_000
)

// Change is what became of a line.
type Change string

// What becomes of lines.
const (
	Kept    Change = "kept"
	Added   Change = "added"
	Removed Change = "removed"
)

// Line is a line of a comparison.
type Line struct {
	Change Change `json:"change"`
	Text   string `json:"text"`
}

// diff compares two texts line by line: the lines of both in their order, those that were removed before those that were added. cut says that
// lines were left out.
func diff(before, after string) (list []Line, cut bool) {
	cells := maxCells
	return diffWithin(&cells, before, after)
}

// diffWithin takes what it needs of a number of cells.
func diffWithin(cells *int, before, after string) (list []Line, cut bool) {
	a, b := lines(before), lines(after)
	if len(a) > maxLines || len(b) > maxLines {
		a, b, cut = a[:min(len(a), maxLines)], b[:min(len(b), maxLines)], true
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	put := func(c Change, texts ...string) {
		for _, t := range texts {
			list = append(list, Line{c, t})
		}
	}
	put(Kept, a[:head]...)
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if need := len(x) * len(y); need <= *cells {
		*cells -= need
		longest(x, y, put)
	} else {
		apart(x, y, put)
	}
	put(Kept, a[len(a)-tail:]...)
	return list, cut
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// longest keeps a longest common subsequence.
func longest(x, y []string, put func(Change, ...string)) {
	width := len(y) + 1
	length := make([]uint16, (len(x)+1)*width) // of the rest of both; maxLines is less than 2^16
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			put(Kept, x[i])
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && length[(i+1)*width+j] >= length[i*width+j+1]:
			put(Removed, x[i])
			i++
		default:
			put(Added, y[j])
			j++
		}
	}
}

// apart looks for each line in the other text. Lines of both are listed where the second text has them.
func apart(x, y []string, put func(Change, ...string)) {
	in := func(list []string) map[string]int {
		m := map[string]int{}
		for _, s := range list {
			m[s]++
		}
		return m
	}
	left := in(y)
	for _, s := range x {
		if left[s]--; left[s] < 0 {
			put(Removed, s)
		}
	}
	left = in(x)
	for _, s := range y {
		if left[s]--; left[s] < 0 {
			put(Added, s)
		} else {
			put(Kept, s)
		}
	}
}

// nearby leaves of the kept lines those that are near a change: around is how many on each side. Left-out lines are one line without a
// text.
func nearby(list []Line, around int) (out []Line) {
	near := make([]bool, len(list))
	for i, l := range list {
		if l.Change == Kept {
			continue
		}
		for j := max(0, i-around); j <= min(len(list)-1, i+around); j++ {
			near[j] = true
		}
	}
	for i, l := range list {
		if near[i] {
			out = append(out, l)
		} else if len(out) == 0 || out[len(out)-1].Change != skipped {
			out = append(out, Line{Change: skipped})
		}
	}
	return out
}

// skipped marks lines that are not shown.
const skipped Change = "skipped"

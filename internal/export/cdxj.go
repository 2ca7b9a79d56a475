package export

import (
	"fmt"
	"slices"
)

// cdxj is the index of a part, sorted; its records begin at an offset of the file.
func (p *Part) cdxj(first int64) ([]string, error) {
	var lines []string
	at := first
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.Capture != nil {
			offset, ok := g.Runs.moved(g.Capture.Offset, at)
			if !ok {
				return nil, fmt.Errorf("index of part %d: the record of %s is not in its group", p.Number, g.Capture.URL)
			}
			moved := *g.Capture
			moved.Offset = offset
			line, err := moved.Line(g.Key, p.Key(suffixWARC))
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
		at += g.Runs.length()
	}
	slices.Sort(lines)
	return lines, nil
}

// moved is where a record lies in a file that the runs were copied into, from an offset on.
func (r runs) moved(offset, to int64) (int64, bool) {
	for _, one := range r {
		at := one[0]
		for _, n := range one[1:] {
			if at == offset {
				return to, true
			}
			at, to = at+n, to+n
		}
	}
	return 0, false
}

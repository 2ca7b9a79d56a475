package derive

import "github.com/muninn-archive/muninn/internal/archive"

// objects gives the captures of a segment their web objects. Both stand in the order of the records, so that those of one capture are held at a time.
type objects struct {
	next  func() (*archive.WebObject, error, bool)
	stray func(archive.WebObject) error
	lines map[captureID]int  // the first line of the index with a URL and a date
	count int                // of lines
	held  *archive.WebObject // read, and of a later capture
}

// captureID names a capture of a segment; the index has no fractions of seconds.
type captureID struct {
	url  string
	date int64 // Unix seconds
}

func newObjects(index []archive.Indexed, stray func(archive.WebObject) error) objects {
	o := objects{stray: stray, lines: make(map[captureID]int, len(index)), count: len(index)}
	for i := range index {
		id := captureID{index[i].URL, index[i].Date.Unix()}
		if _, twice := o.lines[id]; !twice {
			o.lines[id] = i
		}
	}
	return o
}

// of returns the objects of a line of the index; lines are asked for in their order, and after the last one their number. Objects of no line, or of one that is past, are
// strays.
func (o *objects) of(line int) (list []archive.WebObject, err error) {
	for {
		if o.held == nil {
			var more bool
			if o.held, err, more = o.next(); err != nil || !more {
				o.held = nil
				return list, err
			}
		}
		at, known := o.lines[captureID{o.held.URL, o.held.Date.Unix()}]
		switch {
		case known && at > line:
			return list, nil
		case known && at == line:
			list = append(list, *o.held)
		case o.stray != nil:
			if err := o.stray(*o.held); err != nil {
				return list, err
			}
		}
		o.held = nil
	}
}

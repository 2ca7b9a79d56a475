package derive

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Step derives something of each capture of a segment. Its name is that of a folder of the archive: a lower-case letter, then such letters, digits and underscores. What
// another version of a step derives lies beside what the earlier one has derived: raise it when the same capture gives another line.
type Step struct {
	Name    string
	Version int // from 1
	// Of is what the step says of a capture, a value for encoding/json; nil: nothing. It depends on the capture alone. An error says that the capture cannot be
	// understood: it has no line then, and is counted. Only the end of ctx ends the derivation.
	Of func(ctx context.Context, c *Capture) (any, error)
}

// String is the name and the version of the step, as they stand in keys.
func (s Step) String() string { return fmt.Sprintf("%s-%d", s.Name, s.Version) }

// Steps are the steps that there are, in the order in which they are run. To add one, write a file with its function, and a line here.
func Steps() []Step {
	return []Step{
		Text,
	}
}

// Named are the steps with the given names; without names, all. The error says which name is of no step.
func Named(names ...string) ([]Step, error) {
	all := Steps()
	if len(names) == 0 {
		return all, nil
	}
	var list []Step
	for _, name := range names {
		at := slices.IndexFunc(all, func(s Step) bool { return s.Name == name })
		if at < 0 {
			known := make([]string, len(all))
			for i, s := range all {
				known[i] = s.Name
			}
			return nil, fmt.Errorf("there is no step %q, only %s", name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(list, func(s Step) bool { return s.Name == name }) {
			list = append(list, all[at])
		}
	}
	return list, nil
}

package archive

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Selections makes the keys of what people have selected in an archive. A selection may speak of several crawls, so it stands beside
// them; no crawl has a name that begins with '_':
//
//	_selections/NAME/N.json    the entry of the selection with the number N, from 1, in twelve digits: keys are in the order of numbers
type Selections struct{}

const folderSelections = "_selections"

// All is the prefix of the keys of all selections.
func (Selections) All() string { return folderSelections + "/" }

// Of is the prefix of the entries of a selection.
func (Selections) Of(name string) string { return folderSelections + "/" + name + "/" }

// Entry is the key of an entry of a selection.
func (s Selections) Entry(name string, number uint64) string {
	return fmt.Sprintf("%s%012d.json", s.Of(name), number)
}

// selectionEntry is the form of Entry.
var selectionEntry = regexp.MustCompile(`^` + folderSelections + `/([^/]+)/(\d{12})\.json$`)

// Entered takes the key of an entry apart; false of any other key.
func (Selections) Entered(key string) (name string, number uint64, ok bool) {
	parts := selectionEntry.FindStringSubmatch(key)
	if parts == nil {
		return "", 0, false
	}
	number, err := strconv.ParseUint(strings.TrimLeft(parts[2], "0"), 10, 64)
	return parts[1], number, err == nil && number > 0
}

package aah

import (
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/kb"
)

// manyTypes are the types of which a page holds several, each with a text of its own.
var manyTypes = map[string]bool{"post": true, "comment": true, "question": true, "answer": true, "review": true}

// holdsMany reports whether a level is for such a type: the whole page is none of its objects, and no article either.
func holdsMany(level *kb.Level) bool {
	if level == nil {
		return false
	}
	for i := range level.Objects {
		if o := &level.Objects[i]; o.Has("body") {
			return manyTypes[o.Type]
		}
	}
	return false
}

// keepMany takes the objects of other types from a set.
func keepMany(set *extract.Set) {
	var kept extract.Set
	for i, l := range set.Located {
		if manyTypes[l.Type] {
			kept.Objects, kept.Located = append(kept.Objects, set.Objects[i]), append(kept.Located, l)
		}
	}
	*set = kept
}

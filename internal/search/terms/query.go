package terms

// Slot is a position of a phrase: the terms of which a text must have one there.
type Slot []string

// Phrase returns what a word or phrase of a query becomes: a slot for each word, with its term in each of the classes. A text has the
// phrase if it has a term of each slot, one position after the other. In scripts without blanks a slot has the pair of characters, and the
// last character by itself. There is no slot if the phrase has no word.
func (a *Analyser) Phrase(s string, classes []string) (slots []Slot) {
	for w := range words(s) {
		var slot Slot
		if w.unspaced {
			slot = Slot{characters(s[w.start:w.end])}
		} else {
			for _, class := range classes {
				if t := of(s[w.start:w.end], class); t != "" && !has(slot, t) {
					slot = append(slot, t)
				}
			}
		}
		if len(slot) > 0 {
			slots = append(slots, slot)
		}
	}
	return slots
}

// Names returns the words of a name, such as that of an author: in lower case without accents, in their order.
func (a *Analyser) Names(s string) (list []string) {
	end := -1
	a.Each(s, "", 0, func(t Term) {
		if t.Position == end { // the pair instead of its first character
			list[len(list)-1] = t.Text
			return
		}
		end, list = t.Position, append(list, t.Text)
	})
	return list
}

func has(list []string, s string) bool {
	for _, t := range list {
		if t == s {
			return true
		}
	}
	return false
}

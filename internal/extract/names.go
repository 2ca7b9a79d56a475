package extract

import "golang.org/x/net/html/atom"

// nameOf says what an element with a name is for.
type nameOf struct {
	name  string
	role  Segment
	whole bool // the word is the name and nothing else; otherwise it begins with it
}

// names are the words in classes and IDs that say what an element is for, by their first letter.
var names = byLetter([]nameOf{
	{"nav", Navigation, true}, {"navbar", Navigation, false}, {"navigation", Navigation, false}, {"menu", Navigation, false},
	{"breadcrumb", Navigation, false}, {"pagination", Navigation, false}, {"pager", Navigation, true},
	{"footer", Boilerplate, false}, {"sidebar", Boilerplate, false}, {"cookie", Boilerplate, false}, {"banner", Boilerplate, false},
	{"related", Boilerplate, false}, {"share", Boilerplate, true}, {"sharing", Boilerplate, true}, {"sharedaddy", Boilerplate, false},
	{"social", Boilerplate, false}, {"newsletter", Boilerplate, false}, {"promo", Boilerplate, true}, {"advert", Boilerplate, false},
	{"comments", Comments, false}, {"comment", Comments, true}, {"commentlist", Comments, false}, {"commentform", Comments, false},
	{"disqus", Comments, false}, {"respond", Comments, true},
})

func byLetter(list []nameOf) (table [26][]nameOf) {
	for _, n := range list {
		at := n.name[0] - 'a'
		table[at] = append(table[at], n)
	}
	return table
}

// denying are words that say of a class that there is none of what it names, or that it is of what stands beside it:
// "has-sidebar", "content-w-sidebar", "pagination-hidden".
var denying = map[string]bool{"has": true, "with": true, "w": true, "wo": true, "without": true, "no": true, "not": true, "hide": true, "hidden": true}

// wrapping are words that end the class of what holds the whole page: "sidebar-layout_main", "sticky-footer_body".
var wrapping = map[string]bool{"main": true, "body": true, "page": true, "layout": true}

const (
	maxNames = 256 // how much of a list of classes is looked at, in bytes
	maxWord  = 32  // of a word of it
)

// roleOfNames reads what a list of classes, or an ID, says that an element is for: Main if it says nothing. Words end at "-", "_" and
// before capitals.
func roleOfNames(list string) Segment {
	list = list[:min(len(list), maxNames)]
	for at := 0; at < len(list); {
		end := at
		for end < len(list) && list[end] > ' ' {
			end++
		}
		if role := roleOfName(list[at:end]); role != Main {
			return role
		}
		at = end + 1
	}
	return Main
}

// roleOfName reads one class.
func roleOfName(class string) Segment {
	role, denied, wraps := Main, false, false
	var word [maxWord]byte
	for at := 0; at < len(class); {
		n := 0
		for begin := at; at < len(class); at++ {
			c := class[at]
			if c == '-' || c == '_' {
				break
			}
			if c >= 'A' && c <= 'Z' {
				if at > begin && class[at-1] >= 'a' && class[at-1] <= 'z' {
					break
				}
				c += 'a' - 'A'
			}
			if n < maxWord {
				word[n] = c
				n++
			}
		}
		if at < len(class) && (class[at] == '-' || class[at] == '_') {
			at++
		}
		if n == 0 {
			continue
		}
		if role == Main {
			role = roleOfWord(word[:n])
		}
		denied = denied || n <= len("without") && denying[string(word[:n])]
		wraps = n <= len("layout") && wrapping[string(word[:n])]
	}
	if denied || wraps && role != Comments { // the body of a comment is one
		return Main
	}
	return role
}

func roleOfWord(word []byte) Segment {
	if word[0] < 'a' || word[0] > 'z' {
		return Main
	}
	for i := range names[word[0]-'a'] {
		n := &names[word[0]-'a'][i]
		if len(word) == len(n.name) && string(word) == n.name || !n.whole && len(word) > len(n.name) && string(word[:len(n.name)]) == n.name {
			return n.role
		}
	}
	return Main
}

// roleOfTag reports what an element is for by its name; ok is false if that says nothing.
func roleOfTag(a atom.Atom) (role Segment, ok bool) {
	switch a {
	case atom.Nav, atom.Button, atom.Select, atom.Label:
		return Navigation, true
	case atom.Footer, atom.Aside, atom.Head:
		return Boilerplate, true
	case atom.Main:
		return Main, true
	}
	return Main, false
}

// roleOfARIA reports what an element is for by its role attribute (WAI-ARIA 1.2 §5.3.4); ok is false if that says nothing.
func roleOfARIA(value string) (role Segment, ok bool) {
	switch value {
	case "navigation", "menu", "menubar":
		return Navigation, true
	case "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog":
		return Boilerplate, true
	case "main":
		return Main, true
	}
	return Main, false
}

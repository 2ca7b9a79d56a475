package score

import (
	"fmt"
	"strings"
	"sync"

	"github.com/jdkato/prose/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// maxNamed bounds the text of a page that names are recognised in, in bytes: it takes some 15 ms a kilobyte.
const maxNamed = 4096

// recogniser finds names of persons, places and organisations in English texts. Its model is read once, when it is asked for.
var recogniser = sync.OnceValues(func() (*prose.Model, error) {
	d, err := prose.NewDocument("")
	if err != nil {
		return nil, err
	}
	return d.Model, nil
})

// named are the names in a text, folded, each once. What the recogniser cannot bear, and there are words of which it panics, is
// an error.
func named(text string) (found map[string]bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, fmt.Errorf("recognise names: %v", r)
		}
	}()
	model, err := recogniser()
	if err != nil {
		return nil, err
	}
	// A name that nothing comes after is not found.
	d, err := prose.NewDocument(text+".", prose.UsingModel(model), prose.WithSegmentation(false))
	if err != nil {
		return nil, err
	}
	found = map[string]bool{}
	for _, e := range d.Entities() {
		found[foldedName(e.Text)] = true
	}
	return found, nil
}

func foldedName(name string) string {
	return text.Fold(strings.ToLower(strings.Join(strings.Fields(name), " ")))
}

// names is how many names of the topic a page has, by full recognition of named entities: what is recognised as a name must
// be one of the topic as a whole. Of pages that are not English it says nothing.
func names(s *Scorer) analyser {
	if s.weights["names"] == 0 { // which New looks at later; the names of examples take their time
		return analyser{}
	}
	of := map[string]int{} // the numbers of what the names stand for
	number := 0
	add := func(list ...string) {
		fresh := 0
		for _, name := range list {
			if name = foldedName(name); name != "" && of[name] == 0 {
				of[name] = number + 1
				fresh = 1
			}
		}
		number += fresh
	}
	for _, e := range s.topic.Entities {
		add(append([]string{e.Name}, e.Aliases...)...)
	}
	for _, e := range s.examples {
		if found, err := named(strings.ToValidUTF8(e.text[:min(len(e.text), maxNamed)], "")); err == nil {
			for name := range found {
				add(name)
			}
		}
	}
	if s.model != nil {
		for _, n := range s.model.Names {
			add(n.Text)
		}
	}
	if len(of) == 0 {
		return analyser{}
	}
	enough := float64(min(number, enoughEntities))
	return analyser{name: "names", document: func(r *reading) float64 {
		if r.page.Language != "en" && r.page.Language != "" {
			return silent
		}
		found, err := named(r.beginning(maxNamed))
		if err != nil {
			return silent
		}
		met := map[int]bool{}
		for name := range found {
			if n := of[name]; n > 0 {
				met[n] = true
			}
		}
		return min(float64(len(met))/enough, 1)
	}}
}

// beginning is the title of a page and so many bytes of its content.
func (r *reading) beginning(n int) string {
	var b strings.Builder
	b.WriteString(r.page.Title)
	for i, block := range r.page.Blocks {
		if r.page.Content != nil && !r.page.Content[i] {
			continue
		}
		b.WriteString(".\n")
		if b.WriteString(block); b.Len() >= n {
			break
		}
	}
	return strings.ToValidUTF8(b.String()[:min(b.Len(), n)], "")
}

package aah

import (
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// content marks the text blocks that stand in the bodies of objects: the topic is looked for in those.
func (v *view) content() {
	d, bodies := v.doc, bodies(v.lifted)
	if len(bodies) == 0 || len(d.Starts) != len(d.Blocks) {
		return
	}
	tree := v.eval.Tree
	content := make([]bool, len(d.Blocks))
	next, any := 0, false
	for id := int32(0); int(id) < tree.Len() && next < len(content); id++ {
		for next < len(content) && tree.At(id) == d.Starts[next] {
			for _, body := range bodies {
				if id >= body.ID && id < tree.End(body) {
					content[next], any = true, true
				}
			}
			next++
		}
	}
	if any {
		d.Content = content
	}
}

// bodies are the elements that the texts of objects were lifted from.
func bodies(lifted []adapt.Lifted) (list []xpath.Ref) {
	for _, l := range lifted {
		for _, p := range l.Parts {
			if p.Name == "body" && p.At.Attr < 0 {
				list = append(list, p.At)
			}
		}
	}
	return list
}

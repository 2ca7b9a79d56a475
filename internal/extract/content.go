package extract

import (
	"github.com/muninn-archive/muninn/internal/xpath"
)

// MarkContent marks the text blocks that stand in the bodies of objects: the topic is looked for in those. It returns nil if
// there are none.
func (p *Page) MarkContent(objects []Located) []bool {
	d, bodies := p.Doc, bodies(objects)
	if len(bodies) == 0 || len(d.Starts) != len(d.Blocks) {
		return nil
	}
	tree := p.Eval.Tree
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
	if !any {
		return nil
	}
	return content
}

// bodies are the elements that the texts of objects were extracted from.
func bodies(objects []Located) (list []xpath.Ref) {
	for _, l := range objects {
		for _, p := range l.Parts {
			if p.Name == "body" && p.At.Attr < 0 {
				list = append(list, p.At)
			}
		}
	}
	return list
}

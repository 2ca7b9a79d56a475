package aah

// content marks the text blocks that stand in the bodies of objects: the topic is looked for in those.
func (v *view) content() {
	d := v.doc
	if len(v.bodies) == 0 || len(d.Starts) != len(d.Blocks) {
		return
	}
	tree := v.eval.Tree
	content := make([]bool, len(d.Blocks))
	next, any := 0, false
	for id := int32(0); int(id) < tree.Len() && next < len(content); id++ {
		for next < len(content) && tree.At(id) == d.Starts[next] {
			for _, body := range v.bodies {
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

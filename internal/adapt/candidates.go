package adapt

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// candidates lists expressions that select an element, the most lasting first: by what it is for, by class, by
// the beginning of its ID, by what it stands in, by its name alone. lead is "//" or ".//".
func candidates(tree *xpath.Tree, id int32, lead string) (list []string) {
	n := tree.At(id)
	if n.Type != html.ElementNode {
		return nil
	}
	own := conditions(n)
	for _, c := range own {
		list = append(list, lead+n.Data+"["+c+"]")
	}
	if len(own) > 1 {
		list = append(list, lead+n.Data+"["+own[0]+" and "+own[1]+"]")
	}
	if up, ok := tree.Parent(xpath.Ref{ID: id, Attr: -1}); ok {
		p := tree.At(up.ID)
		for _, c := range conditions(p) {
			list = append(list, lead+p.Data+"["+c+"]/"+n.Data)
			for _, o := range own {
				list = append(list, lead+p.Data+"["+c+"]/"+n.Data+"["+o+"]")
			}
		}
		if upper, ok := tree.Parent(up); ok {
			g := tree.At(upper.ID)
			for _, c := range conditions(g) {
				list = append(list, lead+g.Data+"["+c+"]/"+p.Data+"/"+n.Data)
			}
		}
		if p.Type == html.ElementNode {
			list = append(list, lead+p.Data+"/"+n.Data)
		}
	}
	for _, o := range own {
		list = append(list, lead+"*["+o+"]")
	}
	return append(list, lead+n.Data)
}

// lastingAttributes are attributes that say what an element is for; their values stay when a template is redesigned.
var lastingAttributes = []string{"itemprop", "itemtype", "role", "rel", "property", "name", "data-type", "data-role", "datetime"}

// maxConditions bounds the conditions taken from one element.
const maxConditions = 5

// conditions are predicates that an element fulfils.
func conditions(n *html.Node) (list []string) {
	for _, name := range lastingAttributes {
		for _, a := range n.Attr {
			if a.Key != name {
				continue
			}
			if name == "datetime" || len(a.Val) > 60 {
				list = append(list, "@"+name)
			} else if isPlainValue(a.Val) {
				list = append(list, "@"+name+"="+xpath.Text(xpath.Literal(a.Val)))
			}
		}
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				if isPlainValue(class) && !numbered(class) {
					list = append(list, "has-class("+xpath.Text(xpath.Literal(class))+")")
				}
			}
		case "id":
			if !isPlainValue(a.Val) {
				continue
			}
			if stem := strings.TrimRight(a.Val, "0123456789"); stem != a.Val && len(stem) >= 3 {
				list = append(list, "starts-with(@id, "+xpath.Text(xpath.Literal(stem))+")")
			} else if stem == a.Val {
				list = append(list, "@id="+xpath.Text(xpath.Literal(a.Val)))
			}
		}
	}
	return list[:min(len(list), maxConditions)]
}

func isPlainValue(s string) bool { return s != "" && len(s) <= 60 && !strings.ContainsAny(s, "'\"\n") }

// numbered reports whether a class names one thing only, such as post-1234.
func numbered(class string) bool {
	digits := 0
	for _, c := range class {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits >= 3
}

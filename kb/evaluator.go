package kb

import "github.com/muninn-archive/muninn/internal/xpath"

// Evaluator applies the expressions of rules to one page.
type Evaluator struct {
	Eval  *xpath.Eval
	Found Found // the words of rules that occur in the page
}

// Select returns at most limit nodes (0: all) that an expression of a rule selects from a node. An expression whose words do
// not occur in the page is not evaluated. One that exceeds the page's budget selects nothing.
func (e Evaluator) Select(x *xpath.Expr, needs Needs, at xpath.Ref, limit int) []xpath.Ref {
	if !needs.Held(e.Found) {
		return nil
	}
	refs, err := e.Eval.Select(x, at, limit)
	if err != nil {
		return nil
	}
	return refs
}

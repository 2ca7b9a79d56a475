package kb

import "github.com/antchfx/xpath"

// emptyDocument is a document without elements. Expressions are evaluated on it to tell those that select
// nodes from those that compute a number, a string or a truth value, which no rule can use.
type emptyDocument struct{}

func (emptyDocument) NodeType() xpath.NodeType           { return xpath.RootNode }
func (emptyDocument) LocalName() string                  { return "" }
func (emptyDocument) Prefix() string                     { return "" }
func (emptyDocument) Value() string                      { return "" }
func (emptyDocument) Copy() xpath.NodeNavigator          { return emptyDocument{} }
func (emptyDocument) MoveToRoot()                        {}
func (emptyDocument) MoveToParent() bool                 { return false }
func (emptyDocument) MoveToNextAttribute() bool          { return false }
func (emptyDocument) MoveToChild() bool                  { return false }
func (emptyDocument) MoveToFirst() bool                  { return false }
func (emptyDocument) MoveToNext() bool                   { return false }
func (emptyDocument) MoveToPrevious() bool               { return false }
func (emptyDocument) MoveTo(to xpath.NodeNavigator) bool { _, ok := to.(emptyDocument); return ok }

package query

import "time"

// Query is what is asked for. The zero value asks for everything.
type Query struct{ Root Node }

// Node is And, Or, Not, Words, Is or Range.
type Node interface {
	// write appends the usual form of the node. tight says that it stands where an OR needs parentheses, bound that an And does, too.
	write(b []byte, tight, bound bool) []byte
}

// And asks for what each of its nodes asks for. It has at least two, none of which is an And.
type And []Node

// Or asks for what one of its nodes asks for. It has at least two, none of which is an Or.
type Or []Node

// Not asks for what its node does not ask for.
type Not struct{ Of Node }

// Words is a word or a phrase: its words stand in the title or the text of a document one after the other, in any of their forms.
type Words struct{ Text string }

// Is asks for documents whose field has a value. The value is in the form that documents have it in, but for Author: words of a name.
type Is struct {
	Field Field
	Value string
}

// Range asks for documents with a number in an interval: Score, Status, or Date in seconds since 1970. Low is −Inf and High is +Inf where
// it is open.
type Range struct {
	Field             Field
	Low, High         float64
	AboveLow, ToBelow bool   // that Low, High themselves are not in it
	Text              string // what stands after the colon
}

// Field is a fact of a document that queries ask for, by its name in the language.
type Field string

// The fields.
const (
	Site   Field = "site"   // pay-level domain
	Host   Field = "host"   // host, without port
	Crawl  Field = "crawl"  // name of the crawl
	Lang   Field = "lang"   // language, ISO 639-1
	Type   Field = "type"   // of a web object, "page" of a capture; with a slash the MIME type of the capture
	App    Field = "app"    // web application
	Level  Field = "level"  // of the page in its application
	Author Field = "author" // words of the author's name
	Date   Field = "date"   // of the capture
	Score  Field = "score"  // the document score
	Status Field = "status" // of the response
)

// Fields lists the fields in the order in which messages name them.
var Fields = []Field{Site, Host, Crawl, Lang, Type, App, Level, Author, Date, Score, Status}

// Walk calls fn with each node, outer ones first. denied says that an odd number of Nots is around it.
func (q Query) Walk(fn func(n Node, denied bool)) { walk(q.Root, false, fn) }

func walk(n Node, denied bool, fn func(Node, bool)) {
	if n == nil {
		return
	}
	fn(n, denied)
	switch n := n.(type) {
	case And:
		for _, of := range n {
			walk(of, denied, fn)
		}
	case Or:
		for _, of := range n {
			walk(of, denied, fn)
		}
	case Not:
		walk(n.Of, !denied, fn)
	}
}

// Parts are the nodes that a document must all fulfil: those of an And at the root, else the root.
func (q Query) Parts() []Node {
	switch n := q.Root.(type) {
	case nil:
		return nil
	case And:
		return n
	default:
		return []Node{n}
	}
}

// Period is the time that the query limits captures to, from inclusive and to exclusive; zero where it is open.
func (q Query) Period() (from, to time.Time) {
	for _, n := range q.Parts() {
		r, ok := n.(Range)
		if !ok || r.Field != Date {
			continue
		}
		if low := seconds(r.Low); !low.IsZero() && low.After(from) {
			from = low
		}
		if high := seconds(r.High); !high.IsZero() && (to.IsZero() || high.Before(to)) {
			to = high
		}
	}
	return from, to
}

// With returns a query that also asks for a node.
func (q Query) With(n Node) Query {
	return Query{join(append(append([]Node(nil), q.Parts()...), n))}
}

// join is the And of nodes.
func join(list []Node) Node {
	var all And
	for _, n := range list {
		if inner, ok := n.(And); ok {
			all = append(all, inner...)
		} else if n != nil {
			all = append(all, n)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

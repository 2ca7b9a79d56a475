package postgres

import (
	"math"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// columns have the values of fields of the query language.
var columns = map[query.Field]string{
	query.Site: "site", query.Host: "host", query.Crawl: "crawl", query.Lang: "lang", query.Type: "type", query.App: "app", query.Level: "level",
	query.Date: "seconds", query.Score: "score", query.Status: "status",
}

// condition makes the condition of a query. All that people write stands in its arguments.
type condition struct {
	analyser *terms.Analyser
	args     []any
}

func (c *condition) arg(v any) string {
	c.args = append(c.args, v)
	return "$" + strconv.Itoa(len(c.args))
}

func (c *condition) of(n query.Node) string {
	switch n := n.(type) {
	case query.And:
		return c.join(n, " AND ")
	case query.Or:
		return c.join(n, " OR ")
	case query.Not:
		return "NOT " + c.of(n.Of)
	case query.Words:
		return "(terms @@ " + c.arg(tsquery(c.analyser.Phrase(n.Text, terms.Classes), " <-> ")) + "::text::tsquery)"
	case query.Is:
		return c.is(n)
	case query.Range:
		return c.interval(n)
	}
	return "true"
}

func (c *condition) join(nodes []query.Node, operator string) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = c.of(n)
	}
	return "(" + strings.Join(list, operator) + ")"
}

func (c *condition) is(n query.Is) string {
	switch {
	case n.Field == query.Author:
		var slots []terms.Slot
		for _, name := range c.analyser.Names(n.Value) {
			slots = append(slots, terms.Slot{name})
		}
		return "(author <> '' AND author @@ " + c.arg(tsquery(slots, " <-> ")) + "::text::tsquery)"
	case n.Field == query.Type && query.IsMedia(n.Value):
		return "(media = " + c.arg(clean(n.Value)) + ")"
	}
	return "(" + columns[n.Field] + " = " + c.arg(clean(n.Value)) + ")"
}

func (c *condition) interval(r query.Range) string {
	list := []string{"true"}
	compare := func(operator string, exclusive bool, bound float64) {
		if math.IsInf(bound, 0) {
			return
		}
		if !exclusive {
			operator += "="
		}
		list = append(list, columns[r.Field]+" "+operator+" "+c.arg(bound)+"::double precision")
	}
	compare(">", r.AboveLow, r.Low)
	compare("<", r.ToBelow, r.High)
	return "(" + strings.Join(list, " AND ") + ")"
}

// tsquery asks for slots, with an operator between them.
func tsquery(slots []terms.Slot, operator string) string {
	var b strings.Builder
	for i, slot := range slots {
		if i > 0 {
			b.WriteString(operator)
		}
		b.WriteByte('(')
		for j, t := range slot {
			if j > 0 {
				b.WriteString(" | ")
			}
			quote(&b, t)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// wanted are the slots of the words that a query asks for, and whether all of them must be there.
func wanted(q query.Query) (slots []terms.Slot, together bool) {
	a := terms.New()
	together = true
	q.Walk(func(n query.Node, denied bool) {
		switch n := n.(type) {
		case query.Words:
			if !denied {
				slots = append(slots, a.Phrase(n.Text, terms.Classes)...)
			}
		case query.Or:
			together = false
		}
	})
	return slots, together
}

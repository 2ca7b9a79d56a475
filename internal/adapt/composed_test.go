package adapt

import (
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// TestComposed: a learned rule keeps what composes a property of the rule that it is made of, and is written with it.
func TestComposed(t *testing.T) {
	first, second := "/html/head/link[@rel='canonical']/@href", "@id"
	expr := func(text string) *xpath.Expr {
		x, err := xpath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	shipped := kb.Property{Name: "permalink", As: "url", XPath: expr(first), Append: expr(second), AppendMatch: regexp.MustCompile("^p([0-9]+)$"), Between: "#p"}
	learned := withExpression(&shipped, first)
	q, err := learned.property()
	if err != nil || q.XPath.String() != first || q.Append.String() != second || q.AppendMatch.String() != "^p([0-9]+)$" || q.Between != "#p" || q.As != "url" {
		t.Errorf("%+v %v", q, err)
	}
	var b strings.Builder
	(&SiteRule{Rule: Rule{Type: "post", Each: "//p", Properties: []PropertyRule{learned}}}).write(&b, func(string) string { return "url" })
	if !strings.Contains(b.String(), `append="@id" append-match="^p([0-9]+)$" between="#p"/>`) {
		t.Error(b.String())
	}
	learned.AppendMatch = "p"
	if _, err := learned.property(); err == nil {
		t.Error("a pattern without a group is taken")
	}
}

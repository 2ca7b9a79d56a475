package extract

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits of schema.org data in JSON-LD.
const (
	maxStructured = 256 << 10 // bytes of one script
	maxEntities   = 200       // of a page
	maxNested     = 8
)

// GenericConfidence is the confidence of objects from a page's own metadata, such as JSON-LD.
const GenericConfidence = 0.5

// structuredTypes are the types of schema.org that are web objects here.
var structuredTypes = map[string]string{
	"Article": "article", "NewsArticle": "article", "BlogPosting": "article", "Report": "article", "TechArticle": "article",
	"ScholarlyArticle": "article", "AnalysisNewsArticle": "article", "OpinionNewsArticle": "article", "ReviewNewsArticle": "article",
	"BackgroundNewsArticle": "article", "ReportageNewsArticle": "article", "LiveBlogPosting": "article", "Review": "article", "Recipe": "article",
	"DiscussionForumPosting": "post", "SocialMediaPosting": "post", "Comment": "comment", "Question": "question", "Answer": "answer",
	"Product": "product", "VideoObject": "video", "SoftwareSourceCode": "repository", "Event": "event", "Photograph": "image",
}

// structuredNames are the properties of schema.org that have a name here; the first that is there counts.
var structuredNames = []struct{ name, theirs string }{
	{"title", "headline"}, {"title", "name"}, {"author", "author"}, {"author", "creator"}, {"published", "datePublished"}, {"published", "uploadDate"},
	{"published", "dateCreated"}, {"modified", "dateModified"}, {"body", "articleBody"}, {"body", "text"}, {"summary", "description"},
	{"tags", "keywords"}, {"category", "articleSection"}, {"permalink", "url"}, {"permalink", "mainEntityOfPage"}, {"score", "upvoteCount"},
	{"replies", "commentCount"}, {"replies", "answerCount"}, {"number", "position"}, {"image", "image"}, {"image", "thumbnailUrl"},
	{"media", "contentUrl"}, {"price", "offers"}, {"language", "inLanguage"}, {"licence", "license"}, {"location", "location"}, {"start", "startDate"},
}

// Structured reads the JSON-LD of a page (schema.org).
func (p *Page) Structured(confidence float64) (found []crawl.Object) {
	if s := p.Doc.Source; !bytes.Contains(s, []byte("+json")) || !bytes.Contains(s, []byte("ld+json")) { // a plus is rare, and quick to find
		return nil
	}
	var asked []any
	for n := range p.Doc.Root.Descendants() {
		if n.DataAtom != atom.Script || !strings.EqualFold(attr(n, "type"), "application/ld+json") || n.FirstChild == nil || len(n.FirstChild.Data) > maxStructured {
			continue
		}
		var data any
		if json.Unmarshal([]byte(strings.TrimSpace(n.FirstChild.Data)), &data) == nil {
			p.entities(data, 0, confidence, &found, &asked)
		}
	}
	if len(found) == 0 { // the page is for its questions
		p.entities(asked, 0, confidence, &found, &[]any{})
	}
	return found
}

// entities gathers the web objects of a value: lists, graphs, and what stands in their parts. The questions of a FAQPage go to asked: many
// pages of shops and magazines have some.
func (p *Page) entities(data any, depth int, confidence float64, found *[]crawl.Object, asked *[]any) {
	if depth > maxNested || len(*found) >= min(maxEntities, p.Limits.Objects) {
		return
	}
	switch x := data.(type) {
	case []any:
		for _, e := range x {
			p.entities(e, depth+1, confidence, found, asked)
		}
	case map[string]any:
		if kind := kindOf(x["@type"]); kind != "" {
			if o := p.entity(kind, confidence, x); len(o.Properties) > 0 {
				*found = append(*found, o)
			}
		}
		for _, part := range []string{"@graph", "mainEntity", "mainEntityOfPage", "acceptedAnswer", "suggestedAnswer", "comment", "hasPart", "itemListElement", "item"} {
			if part == "mainEntity" && isFAQ(x["@type"]) {
				*asked = append(*asked, x[part])
				continue
			}
			p.entities(x[part], depth+1, confidence, found, asked)
		}
	}
}

// isFAQ reports whether a type is, or a list of types has, the page of questions.
func isFAQ(t any) bool {
	if list, ok := t.([]any); ok {
		return slices.ContainsFunc(list, isFAQ)
	}
	name, _ := t.(string)
	return strings.TrimPrefix(strings.TrimPrefix(name, "https://schema.org/"), "http://schema.org/") == "FAQPage"
}

func kindOf(t any) string {
	switch x := t.(type) {
	case string:
		return structuredTypes[strings.TrimPrefix(strings.TrimPrefix(x, "https://schema.org/"), "http://schema.org/")]
	case []any:
		for _, e := range x {
			if kind := kindOf(e); kind != "" {
				return kind
			}
		}
	}
	return ""
}

func (p *Page) entity(kind string, confidence float64, data map[string]any) crawl.Object {
	o := crawl.Object{Type: kind, Rule: "schema.org", Confidence: max(confidence, GenericConfidence)}
	for _, n := range structuredNames {
		if o.Properties.Get(n.name) != "" {
			continue
		}
		for _, value := range plainValues(data[n.theirs], n.name) {
			switch ValueType(n.name) {
			case "dateTime":
				value = dateTime(value)
			case "url":
				value = p.address(value)
			}
			if value = shorten(strings.Join(strings.Fields(unescape(value)), " "), p.Limits.PropertyBytes); value != "" {
				o.Properties = append(o.Properties, crawl.Property{Name: n.name, Value: value})
			}
			if len(o.Properties) >= MaxValues {
				return o
			}
		}
	}
	return o
}

// plainValues makes texts of what a property may be: a text, a number, an entity, or a list of them.
func plainValues(data any, name string) (values []string) {
	switch x := data.(type) {
	case string:
		if name == "tags" {
			return strings.FieldsFunc(x, func(r rune) bool { return r == ',' || r == ';' })
		}
		return []string{x}
	case float64:
		return []string{strconv.FormatFloat(x, 'f', -1, 64)}
	case []any:
		for _, e := range x {
			if more := plainValues(e, name); len(more) > 0 {
				values = append(values, more...)
			}
			if name != "tags" && name != "author" && len(values) > 0 {
				return values[:1]
			}
		}
	case map[string]any:
		for _, part := range []string{"name", "price", "url", "@id"} {
			if more := plainValues(x[part], name); len(more) > 0 {
				return more[:1]
			}
		}
	}
	return values
}

// unescape reads the markup that some put into these texts.
func unescape(s string) string {
	if !strings.ContainsAny(s, "&<") {
		return s
	}
	nodes, err := html.ParseFragment(strings.NewReader(s), &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"})
	if err != nil {
		return s
	}
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(textOf(n, nil, maxStructured) + " ")
	}
	return b.String()
}

// Complete adds what the page says of itself in JSON-LD to objects: all of it if there are none, else what the only object of
// a type lacks.
func (p *Page) Complete(objects []crawl.Object, confidence float64) []crawl.Object {
	if len(objects) > 0 && !incomplete(objects[0].Properties) {
		return objects
	}
	found := p.Structured(confidence)
	if len(objects) == 0 {
		return found
	}
	count, theirs := map[string]int{}, map[string]crawl.Object{}
	for _, o := range objects {
		count[o.Type]++
	}
	for _, o := range found {
		if _, twice := theirs[o.Type]; !twice {
			theirs[o.Type] = o
		}
	}
	for i := range objects {
		o := &objects[i]
		other, ok := theirs[o.Type]
		if !ok || count[o.Type] != 1 {
			continue
		}
		lacking := o.Properties
		for _, p := range other.Properties {
			if p.Name != "body" && lacking.Get(p.Name) == "" {
				o.Properties = append(o.Properties, p)
			}
		}
	}
	return objects
}

// incomplete reports whether an object lacks what most have.
func incomplete(p crawl.Properties) bool {
	return p.Get("title") == "" || p.Get("author") == "" || p.Get("published") == ""
}

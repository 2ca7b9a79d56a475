package aah

import (
	"bytes"
	"encoding/json"
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

// structured reads the JSON-LD of a page (schema.org).
func (v *view) structured() (found []crawl.Object) {
	if !bytes.Contains(v.doc.Source, []byte("ld+json")) {
		return nil
	}
	for n := range v.doc.Root.Descendants() {
		if n.DataAtom != atom.Script || !strings.EqualFold(attr(n, "type"), "application/ld+json") || n.FirstChild == nil || len(n.FirstChild.Data) > maxStructured {
			continue
		}
		var data any
		if json.Unmarshal([]byte(strings.TrimSpace(n.FirstChild.Data)), &data) == nil {
			v.entities(data, 0, &found)
		}
	}
	return found
}

// entities gathers the web objects of a value: lists, graphs, and what stands in their parts.
func (v *view) entities(data any, depth int, found *[]crawl.Object) {
	if depth > maxNested || len(*found) >= min(maxEntities, v.limits.Objects) {
		return
	}
	switch x := data.(type) {
	case []any:
		for _, e := range x {
			v.entities(e, depth+1, found)
		}
	case map[string]any:
		if kind := kindOf(x["@type"]); kind != "" {
			if o := v.entity(kind, x); len(o.Properties) > 0 {
				*found = append(*found, o)
			}
		}
		for _, part := range []string{"@graph", "mainEntity", "mainEntityOfPage", "acceptedAnswer", "suggestedAnswer", "comment", "hasPart", "itemListElement", "item"} {
			v.entities(x[part], depth+1, found)
		}
	}
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

func (v *view) entity(kind string, data map[string]any) crawl.Object {
	o := crawl.Object{Type: kind, Rule: "schema.org", Confidence: max(v.doc.Confidence, genericConfidence)}
	for _, n := range structuredNames {
		if o.Properties.Get(n.name) != "" {
			continue
		}
		for _, value := range plainValues(data[n.theirs], n.name) {
			switch As(n.name) {
			case "dateTime":
				value = dateTime(value)
			case "url":
				value = v.address(value)
			}
			if value = shorten(strings.Join(strings.Fields(unescape(value)), " "), v.limits.PropertyBytes); value != "" {
				o.Properties = append(o.Properties, crawl.Property{Name: n.name, Value: value})
			}
			if len(o.Properties) >= maxValues {
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

package extract

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// GenericConfidence is the confidence of objects from a page's own metadata, such as JSON-LD.
const GenericConfidence = 0.5

// bySchema is the rule of objects from JSON-LD.
const bySchema = "schema.org"

// aboutPage is the kind of what is said of a page as such: it completes the page's article, and is none.
const aboutPage = "page"

// structuredTypes are the types of schema.org that are web objects here.
var structuredTypes = map[string]string{
	"Article": "article", "NewsArticle": "article", "BlogPosting": "article", "Report": "article", "TechArticle": "article",
	"ScholarlyArticle": "article", "SatiricalArticle": "article", "AdvertiserContentArticle": "article", "APIReference": "article", "Guide": "article",
	"HowTo": "article", "Course": "article", "PodcastEpisode": "article", "Episode": "article", "ClaimReview": "article",
	"CreativeWork": aboutPage, "WebPage": aboutPage, "MedicalWebPage": aboutPage, "AboutPage": aboutPage, "ContactPage": aboutPage, "ItemPage": aboutPage, "ProfilePage": aboutPage,
	"CollectionPage": aboutPage, "AnalysisNewsArticle": "article", "OpinionNewsArticle": "article", "ReviewNewsArticle": "article",
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
func (p *Page) Structured(confidence float64) []crawl.Object {
	found := slices.Clone(p.linked().objects)
	for i := range found {
		found[i].Properties, found[i].Confidence = slices.Clone(found[i].Properties), max(confidence, GenericConfidence)
	}
	return found
}

func kindOf(t any) string {
	switch x := t.(type) {
	case string:
		return structuredTypes[typeName(x)]
	case []any:
		for _, e := range x {
			if kind := kindOf(e); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// typeName is the name of a type, which may stand there as a URL.
func typeName(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s, "https://schema.org/"), "http://schema.org/")
}

// isFrequent reports whether an entity is a list of frequent questions, which many pages have beside what they are for.
func isFrequent(t any) bool {
	switch x := t.(type) {
	case string:
		return typeName(x) == "FAQPage"
	case []any:
		return slices.ContainsFunc(x, isFrequent)
	}
	return false
}

func (l *linked) entity(kind string, data map[string]any) crawl.Object {
	o := crawl.Object{Type: kind, Rule: bySchema, Confidence: GenericConfidence}
	for _, n := range structuredNames {
		if o.Properties.Get(n.name) != "" {
			continue
		}
		for _, value := range l.plainValues(data[n.theirs], n.name, 0) {
			switch ValueType(n.name) {
			case "dateTime":
				value = dateTime(value)
			case "url":
				value = l.page.address(value)
			}
			value = shorten(strings.Join(strings.Fields(unescape(value)), " "), l.page.Limits.PropertyBytes)
			if value == "" || n.name == "author" && strings.Contains(value, "://") {
				continue
			}
			o.Properties = append(o.Properties, crawl.Property{Name: n.name, Value: value})
			if len(o.Properties) >= MaxValues {
				return o
			}
		}
	}
	return o
}

// plainValues makes texts of what a property may be: a text, a number, an entity or what names one, or a list of them.
func (l *linked) plainValues(data any, name string, depth int) (values []string) {
	if depth > maxNested || l.left <= 0 {
		return nil
	}
	l.left--
	switch x := data.(type) {
	case string:
		l.left -= len(x)
		if name == "tags" {
			return strings.FieldsFunc(x, func(r rune) bool { return r == ',' || r == ';' })
		}
		return []string{x}
	case float64:
		return []string{strconv.FormatFloat(x, 'f', -1, 64)}
	case []any:
		for _, e := range x {
			if len(values) >= MaxValues {
				break
			}
			if more := l.plainValues(e, name, depth+1); len(more) > 0 {
				values = append(values, more...)
			}
			if name != "tags" && name != "author" && len(values) > 0 {
				return values[:1]
			}
		}
	case map[string]any:
		x = l.resolve(x)
		parts := []string{"name", "price", "url", "@id"}
		switch {
		case name == "author":
			parts = []string{"name", "alternateName"}
		case ValueType(name) == "url":
			parts = []string{"url", "contentUrl", "@id"}
		}
		for _, part := range parts {
			if more := l.plainValues(x[part], name, depth+1); len(more) > 0 {
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
	if len(objects) == 0 {
		return p.Structured(confidence)
	}
	if !slices.ContainsFunc(objects, func(o crawl.Object) bool { return incomplete(o.Properties) }) {
		return objects
	}
	count := map[string]int{}
	for _, o := range objects {
		count[o.Type]++
	}
	for i := range objects {
		o := &objects[i]
		if count[o.Type] != 1 {
			continue
		}
		other := p.described(o)
		lacking := o.Properties
		for _, p := range other {
			if p.Name != "body" && lacking.Get(p.Name) == "" {
				o.Properties = append(o.Properties, p)
			}
		}
	}
	return objects
}

// described is what JSON-LD says of an object: of several of its type the one with its title or with the address of the page, else
// the first.
func (p *Page) described(o *crawl.Object) (first crawl.Properties) {
	title := o.Properties.Get("title")
	for _, other := range p.linked().objects {
		if other.Type != o.Type {
			continue
		}
		if first == nil {
			first = other.Properties
		}
		if url := other.Properties.Get("permalink"); url != "" && url == p.Doc.URL || title != "" && other.Properties.Get("title") == title {
			return other.Properties
		}
	}
	return first
}

// incomplete reports whether an object lacks what most have.
func incomplete(p crawl.Properties) bool {
	return p.Get("title") == "" || p.Get("author") == "" || p.Get("published") == ""
}

package kb

// Categories are the kinds of application. "generic" is the lowest layer: what pages say of themselves
// whatever made them.
var Categories = []string{"forum", "blog", "wiki", "news", "questions", "social", "photo", "video", "shop", "repository", "site", "generic"}

// Levels are the kinds of page of an application (paper §4.1).
var Levels = []string{
	// intermediate: they lead to others
	"front", "list of forums", "list of threads", "category", "tag", "archive", "list", "members", "search", "feed",
	// terminal: they hold what the archive is for
	"thread", "question", "article", "page", "post", "media", "product", "repository", "issue", "file", "profile",
	// of little worth to an archive
	"login", "edit", "reply", "print", "history", "diff", "special", "message", "calendar", "info", "error",
}

// Term is a word of the vocabulary with what it is called in the vocabularies of the web.
type Term struct {
	Name string
	IRI  string
	What string
}

const (
	schema = "https://schema.org/"
	sioc   = "http://rdfs.org/sioc/ns#"
	sioct  = "http://rdfs.org/sioc/types#"
)

// ObjectTypes are the types of web object.
var ObjectTypes = []Term{
	{"article", schema + "Article", "a news item, blog post, wiki article or other page with a text of its own"},
	{"comment", schema + "Comment", "what a reader wrote below something"},
	{"post", sioc + "Post", "a contribution to a thread or a social network"},
	{"thread", sioc + "Thread", "a discussion, as a list or its own page names it"},
	{"forum", sioc + "Forum", "a forum, as a list names it"},
	{"question", schema + "Question", "a question that others answer"},
	{"answer", schema + "Answer", "an answer to a question"},
	{"person", schema + "Person", "a person or account"},
	{"image", schema + "ImageObject", "a picture with what is said of it"},
	{"video", schema + "VideoObject", "a film with what is said of it"},
	{"product", schema + "Product", "a thing that is sold"},
	{"repository", schema + "SoftwareSourceCode", "a source repository"},
	{"issue", sioct + "Issue", "an entry of an issue tracker"},
	{"file", schema + "DigitalDocument", "a file as a page shows it"},
	{"event", schema + "Event", "something that takes place"},
	{"item", schema + "ListItem", "an entry of a list that is nothing of the above"},
}

// Properties are the properties of web objects.
var Properties = []Term{
	{"title", schema + "headline", "what it is called"},
	{"author", schema + "author", "who made it"},
	{"published", schema + "datePublished", "when it was made public"},
	{"modified", schema + "dateModified", "when it was last changed"},
	{"body", schema + "text", "its text; the HTML of the same place is kept as html"},
	{"html", "http://purl.org/rss/1.0/modules/content/encoded", "its text with markup"},
	{"summary", schema + "abstract", "what it is about, in short"},
	{"tags", schema + "keywords", "words that it is filed under"},
	{"category", schema + "articleSection", "the part of the site that it is filed under"},
	{"permalink", schema + "url", "its own address"},
	{"reply-to", sioc + "reply_of", "the address of what it answers"},
	{"container", sioc + "has_container", "the address of what it stands in"},
	{"id", schema + "identifier", "what the site calls it"},
	{"number", schema + "position", "its place among its like"},
	{"score", schema + "upvoteCount", "votes, likes or points"},
	{"replies", sioc + "num_replies", "how many answered"},
	{"views", sioc + "num_views", "how often it was seen"},
	{"image", schema + "image", "the address of a picture"},
	{"media", schema + "contentUrl", "the address of the file"},
	{"price", schema + "price", "what it costs"},
	{"language", schema + "inLanguage", "its language"},
	{"licence", schema + "license", "under which terms it may be used"},
	{"accepted", "https://schema.org/acceptedAnswer", "that the asker took this answer"},
	{"location", schema + "location", "where it is or takes place"},
	{"start", schema + "startDate", "when it begins"},
}

func names(terms []Term) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = t.Name
	}
	return out
}

package searchtest

import (
	"fmt"
	"math/rand"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Corpus makes segments of documents of several crawls, years and languages, the same for the same seed. A fifth of the captures have web
// objects, a tenth repeat the payload of another.
func Corpus(seed int64, segments, pages int) []search.Segment {
	c := corpus{rand.New(rand.NewSource(seed)), nil}
	var list []search.Segment
	for i := range segments {
		s := search.Segment{SegmentName: search.SegmentName{Crawl: fmt.Sprintf("crawl %d", i%2), Name: fmt.Sprintf("batch-%d", i)}}
		for range pages {
			p := c.page(s.Crawl)
			s.Documents = append(s.Documents, p.Documents()...)
			s.Anchors = append(s.Anchors, p.Anchors...)
		}
		list = append(list, s)
	}
	return list
}

type corpus struct {
	random *rand.Rand
	pages  []search.Page
}

// vocabulary are words of the languages of the corpus. All languages also have numbers and names.
var vocabulary = map[string][]string{
	"en": strings.Fields("house houses garden gardens election elections vote voting voted river rivers running runs the of and archive archives well known story stories city"),
	"de": strings.Fields("Haus Häuser Garten Gärten Wahl Wahlen wählen gewählt Fluss Flüsse der die und Archiv Archive bekannt Geschichte Geschichten Stadt Städte"),
	"fr": strings.Fields("maison maisons jardin jardins élection élections voter voté rivière rivières le la et archive archives connu histoire histoires ville villes"),
	"ja": strings.Fields("東京都 選挙 図書館 川 猫 歴史 都市 アーカイブ"),
	"":   strings.Fields("lorem ipsum dolor sit amet 2024 2025 3.14 naïve"),
}

var languages = []string{"en", "en", "en", "de", "de", "fr", "ja", "", "en-GB"}

func (c *corpus) pick(list ...string) string { return list[c.random.Intn(len(list))] }

// text has so many words, common ones more often.
func (c *corpus) text(language string, words int) string {
	list := vocabulary[query.Language(language)]
	var b strings.Builder
	for i := range words {
		if i > 0 && language != "ja" {
			b.WriteString(c.pick(" ", " ", " ", ", ", ". ", "\n"))
		}
		w := list[int(float64(len(list))*c.random.Float64()*c.random.Float64())]
		if c.random.Intn(12) == 0 {
			w = c.pick(vocabulary[""]...)
		}
		b.WriteString(w)
	}
	return b.String()
}

func (c *corpus) page(crawl string) search.Page {
	if len(c.pages) > 0 && c.random.Intn(10) == 0 { // the same payload elsewhere
		p := c.pages[c.random.Intn(len(c.pages))]
		p.URL += fmt.Sprintf("?copy=%d", c.random.Intn(1000))
		p.Date, p.Crawl = c.date(), crawl
		return p
	}
	language := c.pick(languages...)
	p := search.Page{Run: uint32(1 + c.random.Intn(2))}
	p.Facts = query.Facts{
		Crawl: crawl, Date: c.date(), Status: []int{200, 200, 200, 404, 301, 503}[c.random.Intn(6)], MIME: c.pick("text/html", "text/html", "application/pdf"),
		Language: language, Title: c.text(language, 1+c.random.Intn(5)), Text: c.text(language, c.random.Intn(80)),
		Application: c.pick("", "", "phpBB", "WordPress"), Level: c.pick("", "thread", "Article"), Author: c.pick("", "", "Jane Doe", "José María Núñez"),
		Score: float64(c.random.Intn(11)) / 10,
	}
	p.URL = fmt.Sprintf("https://%s/%d", c.pick("example.org", "www.example.org", "blog.example.co.uk", "example.com", "127.0.0.1", "forum.example.net"), c.random.Intn(100000))
	p.Digest = fmt.Sprintf("sha256:%x", c.random.Int63())
	if c.random.Intn(8) == 0 {
		p.Score = -1
	}
	if c.random.Intn(5) == 0 {
		for n := range 1 + c.random.Intn(4) {
			o := search.Object{N: n, Type: c.pick("post", "comment", "article"), Author: c.pick("", "Jane Doe", "John Smith"), Text: c.text(language, 1+c.random.Intn(20))}
			p.Objects = append(p.Objects, o)
			p.Text += "\n" + o.Text
		}
	}
	for range min(len(c.pages), c.random.Intn(4)) {
		p.Anchors = append(p.Anchors, search.Anchor{URL: c.pages[c.random.Intn(len(c.pages))].URL, Text: c.text(language, 1+c.random.Intn(3)), Language: language})
	}
	c.pages = append(c.pages, p)
	return p
}

// months are those of the captures: few, because an index may have a folder for each.
var months = []time.Time{
	time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
}

func (c *corpus) date() time.Time {
	month := months[c.random.Intn(len(months))]
	if c.random.Intn(20) == 0 {
		return month.Add(time.Duration(c.random.Intn(2)) * (31*24*time.Hour - time.Second)) // at a boundary
	}
	return month.Add(time.Duration(c.random.Int63n(int64(30 * 24 * time.Hour)))).Truncate(time.Second)
}

// Queries makes queries from the language's parts, the same for the same seed.
func Queries(seed int64, n int) (list []string) {
	c := corpus{rand.New(rand.NewSource(seed)), nil}
	for range n {
		list = append(list, c.query(3))
	}
	return list
}

func (c *corpus) query(depth int) string {
	if depth == 0 || c.random.Intn(3) == 0 {
		return c.term()
	}
	switch c.random.Intn(6) {
	case 0:
		return "-" + c.term()
	case 1:
		return "(" + c.query(depth-1) + " OR " + c.query(depth-1) + ")"
	case 2:
		return "-(" + c.query(depth-1) + ")"
	default:
		return c.query(depth-1) + " " + c.query(depth-1)
	}
}

func (c *corpus) term() string {
	language := c.pick("en", "de", "fr", "ja", "")
	if c.random.Intn(3) > 0 {
		return c.pick(vocabulary[language]...)
	}
	return c.pick(`"`+c.text(language, 2)+`"`, `"`+c.text(language, 3)+`"`, "site:example.org", "site:example.co.uk", "host:www.example.org", `crawl:"crawl 1"`, "lang:en", "lang:de",
		"type:post", "type:page", "type:application/pdf", "app:phpbb", "level:article", "author:jane", `author:"maría núñez"`, "date:2024", "date:2024-06..2025-01", "date:..2023-12-24",
		"date:2025-01-01..", "score:>0.5", "score:<=0.3", "score:0.2..0.4", "score:-1", "status:200", "status:4xx", "status:>=400")
}
